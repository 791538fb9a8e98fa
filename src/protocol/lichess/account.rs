//! A look at an account before it plays: whose token it is, what it may do; and making it a bot.

use super::{
    config::Config,
    http::{Http, HttpError},
    limits::Kind,
};
use crate::wire::lichess::{Scopes, Token, TokenTest, User};

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
