//! Client of the Lichess Bot API: one account, many games.
//!
//! - `account`: logging in, the state machine of the account, and its performer
//! - `game`: one game
//! - `challenges`: incoming challenges; `matchmaking`: outgoing ones
//! - `teams`: teams and tournaments to join
//! - `chat`, `records`: messages and PGN files, written aside from the games
//!
//! They share one HTTP client (`http`, with `connections`, `rate_limits` and its `shared_backoff`, a `ConnectionLog` and a
//! `LogThrottle`), the site's `Dialect` (`site`) and streams that reconnect (`stream`, with `lines` and `keep_alive`). `game_clocks` bounds their delays, and
//! `playing` holds the server's list of our running games.

use std::{
    io,
    num::NonZeroU32,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use tokio::{sync::watch, task::spawn_blocking, time::timeout};
use tracing::{Instrument, debug, info, info_span, warn};
use zeitnot_net::Contradictions;
use zeitnot_seat::{Lobby, OrderKind, OrderQueue};

use crate::{Findings, Protocol, ProtocolError, Shutdown, wait};

mod account;
mod advice;
mod challenges;
mod chat;
mod config;
mod connections;
mod dialect;
mod game;
mod game_clocks;
mod http;
mod http_error;
mod keep_alive;
mod lines;
mod matchmaking;
mod playing;
mod rate_limits;
mod recent;
mod records;
mod shared_backoff;
#[cfg(feature = "simulation")]
pub mod simulation;
mod site;
mod stream;
mod tasks;
mod teams;
mod terms;
mod timeouts;
pub(crate) mod token;

pub use account::commands::{TokenInfo, check_token, join, leave, upgrade};
use account::{
    login::{AccountLock, identify},
    performer::Performer,
    requests::Requests,
    state::{AccountSetup, AccountState},
};
pub use advice::{NEW_ACCOUNT, NEW_TOKEN};
use challenges::list_updates;
pub use challenges::{filter::playable_variants, players::ListUrl};
use chat::sender::ChatSender;
pub use config::Config;
use connections::Pool;
use game::context::GameContext;
use http::{Http, MAX_PAUSE, wait_in_game};
use http_error::BotLimit;
pub use http_error::HttpError;
use lines::Lines;
use matchmaking::decline_history::DeclineHistory;
use rate_limits::RequestKind;
use recent::RecentByUser;
use records::pgn_writer::PgnWriter;
use stream::{Stream, StreamEvent};
use tasks::Tasks;
pub use teams::tournament::Tournament;
pub use token::TokenError;
pub use zeitnot_net::http::BaseUrl;

/// Limit for writing the last games when the program ends.
const PGN_TIMEOUT: Duration = Duration::from_secs(2);
/// Limit for sending the last messages.
const CHAT_TIMEOUT: Duration = Duration::from_secs(2);

/// The protocol of lichess.org, for bots.
#[derive(Debug)]
pub struct Lichess;

impl Protocol for Lichess {
    const NAME: &'static str = "lichess";
    const PLAYER_KEY: Option<&'static str> = None;
    type Config = Config;

    fn contradictions(config: &Config, found: &mut Contradictions) {
        config.contradictions(found);
    }

    fn check(config: &Config, findings: &mut Findings) {
        config.check(findings);
    }

    fn is_same_player(one: &Config, other: &Config) -> bool {
        let is_same_token = match (one.find_token(), other.find_token()) {
            (Ok(token), Ok(same)) => token.expose() == same.expose(),
            (Err(_), Err(_)) => (&one.token_file, &one.token_env) == (&other.token_file, &other.token_env),
            _ => false,
        };
        one.url == other.url && is_same_token
    }

    fn limit_games(config: &mut Config, games: NonZeroU32) {
        config.games = Some(games);
    }

    fn takes(_: OrderKind) -> Result<(), &'static str> {
        Ok(())
    }

    async fn run(
        mut updates: watch::Receiver<Config>,
        lobby: Lobby,
        orders: OrderQueue,
        shutdown: Shutdown,
    ) -> Result<(), ProtocolError> {
        let config = updates.borrow_and_update().clone();
        let span = info_span!("lichess", server = %config.url);
        let now = shutdown.now.clone();
        let (pgn, written) = PgnWriter::start(config.pgn_files());
        let session = play(&config, updates, lobby, orders, pgn, &shutdown).instrument(span);
        let result = now.run_until_cancelled(session).await.unwrap_or(Ok(()));
        if timeout(PGN_TIMEOUT, written).await.is_err() {
            warn!("the program ends before all games are written");
        }
        result
    }
}

