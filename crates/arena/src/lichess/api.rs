//! Routes of the API: who may ask, and which subject answers.

use std::time::Duration;

use axum::{
    BoxError, Router,
    error_handling::HandleErrorLayer,
    extract::{DefaultBodyLimit, Request, State},
    http::{Method, StatusCode},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{self, MethodRouter},
};
use tokio::runtime;
use tower::{ServiceBuilder, timeout::TimeoutLayer};
use zeitnot_wire::lichess::{Decline, MoveQuery, Scope, UserId};

use super::{
    actor::ServerHandle,
    answer::{Answer, Outcome, Refusal, to_json},
    call::{Access, Call},
    game::GameAction,
    server::LichessServer,
};

const MAX_BODY: usize = 64 * 1024;
/// The time to read a request and to answer it; streams go on beyond it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TOKENS: usize = 1000;
const MAX_STATUSES: usize = 100;
const MAX_IDS: usize = 300;
/// Items of a list in one answer: by default, and at most.
const BOTS: (usize, usize) = (100, 512);
const GAMES: (usize, usize) = (9, 50);
const GAMES_PATH: &str = "/api/bot/game";
const STREAMS_PATH: &str = "/api/stream/";

const ANY_TOKEN: Access = Access::Token(&[]);
const BOT: Access = Access::Token(&[Scope::BotPlay]);
const EVENTS: Access = Access::Token(&[Scope::BotPlay, Scope::ChallengeRead]);
const CHALLENGE: Access = Access::Token(&[Scope::ChallengeWrite, Scope::BotPlay]);

type Routes = Router<ServerHandle>;
type Route = MethodRouter<ServerHandle>;
type Job = fn(&mut LichessServer, &Call) -> Outcome;

fn get(access: Access, job: Job) -> Route {
    routing::get(move |call: Call| call.run(access, job))
}

fn post(access: Access, job: Job) -> Route {
    routing::post(move |call: Call| call.run(access, job))
}

/// Routes of the API. With `aside`, requests of no running game are handled there.
pub(super) fn router(server: ServerHandle, aside: Option<runtime::Handle>) -> Router {
    let timeout = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(timed_out))
        .layer(TimeoutLayer::new(REQUEST_TIMEOUT));
    Router::new()
        .merge(accounts())
        .merge(challenges())
        .nest(GAMES_PATH, games())
        .route("/game/export/{id}", get(Access::Public, |s, c| s.games.export(c.id()?)))
        .merge(administration())
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(timeout)
        .layer(from_fn_with_state(aside, step_aside))
        .layer(from_fn(refuse_head))
        .with_state(server)
}

/// Handles a request that is no move, and no stream of moves, on another thread.
async fn step_aside(State(aside): State<Option<runtime::Handle>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    match aside {
        Some(aside) if !path.starts_with(GAMES_PATH) && !path.starts_with(STREAMS_PATH) => {
            let answer = aside.spawn(next.run(request)).await;
            answer.unwrap_or_else(|_| Refusal::broken().into_response())
        }
        _ => next.run(request).await,
    }
}

/// Refuses `HEAD`, which the router would take for `GET`.
async fn refuse_head(request: Request, next: Next) -> Response {
    match *request.method() {
        Method::HEAD => unknown().await.into_response(),
        _ => next.run(request).await,
    }
}

async fn unknown() -> Refusal {
    Refusal::missing("No such endpoint")
}

async fn timed_out(_: BoxError) -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "Request timeout")
}

