//! A request as it is read: caller, parameters, form.

use std::{collections::BTreeSet, str::FromStr};

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Request},
    http::{
        HeaderMap, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, USER_AGENT},
    },
};
use tokio::{sync::oneshot, time::Instant};
use zeitnot_wire::lichess::{ChallengeId, Form, GameId, Scope, Token, UserId};

use super::{
    actor::ServerHandle,
    answer::{Outcome, Refusal},
    server::{Bearer, LichessServer},
};

/// Items that one job looks up: others come between.
const STEP: usize = 8;
/// Of a `User-Agent`, by which programs are told apart.
const MAX_AGENT: usize = 200;

#[derive(Copy, Clone, Debug)]
pub(super) enum Access {
    Public,
    /// Accounts whose token has one of the scopes; an empty list asks for none.
    Token(&'static [Scope]),
    Admin,
}

/// A job's outcome, and the moment before which it is not answered: its game is over, which the disk is to know first.
type Done = Result<(Outcome, Option<oneshot::Receiver<()>>), Refusal>;

pub(super) struct Call {
    server: ServerHandle,
    pub(super) bearer: Bearer,
    who: Option<UserId>,
    pub(super) at: Instant,
    pub(super) agent: String,
    path: Vec<(String, String)>,
    query: String,
    body: String,
    is_json: bool,
}

impl FromRequest<ServerHandle> for Call {
    type Rejection = Refusal;

    async fn from_request(request: Request, server: &ServerHandle) -> Result<Call, Refusal> {
        let (mut parts, body) = request.into_parts();
        let path = Path::from_request_parts(&mut parts, server).await;
        let Path(path) = path.map_err(|_| Refusal::missing("Not found"))?;
        let headers = &parts.headers;
        let (bearer, agent) =
            (bearer(headers), header(headers, USER_AGENT).chars().take(MAX_AGENT).collect());
        let is_json = header(headers, CONTENT_TYPE).contains("json");
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let body = Bytes::from_request(Request::from_parts(parts, body), server).await;
        let body = body.map_err(|rejection| match rejection.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(status, "Request body too large"),
            status => Refusal::new(status, "The request's body cannot be read"),
        })?;
        let body = String::from_utf8_lossy(&body).into_owned();
        let (server, who, at) = (server.clone(), None, Instant::now());
        Ok(Call { server, bearer, who, at, agent, path, query, body, is_json })
    }
}

impl Call {
    /// Runs a job in the server's task, if the caller may ask for it.
    pub(super) async fn run(
        self,
        access: Access,
        job: impl FnOnce(&mut LichessServer, &Call) -> Outcome + Send + 'static,
    ) -> Outcome {
        let server = self.server.clone();
        answer(server.call(move |server| self.checked(access, job, server)).await).await
    }

    /// Runs a job of a running game, before those that are none.
    pub(super) async fn run_first(
        self,
        access: Access,
        job: impl FnOnce(&mut LichessServer, &Call) -> Outcome + Send + 'static,
    ) -> Outcome {
        let server = self.server.clone();
        answer(server.call_first(move |server| self.checked(access, job, server)).await).await
    }

    fn checked(
        mut self,
        access: Access,
        job: impl FnOnce(&mut LichessServer, &Call) -> Outcome,
        server: &mut LichessServer,
    ) -> Done {
        match access {
            Access::Public => {}
            Access::Token(scopes) => self.who = Some(server.authorize(&self.bearer, scopes)?),
            Access::Admin => server.check_admin(&self.bearer)?,
        }
        let outcome = job(server, &self);
        let told = self.id().ok().and_then(|id| server.games.wait_for_end(id));
        Ok((outcome, told))
    }

