//! Logging in: whose token it is, and that no other session of this process plays with the account.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use backon::Retryable;
use tracing::debug;
use zeitnot_net::http::BaseUrl;
use zeitnot_wire::lichess::{Token, User, UserId};

use crate::{
    lichess::{Config, Http, HttpError, RequestKind},
    session::ConnectionLog,
};

/// Refusals in a row until the token is given up. One may come from a proxy.
const MAX_REFUSALS: u32 = 3;

/// Looks up the account of a token, as often as it takes.
pub(crate) async fn identify(config: &Config, token: &Token) -> Result<User, HttpError> {
    let http = &Http::new(config, token, None)?;
    let mut log = ConnectionLog::default();
    let report = |error: &HttpError, delay| {
        if matches!(error, HttpError::Unauthorized | HttpError::Refused { .. }) {
            return debug!("{error}; asking again");
        }
        // After a 429 the server is not asked before the limit ends.
        let delay = http.limits().closed_for(RequestKind::Account).max(delay);
        let error = format_args!("{error} (is the server running, and its address right?)");
        log.failed(&error, delay);
    };
    let mut refusals = 0;
    let may_succeed = |error: &HttpError| {
        let is_refusal = matches!(error, HttpError::Unauthorized | HttpError::Refused { .. });
        refusals = if is_refusal { refusals + 1 } else { 0 };
        refusals < MAX_REFUSALS
    };
    let user = (|| http.get(RequestKind::Account, "api/account"))
        .retry(config.timeouts.reconnect.delays())
        .when(may_succeed)
        .notify(report)
        .await?;
    log.connected();
    Ok(user)
}

/// Accounts in use. Two sessions of one account would end each other's event stream forever.
static IN_USE: Mutex<BTreeSet<(String, UserId)>> = Mutex::new(BTreeSet::new());

/// Exclusive use of an account within this process.
#[derive(Debug)]
pub(crate) struct AccountLock((String, UserId));

impl AccountLock {
    /// Returns `None` if another session uses the account.
    pub(crate) fn acquire(server: &BaseUrl, user: &UserId) -> Option<AccountLock> {
        let account = (server.to_string(), user.clone());
        let is_free = IN_USE.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
        is_free.then_some(AccountLock(account))
    }
}

impl Drop for AccountLock {
    fn drop(&mut self) {
        IN_USE.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_one_session() {
        let base = BaseUrl::default();
        let other = BaseUrl::try_from("http://127.0.0.1:1".to_owned()).unwrap();
        let user = "taken".parse().unwrap();
        let first = AccountLock::acquire(&base, &user);
        assert!(first.is_some() && AccountLock::acquire(&base, &user).is_none());
        assert!(AccountLock::acquire(&other, &user).is_some());
        drop(first);
        assert!(AccountLock::acquire(&base, &user).is_some());
    }
}