async fn play(
    config: &Config,
    updates: watch::Receiver<Config>,
    lobby: Lobby,
    orders: OrderQueue,
    pgn: PgnWriter,
    shutdown: &Shutdown,
) -> Result<(), ProtocolError> {
    let refused = |what: String, advice: &'static str| ProtocolError::Refused {
        server: config.url.to_string(),
        what,
        advice,
    };
    let failed = |error: HttpError| refused(error.to_string(), advice(&error));
    let token = config.find_token().map_err(|error| refused(error.to_string(), CHECK_ADVICE))?;
    // No hedged move must wait for that on the network's thread.
    zeitnot_net::http::prepare_tls().await;
    let identified = shutdown.soon.run_until_cancelled(identify(config, &token)).await;
    let Some(user) = identified.transpose().map_err(failed)? else { return Ok(()) };
    if user.is_unable_to_be_bot() {
        let why = format!("{} is not a bot account, and cannot become one as it has played games", user.id);
        return Err(refused(why, NEW_ACCOUNT));
    }
    if !user.is_bot() {
        return Err(refused(format!("{} is not a bot account", user.id), "see: zeitnot lichess upgrade"));
    }
    let Some(_lock) = AccountLock::acquire(&config.url, &user.id) else {
        return Err(refused(format!("another [[server]] table plays as {}", user.id), TOKEN_ADVICE));
    };
    info!("playing as {}", user.id);
    let http = Http::new(config, &token, Some(user.id.as_str())).map_err(failed)?;
    let (chat, sent) = ChatSender::start(config.chat.clone(), &config.challenge, http.clone());
    let players = list_updates::watch(&config.players).await;
    let file = config.matchmaking.as_ref().and_then(|matchmaking| matchmaking.history_file.clone());
    let history = read_history(file.clone()).await;
    let requests = Requests { http: http.clone(), me: user.id.clone(), history_file: file };
    let setup = AccountSetup {
        config: config.clone(),
        me: user.id.clone(),
        players: players.players.clone(),
        history,
        seats: lobby.seats().clone(),
        seed: fastrand::u64(..),
        unix_time: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
    };
    let state = AccountState::new(setup, wait::now());
    let (rules, seat) = (config.game_rules(), watch::channel(None).1);
    let context = GameContext { http, lobby, me: user.id, rules, pgn, chat, seat };
    let account = Performer::new(state, context, requests, updates, players, orders, shutdown);
    let result = account.run().await.map_err(failed);
    if timeout(CHAT_TIMEOUT, sent).await.is_err() {
        debug!("the program ends before all messages are sent");
    }
    result
}

/// Reads the history of challenges. Without a file that can be read, none is kept.
async fn read_history(file: Option<PathBuf>) -> Option<DeclineHistory> {
    let file = file?;
    let shown = file.display().to_string();
    let read = spawn_blocking(move || DeclineHistory::load(&file)).await;
    match read.map_err(io::Error::other).and_then(|read| read) {
        Ok(history) => Some(history),
        Err(error) => {
            warn!(
                "cannot read the history of declined challenges, {shown}: {error}; playing without it, the file stays as it is"
            );
            None
        }
    }
}

const TOKEN_ADVICE: &str = "give each table its own token, by token_file or token_env";
const CHECK_ADVICE: &str = "see: zeitnot lichess check";

fn advice(error: &HttpError) -> &'static str {
    match error {
        HttpError::Unauthorized => NEW_TOKEN,
        _ => CHECK_ADVICE,
    }
}
