//! A Lichess client of ours under test, and what a scripted server says to it.

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use zeitnot_bot as bot;
use zeitnot_clients::{
    Protocol, ProtocolError, Shutdown,
    lichess::{Config, Lichess},
};
use zeitnot_engine::Kind;

use crate::support::{bot::lobby, lichess_server::Server, wait::soon};

pub const ID: &str = "Zn4tQw8e";

/// A client that runs.
pub struct Client {
    pub run: JoinHandle<Result<(), ProtocolError>>,
    pub shutdown: Shutdown,
}

impl Client {
    pub fn start(server: &Server, settings: &str) -> Client {
        Client::with(server, Kind::Random, settings)
    }

    pub fn with(server: &Server, kind: Kind, settings: &str) -> Client {
        Client::of(&server.url, "lip_hush", kind, settings)
    }

    /// A client of any server. A `timeouts` table in the settings comes last.
    pub fn of(url: &str, token: &str, kind: Kind, settings: &str) -> Client {
        let (settings, timeouts) = settings.split_once("[timeouts]").unwrap_or((settings, ""));
        let text = format!(
            "url = '{url}'\ntoken = '{token}'\n{settings}\n[timeouts]\nsilence = '1s'\nreply = '2s'\n\
             reconnect = {{ min_delay = '20ms', max_delay = '100ms', stable_after = '10s' }}\nrate_limited = '300ms'\n{timeouts}"
        );
        let config: Config = toml::from_str(&text).unwrap();
        let shutdown = Shutdown::default();
        let lobby = lobby(kind, bot::Config::default(), &shutdown.now, &TaskTracker::new());
        let run = tokio::spawn(Lichess::run(config, lobby, shutdown.clone()));
        Client { run, shutdown }
    }

    pub async fn ends(self) {
        soon("the client ends", self.run).await.unwrap().unwrap();
    }
}

pub fn challenge(id: &str, time: &str) -> String {
    format!(
        r#"{{"type":"challenge","challenge":{{"id":"{id}","status":"created","challenger":{{"id":"them","name":"Them"}},
        "destUser":{{"id":"zeitnot","name":"Zeitnot"}},"variant":{{"key":"standard"}},"rated":false,"color":"random",
        "timeControl":{time}}}}}"#
    )
}

pub const CLOCK: &str = r#"{"type":"clock","limit":60,"increment":0}"#;

pub fn game_event(kind: &str) -> String {
    let status = if kind == "gameStart" { "started" } else { "resign" };
    format!(
        r#"{{"type":"{kind}","game":{{"gameId":"{ID}","fullId":"{ID}abcd","color":"white","compat":{{"bot":true}},
        "status":{{"name":"{status}"}}}}}}"#
    )
}

pub fn state(moves: &str, more: &str) -> String {
    format!(
        r#"{{"type":"gameState","moves":"{moves}","wtime":2000,"btime":2000,"winc":0,"binc":0,"status":"started"{more}}}"#
    )
}

/// The game in full, in which we have White, or Black.
pub fn full(white: bool, moves: &str) -> String {
    let (we, they) = (r#"{"id":"zeitnot","name":"Zeitnot"}"#, r#"{"id":"them","name":"Them"}"#);
    let (white, black) = if white { (we, they) } else { (they, we) };
    format!(
        r#"{{"type":"gameFull","id":"{ID}","variant":{{"key":"standard"}},"clock":{{"initial":60000,"increment":0}},
        "white":{white},"black":{black},"initialFen":"startpos","state":{}}}"#,
        state(moves, "")
    )
}

pub fn over(moves: &str) -> String {
    state(moves, "").replace("started", "resign")
}
