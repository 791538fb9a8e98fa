//! Requests of visitors: their addresses, and the ration of each.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::time::{Instant, sleep_until};
use zeitnot_host::origin::Origin;
use zeitnot_net::Rate;

use super::answer::ApiError;
use crate::keyed::Rations;

/// Requests of one address: a class behind one router opens the page at once.
const REQUESTS: Rate = Rate { burst: 400, interval: Duration::from_millis(5) };
/// Time for which a request beyond them may wait. One that would have to wait longer is refused after it.
const MAX_WAIT: Duration = Duration::from_secs(2);
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Rations of all addresses.
#[derive(Clone, Debug)]
pub(super) struct Requests(Arc<Rations>);

impl Default for Requests {
    fn default() -> Requests {
        Requests(Arc::new(Rations::new(REQUESTS)))
    }
}

/// When a request is answered, and whether it is refused then.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    due: Instant,
    is_refused: bool,
}

impl Requests {
    /// Takes a request from the ration of an address.
    pub(super) fn admit(&self, from: Origin) -> Admitted {
        let now = Instant::now();
        let latest = now + MAX_WAIT;
        self.0.look_at(from, |ration| match ration.due() {
            Some(due) if due > latest => Admitted { due: latest, is_refused: true },
            _ => Admitted { due: ration.spend().unwrap_or(now), is_refused: false },
        })
    }
}

impl Admitted {
    /// Waits until the request is due; the error is the answer to one that is refused.
    pub(super) async fn wait(self) -> Result<(), Response> {
        if self.due > Instant::now() {
            sleep_until(self.due).await;
        }
        if self.is_refused { Err(too_many()) } else { Ok(()) }
    }
}

fn too_many() -> Response {
    let error = "too many requests from your address: try again in a second";
    let mut answer = ApiError::new(StatusCode::TOO_MANY_REQUESTS, error).into_response();
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// Returns the address that the proxy has added last.
pub(super) fn forwarded(headers: &HeaderMap) -> Option<Origin> {
    let last = headers.get_all(FORWARDED_FOR).into_iter().next_back()?.to_str().ok()?;
    let address = last.rsplit(',').next()?.trim().parse::<IpAddr>().ok()?;
    Some(address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test(start_paused = true)]
    async fn a_flood_waits_and_then_is_refused_and_delays_nobody_else() {
        let (requests, since) = (Requests::default(), Instant::now());
        let [flood, other] = [1, 2].map(|last| Origin::from(IpAddr::from([10, 0, 0, last])));
        let admitted: Vec<_> = (0..2000).map(|_| requests.admit(flood)).collect();
        assert!(admitted[..400].iter().all(|it| it.due == since && !it.is_refused));
        assert_eq!(admitted[400].due, since + REQUESTS.interval);
        // Two hundred a second, for two seconds.
        assert!(admitted[..800].iter().all(|it| !it.is_refused));
        assert!(admitted[801..].iter().all(|it| it.is_refused && it.due == since + MAX_WAIT));
        assert_eq!(admitted[1999].wait().await.unwrap_err().status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(since.elapsed(), MAX_WAIT);
        assert_eq!(requests.admit(other), Admitted { due: Instant::now(), is_refused: false });
    }
}
