//! Whether the token is still good: a single 401 may come from a proxy, or from a server in trouble.

use tokio::time::sleep;
use tracing::{debug, info};
use zeitnot_wire::lichess::User;

use crate::{
    backoff::Backoff,
    lichess::{Http, HttpError, RequestKind},
};

/// Answers in a row that say that the token is revoked.
const MAX_REFUSALS: u32 = 8;

/// Asks for the account until it is clear whether the token is still accepted.
pub(crate) async fn is_revoked(http: &Http) -> bool {
    info!("the server refused our token; checking whether it is still good");
    let mut backoff = Backoff::new(&http.timeouts().reconnect);
    let mut refusals = 0;
    loop {
        match http.get::<User>(RequestKind::Lookup, "api/account").await {
            Ok(_) => return false,
            Err(HttpError::Unauthorized) if refusals + 1 >= MAX_REFUSALS => return true,
            Err(HttpError::Unauthorized) => refusals += 1,
            Err(error) => {
                debug!("cannot check the token: {error}");
                refusals = 0;
            }
        }
        sleep(backoff.next(http.time_left())).await;
    }
}
