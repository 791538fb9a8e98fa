//! The organiser: whoever shows the token may change things.

use axum::http::{HeaderMap, StatusCode, header};
use zeitnot_host::origin::Origin;
use zeitnot_net::secret::Secret;

use super::answer::ApiError;
use crate::guesses::{Guesses, WrongSecret};

/// Check of the organiser's token.
#[derive(Clone, Debug)]
pub(super) struct Organiser {
    token: Secret,
    guesses: Guesses<Origin>,
}

impl Organiser {
    pub(super) fn new(token: Secret) -> Organiser {
        Organiser { token, guesses: Guesses::default() }
    }

    /// Checks the token of a request. The right one passes whatever others of its address have shown.
    pub(super) fn check(&self, headers: &HeaderMap, from: Origin) -> Result<(), ApiError> {
        let unauthorized = |error| ApiError::new(StatusCode::UNAUTHORIZED, error);
        let Some(shown) = headers.get(header::AUTHORIZATION) else {
            return Err(unauthorized("only the organiser may do that: send Authorization: Bearer TOKEN"));
        };
        let bearer = shown.to_str().ok().and_then(|shown| shown.strip_prefix("Bearer "));
        let bearer = bearer.unwrap_or_default().trim();
        self.guesses.judge(from, bearer, self.token.is(bearer)).map_err(|wrong| match wrong {
            WrongSecret::Wrong => unauthorized("that is not the organiser's token"),
            WrongSecret::TooMany => {
                let error =
                    "that is not the organiser's token, like many others from your address: wait a minute";
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, error)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    async fn wrong_tokens_are_rationed_by_address_and_the_right_one_passes() {
        let organiser = Organiser::new(Secret::try_from("right").unwrap());
        let status = |token: &str, last: u8| {
            let headers =
                HeaderMap::from_iter([(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())]);
            organiser.check(&headers, IpAddr::from([10, 0, 0, last]).into()).map_err(|error| error.status)
        };
        assert_eq!(status("right", 1), Ok(()));
        for wrong in 0..10 {
            assert_eq!(status(&wrong.to_string(), 1), Err(StatusCode::UNAUTHORIZED));
        }
        assert_eq!(status("10", 1), Err(StatusCode::TOO_MANY_REQUESTS));
        assert_eq!(status("10", 2), Err(StatusCode::UNAUTHORIZED));
        assert_eq!(status("right", 1), Ok(()));
    }
}
