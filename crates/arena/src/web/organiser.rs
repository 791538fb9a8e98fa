//! The organiser: whoever shows the token may change things.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::http::{HeaderMap, StatusCode, header};
use zeitnot_net::{Rate, Ration};

use super::answer::ApiError;
use crate::{keyed::Keyed, places::Origin, secret::Secret};

/// Wrong tokens of one address.
const FAILURES: Rate = Rate { burst: 10, interval: Duration::from_secs(6) };
/// Addresses whose wrong tokens are counted.
const MAX_COUNTED: usize = 1000;

/// Check of the organiser's token.
#[derive(Clone, Debug)]
pub(super) struct Organiser {
    token: Secret,
    failures: Arc<Mutex<Keyed<Origin, Ration>>>,
}

impl Organiser {
    pub(super) fn new(token: Secret) -> Organiser {
        Organiser { token, failures: Arc::new(Mutex::new(Keyed::new(MAX_COUNTED))) }
    }

    /// Checks the token of a request. An address that has shown too many wrong ones has to wait.
    pub(super) fn check(&self, headers: &HeaderMap, from: Origin) -> Result<(), ApiError> {
        let unauthorized = |error| Err(ApiError::new(StatusCode::UNAUTHORIZED, error));
        let Some(shown) = headers.get(header::AUTHORIZATION) else {
            return unauthorized("only the organiser may do that: send Authorization: Bearer TOKEN");
        };
        let mut failures = self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let ration = failures.get(from, |_| Ration::new(FAILURES));
        if ration.due().is_some() {
            let error = "too many wrong tokens from your address: wait a minute";
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, error));
        }
        let bearer = shown.to_str().ok().and_then(|shown| shown.strip_prefix("Bearer "));
        match bearer {
            Some(bearer) if self.token.is(bearer.trim()) => Ok(()),
            _ => {
                ration.spend();
                unauthorized("that is not the organiser's token")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio::time::advance;

    use super::*;

    #[test(start_paused = true)]
    async fn wrong_tokens_are_rationed_by_address() {
        let organiser = Organiser::new(Secret::try_from("right").unwrap());
        let status = |token: &str, last: u8| {
            let headers =
                HeaderMap::from_iter([(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())]);
            organiser.check(&headers, IpAddr::from([10, 0, 0, last]).into()).map_err(|error| error.status)
        };
        assert_eq!(status("right", 1), Ok(()));
        for _ in 0..10 {
            assert_eq!(status("wrong", 1), Err(StatusCode::UNAUTHORIZED));
        }
        assert_eq!(status("right", 1), Err(StatusCode::TOO_MANY_REQUESTS));
        assert_eq!(status("right", 2), Ok(()));
        advance(FAILURES.interval).await;
        assert_eq!(status("right", 1), Ok(()));
    }
}