fn accounts() -> Routes {
    Router::new()
        .route("/api/account", get(ANY_TOKEN, |s, c| s.own_profile(&c.who()?, c.at)))
        .route(
            "/api/account/playing",
            get(ANY_TOKEN, |s, c| Ok(s.games.playing(&c.who()?, c.length(GAMES), c.at))),
        )
        .route("/api/bot/account/upgrade", post(BOT, |s, c| s.accounts.upgrade(&c.who()?)))
        .route("/api/stream/event", get(EVENTS, |s, c| s.events(&c.who()?, c.at)))
        .route(
            "/api/token",
            routing::delete(|c: Call| c.run(ANY_TOKEN, |s, c| s.revoke(&c.who()?, &c.bearer))),
        )
        .route(
            "/api/token/test",
            post(Access::Public, |s, c| Ok(s.accounts.test_tokens(c.items(MAX_TOKENS)))),
        )
        .route("/api/user/{id}", get(Access::Public, |s, c| s.profile(&c.id()?)))
        .route("/api/users", routing::post(users))
        .route("/api/users/status", routing::get(statuses))
        .route("/api/bot/online", routing::get(online_bots))
}

async fn users(call: Call) -> Outcome {
    let users = call.each(call.items::<UserId>(MAX_IDS), |server, id| server.find_profile(id)).await?;
    Ok(Answer::value(&users))
}

async fn statuses(call: Call) -> Outcome {
    let statuses = call.each(call.query_items::<UserId>("ids", MAX_STATUSES), LichessServer::status).await?;
    Ok(Answer::value(&statuses))
}

async fn online_bots(call: Call) -> Outcome {
    let max = call.length(BOTS);
    let bots = call.ask(move |server| server.online_bots(max)).await?;
    let bots = call.each(bots, |server, id| server.find_profile(id)).await?;
    Ok(Answer::Lines(bots.iter().map(|bot| to_json(bot) + "\n").collect()))
}

fn challenges() -> Routes {
    Router::new()
        .route(
            "/api/challenge/{id}",
            post(CHALLENGE, |s, c| s.challenge(&c.who()?, &c.id()?, &c.form()?, c.at)),
        )
        .route("/api/challenge/{id}/accept", post(CHALLENGE, |s, c| s.accept(&c.who()?, c.id()?, c.at)))
        .route(
            "/api/challenge/{id}/decline",
            post(CHALLENGE, |s, c| {
                let Decline { reason } = c.form()?;
                s.challenges.decline(&c.who()?, c.id()?, reason, &s.accounts)
            }),
        )
        .route("/api/challenge/{id}/cancel", post(CHALLENGE, |s, c| s.cancel(&c.who()?, c.id()?, c.at)))
}

fn act(action: fn(&Call) -> Result<GameAction, Refusal>) -> Route {
    routing::post(move |call: Call| {
        call.run_first(BOT, move |s, c| s.act(&c.who()?, c.id()?, action(c)?, c.at))
    })
}

fn games() -> Routes {
    let play = act(|c| {
        let MoveQuery { offering_draw: offers_draw } = c.query()?;
        Ok(GameAction::Move { text: c.text()?.to_owned(), offers_draw })
    });
    Router::new()
        .route("/stream/{id}", get(BOT, |s, c| s.watch(&c.who()?, c.id()?, c.agent.clone(), c.at)))
        .route("/{id}/move/{text}", play)
        .route("/{id}/draw/{text}", act(|c| Ok(GameAction::Draw(c.agrees()?))))
        .route("/{id}/takeback/{text}", act(|c| Ok(GameAction::Takeback(c.agrees()?))))
        .route("/{id}/chat", act(|c| Ok(GameAction::Chat(c.form()?))))
        .route("/{id}/resign", act(|_| Ok(GameAction::Resign)))
        .route("/{id}/abort", act(|_| Ok(GameAction::Abort)))
        .route("/{id}/claim-victory", act(|_| Ok(GameAction::ClaimVictory)))
        .route("/{id}/claim-draw", act(|_| Ok(GameAction::ClaimDraw)))
}

fn administration() -> Routes {
    Router::new().route(
        "/api/zeitnot/account",
        post(Access::Admin, |s, c| {
            let name = c.field("name").ok_or_else(|| Refusal::field("name", "This field is required"))?;
            let token =
                c.field("token").filter(|token| !token.is_empty()).map(|token| token.parse()).transpose();
            let token = token.map_err(|_| Refusal::field("token", "Letters, digits and underscores"))?;
            s.new_account(name, c.field("title"), token)
        }),
    )
}
