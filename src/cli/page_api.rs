//! Client of the web API of a page, an arena's or a bot's, for the holder of its token.

use std::{fmt, path::PathBuf, time::Duration};

use reqwest::{Method, StatusCode, Url};
use serde_json::Value;
use zeitnot_net::http::{self, BaseUrl, ReadUntil};
use zeitnot_net::secret::Secret;
use zeitnot_web::page;
use zeitnot_wire::printable;

use super::{CliError, usage};

/// Time for one request.
const LIMIT: Duration = Duration::from_secs(15);
/// Longest answer: all tournaments with their players.
const MAX_ANSWER: usize = 64 << 20;
/// Characters of a text of the answer that are shown.
pub(super) const MAX_SHOWN: usize = 500;
const USER_AGENT: &str = concat!("zeitnot/", env!("CARGO_PKG_VERSION"));

/// Page that gets an order.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Target {
    /// Address of the page; by default that of the configuration, or http://127.0.0.1:8080
    #[arg(long, value_name = "URL", value_parser = address)]
    page: Option<BaseUrl>,
    /// File with the page's token; by default that of the configuration, or ZEITNOT_ORGANISER_TOKEN in the environment
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

fn address(url: &str) -> Result<BaseUrl, String> {
    BaseUrl::try_from(url.to_owned()).map_err(|error| error.to_string())
}

/// Program that serves the page.
#[derive(Copy, Clone, Debug)]
pub(super) enum Served {
    Arena,
    Bot,
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Served::Arena => "arena",
            Served::Bot => "bot",
        })
    }
}

impl Target {
    /// Returns the API of the page, by its table of the configuration where nothing else is given.
    pub(super) fn api(&self, served: Served, mut web: page::Config) -> Result<Api, CliError> {
        if self.token_file.is_some() {
            web.token_file.clone_from(&self.token_file);
        }
        let page = match &self.page {
            Some(page) => page.clone(),
            None => BaseUrl::try_from(web.url(web.listen)).map_err(usage)?,
        };
        let token = web.find_token().map_err(usage)?;
        // The port of the configuration is one of this machine, whatever its address.
        let is_own = self.page.is_none() && web.public.is_none();
        if token.is_some() && !is_own && !page.is_private() {
            return Err(usage(format!(
                "the page's token would be sent unencrypted to {page}: use https://, or run this on the {served}'s machine"
            )));
        }
        Ok(Api { served, page, token })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Segments of the path behind `/api`.
    pub(super) path: Vec<String>,
    /// `null`: none.
    pub(super) body: Value,
}

/// API of a page.
pub(super) struct Api {
    served: Served,
    page: BaseUrl,
    token: Option<Secret>,
}

impl Api {
    /// Sends a request; returns the JSON of the answer, or `null` if it has none.
    pub(super) async fn ask(&self, request: Request) -> Result<Value, CliError> {
        let Api { served, page, .. } = self;
        let start = match served {
            Served::Arena => "start one with a table [arena.web]",
            Served::Bot => "run zeitnot play with a table [web]",
        };
        let silent = |why: String| {
            let what = format!("no {served} answers at {page} ({why})");
            CliError::Unanswered(format!("{what}: {start}, or give its address by --page"))
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
            (None, status) => silent(format!("an answer {status} that is not that of a page")),
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
        let api = Api { served: Served::Arena, page: BaseUrl::known("http://127.0.0.1:1"), token: None };
        let path = ["tournaments", "a/b?c%", "start"].map(str::to_owned);
        assert_eq!(api.url(&path).unwrap().as_str(), "http://127.0.0.1:1/api/tournaments/a%2Fb%3Fc%25/start");
    }
}
