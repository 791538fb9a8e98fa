//! Client of the web API of an arena, for the organiser.

use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use zeitnot_net::http::{self, BaseUrl, ReadUntil};
use zeitnot_net::secret::Secret;
use zeitnot_wire::printable;

use crate::cli::{CliError, usage};

/// Time for one request.
const LIMIT: Duration = Duration::from_secs(15);
/// Longest answer: all tournaments with their players.
const MAX_ANSWER: usize = 64 << 20;
/// Characters of a text of the answer that are shown.
pub(super) const MAX_SHOWN: usize = 500;
const USER_AGENT: &str = concat!("zeitnot/", env!("CARGO_PKG_VERSION"));

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Segments of the path behind `/api`.
    pub(super) path: Vec<String>,
    /// `null`: none.
    pub(super) body: Value,
}

/// Arena with a page.
pub(super) struct Api {
    page: BaseUrl,
    token: Option<Secret>,
}

impl Api {
    pub(super) fn new(page: BaseUrl, token: Option<Secret>) -> Api {
        Api { page, token }
    }

    /// Sends a request; returns the JSON of the answer, or `null` if it has none.
    pub(super) async fn ask(&self, request: Request) -> Result<Value, CliError> {
        let page = &self.page;
        let silent = |why: String| {
            CliError::Unanswered(format!(
                "no arena answers at {page} ({why}): start one with a table [arena.web], or give its address by --page"
            ))
        };
        let client = http::client(page.is_loopback(), USER_AGENT).timeout(LIMIT).build();
        let client = client.map_err(|error| silent(http::root_cause(error)))?;
        let mut sent = client.request(request.method, self.url(&request.path)?);
        if !request.body.is_null() {
            sent = sent.header("content-type", "application/json").body(request.body.to_string());
        }
        if let Some(token) = &self.token {
            sent = sent.bearer_auth(token.expose());
        }
        let answer = sent.send().await.map_err(|error| silent(http::root_cause(error)))?;
        let status = answer.status();
        let text = http::body(answer, MAX_ANSWER, ReadUntil::End).await.map_err(silent)?;
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        if status.is_success() {
            return Ok(json);
        }
        let why = json["error"].as_str().map(|why| printable(why, MAX_SHOWN));
        Err(match (why, status) {
            (Some(why), StatusCode::UNAUTHORIZED) if self.token.is_none() => usage(format!(
                "{why}: name the file that holds it by --token-file, or set ZEITNOT_ORGANISER_TOKEN"
            )),
            (Some(why), StatusCode::UNAUTHORIZED) => usage(format!("{page}: {why}")),
            (Some(why), _) => CliError::Unanswered(why),
            (None, status) => silent(format!("an answer {status} that is not an arena's")),
        })
    }

    fn url(&self, path: &[String]) -> Result<Url, CliError> {
        let mut url: Url = self.page.join("api").parse().map_err(usage)?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_segments_of_the_path() {
        let api = Api::new(BaseUrl::known("http://127.0.0.1:1"), None);
        let path = ["tournaments", "a/b?c%", "start"].map(str::to_owned);
        assert_eq!(api.url(&path).unwrap().as_str(), "http://127.0.0.1:1/api/tournaments/a%2Fb%3Fc%25/start");
    }
}