    /// Asks the server for something that is public.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&LichessServer) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.server.call(move |server| job(server)).await.ok_or_else(unavailable)
    }

    /// Looks up each of the items, and drops those that are not found.
    pub(super) async fn each<I: Send + 'static, T: Send + 'static>(
        &self,
        items: Vec<I>,
        look_up: impl Fn(&LichessServer, &I) -> Option<T> + Clone + Send + 'static,
    ) -> Result<Vec<T>, Refusal> {
        let (mut found, mut items) = (Vec::new(), items.into_iter());
        loop {
            let step: Vec<I> = items.by_ref().take(STEP).collect();
            if step.is_empty() {
                return Ok(found);
            }
            let look_up = look_up.clone();
            let job = move |server: &LichessServer| -> Vec<T> {
                step.iter().filter_map(|item| look_up(server, item)).collect()
            };
            found.extend(self.ask(job).await?);
        }
    }

    /// The account that asks, which is known where a token is asked for.
    pub(super) fn who(&self) -> Result<UserId, Refusal> {
        self.who.clone().ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, "No such token"))
    }

    pub(super) fn id<T: PathId>(&self) -> Result<T, Refusal> {
        let id = self.path.first().and_then(|(_, id)| T::from_path(id));
        id.ok_or_else(|| Refusal::missing(T::MISSING))
    }

    pub(super) fn text(&self) -> Result<&str, Refusal> {
        self.path.get(1).map(|(_, text)| text.as_str()).ok_or_else(|| Refusal::missing("Not found"))
    }

    pub(super) fn agrees(&self) -> Result<bool, Refusal> {
        match self.text()? {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err(Refusal::missing("No such endpoint")),
        }
    }

    /// The form in the body, or without a body that in the query.
    pub(super) fn form<F: Form>(&self) -> Result<F, Refusal> {
        let body = self.body.trim();
        let form = match (body.is_empty(), self.is_json || body.starts_with('{')) {
            (true, _) => return self.query(),
            (false, true) => F::from_json(body),
            (false, false) => F::from_form(body),
        };
        form.map_err(|error| Refusal::bad(&error.to_string()))
    }

    pub(super) fn query<F: Form>(&self) -> Result<F, Refusal> {
        F::from_form(&self.query).map_err(|error| Refusal::bad(&error.to_string()))
    }

    /// A field of the form in the body.
    pub(super) fn field(&self, key: &str) -> Option<String> {
        find(&self.body, key)
    }

    /// The distinct items of the list in the body.
    pub(super) fn items<T: FromStr + Ord + Clone>(&self, max: usize) -> Vec<T> {
        items(&self.body, max)
    }

    pub(super) fn query_items<T: FromStr + Ord + Clone>(&self, key: &str, max: usize) -> Vec<T> {
        items(&self.parameter(key).unwrap_or_default(), max)
    }

    pub(super) fn length(&self, (default, max): (usize, usize)) -> usize {
        self.parameter("nb").and_then(|nb| nb.parse().ok()).unwrap_or(default).min(max)
    }

    fn parameter(&self, key: &str) -> Option<String> {
        find(&self.query, key).filter(|value| !value.is_empty())
    }
}

/// Waits until the answer may be given.
async fn answer(done: Option<Done>) -> Outcome {
    let (outcome, told) = done.ok_or_else(unavailable)??;
    if let Some(told) = told {
        // An error means that the server is gone.
        told.await.map_err(|_| unavailable())?;
    }
    outcome
}

fn unavailable() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "The server cannot answer now")
}

/// Returns the token in the bytes that a request begins with.
pub(super) fn token(head: &[u8]) -> Option<Token> {
    let head = String::from_utf8_lossy(head);
    let fields = head.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    let mut fields = fields.filter(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()));
    match fields.next().map(|(_, value)| credentials(value)) {
        Some(Bearer::Token(token)) => Some(token),
        _ => None,
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn bearer(headers: &HeaderMap) -> Bearer {
    if !headers.contains_key(AUTHORIZATION) {
        return Bearer::Missing;
    }
    credentials(header(headers, AUTHORIZATION))
}

/// Parses the value of an `Authorization`.
fn credentials(value: &str) -> Bearer {
    let (scheme, token) = value.trim().split_once(' ').unwrap_or_default();
    match token.trim().parse::<Token>() {
        Ok(token) if scheme.eq_ignore_ascii_case("bearer") => Bearer::Token(token),
        _ => Bearer::Invalid,
    }
}

fn find(form: &str, key: &str) -> Option<String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(form).unwrap_or_default();
    pairs.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn items<T: FromStr + Ord + Clone>(text: &str, max: usize) -> Vec<T> {
    let items = text.split(',').take(max).filter_map(|item| item.trim().parse().ok());
    let mut seen = BTreeSet::new();
    items.filter(|item: &T| seen.insert(item.clone())).collect()
}

pub(super) trait PathId: FromStr {
    const MISSING: &str;

    fn from_path(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl PathId for UserId {
    const MISSING: &str = "No such user";
}

impl PathId for ChallengeId {
    const MISSING: &str = "No such challenge";
}

impl PathId for GameId {
    const MISSING: &str = "No such game";

    fn from_path(text: &str) -> Option<GameId> {
        let text = text.trim_end_matches(".pgn");
        // A player's own id of a game begins with the game's.
        let id = if text.len() == 12 { text.get(..8)? } else { text };
        id.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_distinct_and_bounded() {
        let parsed =
            |text: &str, max| items::<UserId>(text, max).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(parsed(&"alice, Alice,../x,bob,".repeat(100), 300), ["alice", "bob"]);
        let many: String = (0..400).map(|number| format!("user{number},")).collect();
        assert_eq!(parsed(&many, 300).len(), 300);
    }
}
