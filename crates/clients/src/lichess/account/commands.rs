//! Commands of the user that concern an account: checking it, making it a bot, tournaments.

use zeitnot_wire::lichess::{Scopes, Token, TokenTest, TournamentId, User};

use crate::lichess::{Config, Http, HttpError, RequestKind, teams::tournament::Tournament};

/// Owner and scopes of a token.
#[derive(Clone, Debug)]
pub struct TokenInfo {
    /// Account that it belongs to.
    pub user: User,
    /// Permissions.
    pub scopes: Scopes,
}

/// Looks up the account of a token, and what the token permits.
///
/// # Errors
/// [`HttpError`]; there are no further attempts.
pub async fn check_token(config: Config, token: Token) -> Result<TokenInfo, HttpError> {
    let http = Http::new(&config, &token, None)?;
    let user: User = http.get(RequestKind::Account, "api/account").await?;
    let text = token.expose().to_owned();
    let test: TokenTest = http.post_for(RequestKind::Account, "api/token/test", text).await?;
    let scopes = test.0.get(&token).cloned().flatten().map(|info| info.scopes).unwrap_or_default();
    Ok(TokenInfo { user, scopes })
}

/// Makes the account a bot, irrevocably.
///
/// # Errors
/// [`HttpError`], above all if the account has played games.
pub async fn upgrade(config: Config, token: Token) -> Result<(), HttpError> {
    let http = Http::new(&config, &token, None)?;
    http.post(RequestKind::Account, "api/bot/account/upgrade", None).await
}

/// Joins an arena tournament, and asks to be paired at once.
///
/// # Errors
/// [`HttpError`]: it is over, takes no bots, or the token lacks the scope `tournament:write`.
pub async fn join(config: Config, token: Token, tournament: Tournament) -> Result<(), HttpError> {
    let http = Http::new(&config, &token, None)?;
    let path = format!("api/tournament/{}/join", tournament.id);
    http.post(RequestKind::Join, &path, Some(tournament.form(true))).await
}

/// Withdraws from an arena tournament.
///
/// # Errors
/// [`HttpError`], as for [`join`].
pub async fn leave(config: Config, token: Token, tournament: TournamentId) -> Result<(), HttpError> {
    let http = Http::new(&config, &token, None)?;
    http.post(RequestKind::Join, &format!("api/tournament/{tournament}/withdraw"), None).await
}
