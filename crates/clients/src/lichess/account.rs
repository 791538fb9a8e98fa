//! What is done with an account by hand: a look at it before it plays, making it a bot, tournaments.

use zeitnot_wire::lichess::{Scopes, Token, TokenTest, TournamentId, User};

use super::{
    clubs::Tournament,
    config::Config,
    http::{Http, HttpError},
    limits::Kind,
};

/// What the server says of a token.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Whose it is.
    pub user: User,
    /// What it may do.
    pub scopes: Scopes,
}

/// Asks whose token it is, and what it may do.
///
/// # Errors
/// [`HttpError`]; nothing is tried twice.
pub async fn visit(config: Config, token: Token) -> Result<Visit, HttpError> {
    let http = Http::new(&config.url, &token, None, &config.patience)?;
    let user: User = http.get(Kind::Lookup, "api/account").await?;
    let test: TokenTest = http.exchange(Kind::Lookup, "api/token/test", token.expose().to_owned()).await?;
    let scopes = test.0.get(&token).cloned().flatten().map(|info| info.scopes).unwrap_or_default();
    Ok(Visit { user, scopes })
}

/// Makes the account a bot, for ever.
///
/// # Errors
/// [`HttpError`]: above all where the account has played games already.
pub async fn upgrade(config: Config, token: Token) -> Result<(), HttpError> {
    let http = Http::new(&config.url, &token, None, &config.patience)?;
    http.post(Kind::Lookup, "api/bot/account/upgrade", None).await
}

/// Enters an arena tournament; in one that runs, to be paired at once.
///
/// # Errors
/// [`HttpError`]: it is over, or not for bots, or the token has not the scope `tournament:write`.
pub async fn join(config: Config, token: Token, tournament: Tournament) -> Result<(), HttpError> {
    let http = Http::new(&config.url, &token, None, &config.patience)?;
    let path = format!("api/tournament/{}/join", tournament.id);
    http.post(Kind::Join, &path, Some(tournament.form(true))).await
}

/// Leaves an arena tournament.
///
/// # Errors
/// [`HttpError`], as for [`join`].
pub async fn leave(config: Config, token: Token, tournament: TournamentId) -> Result<(), HttpError> {
    let http = Http::new(&config.url, &token, None, &config.patience)?;
    http.post(Kind::Join, &format!("api/tournament/{tournament}/withdraw"), None).await
}
