//! Client of the Lichess Bot API: one account, many games.
//!
//! `config` is its table in the configuration; `http` one client for the account, `limits` when it may ask for
//! what, `stream` an NDJSON stream that is opened again when it ends. `events` is the account's session, `game`
//! one game in it (`correspondence`: where it has no clock), `track` that game's moves, `moves` how one of ours
//! gets to the server.
//!
//! The session asks those who know: `challenges` and `terms` what is accepted, `people` and `lists` from whom,
//! `matchmaking` and `grudges` whom to challenge, `clubs` which tournaments to enter. Beside the games
//! `clerk` writes them down (`records`), and `voice` says what there is to say in them (`chat`).

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};
use tracing::{Instrument, debug, info, info_span, warn};

use zeitnot_seat::Lobby;
use zeitnot_wire::lichess::{Token, User};

use super::{Protocol, ProtocolError, Shutdown};

mod account;
pub mod challenges;
pub mod chat;
mod clerk;
pub mod clubs;
mod config;
pub mod correspondence;
mod events;
mod game;
pub mod grudges;
mod http;
mod limits;
mod lines;
mod lists;
pub mod matchmaking;
mod moves;
pub mod people;
pub mod records;
mod stream;
mod taken;
mod tally;
pub mod terms;
mod track;
mod voice;

pub use account::{Visit, join, leave, upgrade, visit};
use clerk::Clerk;
pub use config::{Berserk, Claim, Config, NoToken, Patience};
use events::Account;
use game::Table;
pub use http::{Http, HttpError};
pub use limits::Kind;
use taken::Taken;
use voice::Voice;

pub use zeitnot_net::http::{BadBase, Base};

/// The protocol of lichess.org, for bots.
#[derive(Debug)]
pub struct Lichess;

impl Protocol for Lichess {
    const NAME: &'static str = "lichess";
    type Config = Config;

    fn limit_games(config: &mut Config, games: NonZeroU32) -> Result<(), &'static str> {
        config.games = Some(games);
        Ok(())
    }

    async fn run(config: Config, lobby: Lobby, shutdown: Shutdown) -> Result<(), ProtocolError> {
        let span = info_span!("lichess", server = %config.url);
        let now = shutdown.now.clone();
        let (clerk, written) = Clerk::start(config.records.clone());
        let stay = stay(&config, lobby, clerk, &shutdown).instrument(span);
        let left = now.run_until_cancelled(stay).await.unwrap_or(Ok(()));
        if timeout(WRITTEN, written).await.is_err() {
            warn!("left before all games were written down");
        }
        left
    }
}

/// What the last games may take to be written down.
const WRITTEN: Duration = Duration::from_secs(2);
/// What the last words in chat may take.
const SAID: Duration = Duration::from_secs(2);

async fn stay(config: &Config, lobby: Lobby, clerk: Clerk, shutdown: &Shutdown) -> Result<(), ProtocolError> {
    let refused = |what: String, advice: &'static str| ProtocolError::Refused {
        server: config.url.to_string(),
        what,
        advice,
    };
    let failed = |error: HttpError| refused(error.to_string(), advice(&error));
    if !config.url.is_private() {
        warn!("{} is not encrypted: everybody on the way can read the token", config.url);
    }
    let token = config.find_token().map_err(|error| refused(error.to_string(), TRY_CHECK))?;
    let Some(user) = shutdown.soon.run_until_cancelled(who(config, &token)).await else { return Ok(()) };
    let user = user.map_err(failed)?;
    if !user.is_bot() {
        return Err(refused(format!("{} is no bot account", user.id), "see: zeitnot lichess upgrade"));
    }
    let Some(_taken) = Taken::take(&config.url, &user.id) else {
        return Err(refused(format!("{} plays already, by another [[server]] table", user.id), OWN_TOKEN));
    };
    info!("playing as {}", user.id);
    let http = Http::new(&config.url, &token, Some(user.id.as_str()), &config.patience).map_err(failed)?;
    let (voice, said) = Voice::start(config.chat.clone(), http.clone());
    let table = Table { http, lobby, me: user.id, rules: config.rules(), clerk, voice };
    let (people, _lists) = lists::keep(&config.people).await;
    let left = Account::new(config, table, people, shutdown).await.run().await.map_err(failed);
    if timeout(SAID, said).await.is_err() {
        debug!("left before all was said in chat");
    }
    left
}

const OWN_TOKEN: &str = "give each table its own token, by token_file or token_env";
const TRY_CHECK: &str = "see: zeitnot lichess check";

/// What to do about an error that ended the session.
fn advice(error: &HttpError) -> &'static str {
    match error {
        HttpError::Unauthorized => {
            "make a new one with the scope bot:play, at the server under /account/oauth/token"
        }
        _ => TRY_CHECK,
    }
}

/// Whose token it is, asked until there is an answer.
async fn who(config: &Config, token: &Token) -> Result<User, HttpError> {
    let http = Http::new(&config.url, token, None, &config.patience)?;
    let mut backoff = config.patience.backoff();
    loop {
        let began = Instant::now();
        let error = match http.get(Kind::Lookup, "api/account").await {
            Err(error @ (HttpError::Unauthorized | HttpError::Refused { .. })) => return Err(error),
            Err(error) => error,
            Ok(user) => return Ok(user),
        };
        let pause = backoff.pause(began.elapsed());
        let words = "trying again (is the server there, and its address right?)";
        http.tally().report(Instant::now());
        http.tally().failed(&error, format_args!("{error}; {words}"));
        sleep(pause).await;
    }
}
