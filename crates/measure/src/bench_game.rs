//! A game of the account `bench` on a scripted server: it has White, and random legal moves answer it.

use zeitnot_measure::scripted_lichess::{ANYTHING, Server};
use zeitnot_rules::{Color, Game as _, GameHistory, chess::Chess};

/// Plies after which a game is drawn: the middle of the board is full, and no mate in sight.
const MAX_PLIES: usize = 40;
const ACCOUNT: &str = r#"{"id":"bench","username":"bench","title":"BOT","perfs":{"classical":{"games":0,"rating":1500,"rd":45,"prog":0}},"createdAt":1,"seenAt":1,"count":{"all":0,"rated":0},"playTime":{"total":0,"tv":0}}"#;
/// Answer to the token check of other clients, whose token is `bench`.
const TOKENS: &str =
    r#"{"bench":{"userId":"bench","scopes":"bot:play,challenge:read,challenge:write","expires":null}}"#;

/// Sets the answers to all look-ups of a client with the token `bench`.
pub(crate) fn answer_look_ups(server: &Server) {
    server.answer("/api/account", 200, ACCOUNT);
    server.answer("/api/token/test", 200, TOKENS);
    server.answer("/api/users/status", 200, "[]");
    server.answer(ANYTHING, 200, r#"{"ok":true}"#);
}

/// Clocks in milliseconds, as the server shows them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clocks {
    pub(crate) initial: u64,
    pub(crate) white: u64,
    pub(crate) black: u64,
}

pub(crate) struct BenchGame {
    pub(crate) id: String,
    pub(crate) history: GameHistory<Chess>,
    moves: Vec<String>,
}

impl BenchGame {
    pub(crate) fn new(id: String) -> BenchGame {
        BenchGame { id, history: GameHistory::new(Chess::start()), moves: Vec::new() }
    }

    /// Path of the game's stream.
    pub(crate) fn stream(&self) -> String {
        format!("/api/bot/game/stream/{}", self.id)
    }

    pub(crate) fn is_clients_turn(&self) -> bool {
        self.history.now().side_to_move() == Color::White
    }

    pub(crate) fn is_over(&self) -> bool {
        self.history.outcome().is_over() || self.history.moves().len() >= MAX_PLIES
    }

    /// The game in an event.
    pub(crate) fn event(&self, kind: &str) -> String {
        format!(r#"{{"type":"{kind}","game":{}}}"#, self.summary())
    }

    /// The list of running games with this one.
    pub(crate) fn now_playing(&self) -> String {
        format!(r#"{{"nowPlaying":[{}]}}"#, self.summary())
    }

    fn summary(&self) -> String {
        let id = &self.id;
        format!(
            r#"{{"fullId":"{id}wwww","gameId":"{id}","id":"{id}","fen":"{fen}","color":"white","lastMove":"","source":"friend","status":{{"id":20,"name":"started"}},"variant":{{"key":"standard","name":"Standard"}},"speed":"classical","perf":"classical","rated":false,"hasMoved":{has_moved},"opponent":{{"id":"anybody","username":"Anybody","rating":1500}},"isMyTurn":{is_my_turn},"secondsLeft":10800,"compat":{{"bot":true,"board":true}}}}"#,
            fen = self.history.now().print(),
            has_moved = !self.moves.is_empty(),
            is_my_turn = self.is_clients_turn(),
        )
    }

    /// The first line of a game's stream.
    pub(crate) fn full(&self, clocks: Clocks) -> String {
        format!(
            r#"{{"type":"gameFull","id":"{}","variant":{{"key":"standard","name":"Standard","short":"Std"}},"clock":{{"initial":{},"increment":0}},"speed":"classical","perf":{{"name":"Classical"}},"rated":false,"createdAt":1,"white":{{"id":"bench","name":"bench","title":"BOT","rating":1500}},"black":{{"id":"anybody","name":"Anybody","rating":1500}},"initialFen":"startpos","state":{}}}"#,
            self.id,
            clocks.initial,
            self.state("started", clocks),
        )
    }

    pub(crate) fn state(&self, status: &str, clocks: Clocks) -> String {
        let Clocks { white, black, .. } = clocks;
        format!(
            r#"{{"type":"gameState","moves":"{}","wtime":{white},"btime":{black},"winc":0,"binc":0,"status":"{status}"}}"#,
            self.moves.join(" "),
        )
    }

    /// Plays a move if it is legal.
    pub(crate) fn play(&mut self, text: &str) -> bool {
        let Ok(mv) = self.history.now().read(text) else { return false };
        self.moves.push(self.history.now().write(mv).as_str().to_owned());
        self.history.play(mv);
        true
    }

    /// Plays the opponent's move.
    pub(crate) fn reply(&mut self) {
        if let Some(&mv) = fastrand::choice(&self.history.now().moves()) {
            let text = self.history.now().write(mv);
            self.play(text.as_str());
        }
    }

    /// Takes back the last moves.
    pub(crate) fn take_back(&mut self, plies: usize) {
        self.history.take_back(plies);
        self.moves.truncate(self.history.moves().len());
    }
}
