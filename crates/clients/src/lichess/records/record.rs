//! The record of one game: complete also if it begins in the middle, with clocks and evaluations.

use std::time::SystemTime;

use time::OffsetDateTime;
use zeitnot_net::http::BaseUrl;
use zeitnot_rules::Color;
use zeitnot_seat::{Eval, EvalScore};
use zeitnot_wire::{
    lichess::{GameFull, GameId, GameState, Player, Speed, Status, Variant, VariantKey},
    pgn::{self, Pgn, Ply},
};

use super::suspended::{MAX_PLIES, PlyNote};

#[derive(Clone, Debug)]
pub(crate) struct GameRecord {
    full: GameFull,
    pub(crate) color: Color,
    notes: Vec<PlyNote>,
    /// Plies in the server's list; a note may be there before.
    plies: usize,
}

impl GameRecord {
    /// Begins where the stream does, at the first move or in the middle.
    pub(crate) fn new(full: GameFull, color: Color) -> GameRecord {
        let state = full.state.clone();
        let mut record = GameRecord { full, color, notes: Vec::new(), plies: 0 };
        record.update(state);
        record
    }

    pub(crate) fn id(&self) -> GameId {
        self.full.id
    }

    pub(crate) fn name(&self, color: Color) -> String {
        name(self.full.players()[color])
    }

    /// Notes a state of the game. Its clocks are those after the last move.
    pub(crate) fn update(&mut self, state: GameState) {
        let plies = state.moves.split_ascii_whitespace().take(MAX_PLIES).count();
        let both = self.moves().zip(state.moves.split_ascii_whitespace());
        let common = both.take_while(|(before, now)| before == now).count();
        if common < self.plies {
            // Moves were taken back.
            self.notes.truncate(common);
        }
        self.notes.resize(self.notes.len().max(plies), PlyNote::default());
        if plies > self.plies
            && let Some(last) = self.notes.get_mut(plies - 1)
        {
            let black_began = self.full.start().is_some_and(|fen| fen.split(' ').nth(1) == Some("b"));
            let mover = if black_began == plies.is_multiple_of(2) { Color::White } else { Color::Black };
            last.left = state.left()[mover];
        }
        (self.full.state, self.plies) = (state, plies);
    }

    /// Notes our evaluation for the move at this ply, from 0. The server may not have listed it yet.
    pub(crate) fn set_eval(&mut self, ply: usize, eval: Eval) {
        if ply < MAX_PLIES {
            let length = self.notes.len().max(ply + 1);
            self.notes.resize(length, PlyNote::default());
            if let Some(note) = self.notes.get_mut(ply) {
                note.eval = Some(eval);
            }
        }
    }

    /// Returns whether there is anything that the server could not tell us again.
    pub(crate) fn has_evals(&self) -> bool {
        self.notes.iter().any(|note| note.eval.is_some())
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = (&str, &PlyNote)> {
        self.moves().zip(&self.notes)
    }

    /// Adds notes from before a suspension or a restart, as far as the moves are still the same.
    pub(crate) fn restore(&mut self, kept: Vec<(String, PlyNote)>) {
        let moves = self.full.state.moves.split_ascii_whitespace();
        for ((mv, note), (kept_mv, kept)) in moves.zip(&mut self.notes).zip(kept) {
            if mv != kept_mv {
                return;
            }
            note.left = note.left.or(kept.left);
            note.eval = note.eval.or(kept.eval);
        }
    }

    fn moves(&self) -> impl Iterator<Item = &str> {
        self.full.state.moves.split_ascii_whitespace()
    }

    pub(crate) fn pgn(&self, server: &BaseUrl) -> String {
        let plies = self.plies();
        let tags = self.tags(server, plies.len());
        let fen = self.full.variant.key.set_up(self.full.start());
        Pgn { tags, fen, plies, result: self.result() }.print()
    }

    /// Returns the moves that fit the rules, with their notes.
    fn plies(&self) -> Vec<Ply> {
        let Ok(mut game) = self.full.variant.key.begin(self.full.start()) else { return Vec::new() };
        let mut plies = Vec::new();
        for (at, text) in self.moves().take(MAX_PLIES).enumerate() {
            let read = game.read(text).and_then(|mv| Ok((game.san(&mv)?, mv)));
            let Ok((text, mv)) = read else {
                tracing::debug!(game = %self.full.id, at, "a move does not fit our board; the record ends here");
                break;
            };
            let note = self.notes.get(at).copied().unwrap_or_default();
            let eval = note.eval.map(|eval| eval_text(eval, game.side_to_move()));
            plies.push(Ply { text, left: note.left, eval, ..Ply::default() });
            // It was just read here.
            let _ = game.play(&mv);
        }
        plies
    }

    fn tags(&self, server: &BaseUrl, plies: usize) -> Vec<(&'static str, String)> {
        let full = &self.full;
        let began = full.created_at.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        let began = began.map(OffsetDateTime::from);
        let date = began.map_or_else(|| pgn::UNKNOWN_DATE.to_owned(), pgn::date);
        let time = began.map_or_else(|| pgn::UNKNOWN_TIME.to_owned(), pgn::time);
        let mode = if full.rated { "rated" } else { "casual" };
        let speed = full.speed.as_ref().map_or("", Speed::as_str);
        let [white, black] = full.players().0;
        let clock =
            full.clock.map(|clock| format!("{}+{}", clock.initial.as_secs(), clock.increment.as_secs()));
        let mut tags = vec![
            ("Event", format!("{mode} {speed} game")),
            ("Site", server.join(&full.id.to_string())),
            ("Date", date.clone()),
            ("Round", "-".to_owned()),
            ("White", name(white)),
            ("Black", name(black)),
            ("Result", self.result().to_owned()),
            ("UTCDate", date),
            ("UTCTime", time),
            ("TimeControl", clock.unwrap_or_else(|| "-".to_owned())),
            ("PlyCount", plies.to_string()),
            ("Termination", self.termination().to_owned()),
        ];
        for (elo, title, player) in [("WhiteElo", "WhiteTitle", white), ("BlackElo", "BlackTitle", black)] {
            tags.extend(player.rating.map(|rating| (elo, rating.to_string())));
            tags.extend(player.title.as_ref().map(|word| (title, word.to_string())));
        }
        if full.variant.key != VariantKey::Standard {
            tags.push(("Variant", Variant::from(full.variant.key.clone()).name));
        }
        tags
    }

    fn result(&self) -> &'static str {
        let state = &self.full.state;
        match (state.winner, &state.status) {
            (Some(Color::White), _) => "1-0",
            (Some(Color::Black), _) => "0-1",
            (None, Status::Created | Status::Started | Status::Aborted | Status::NoStart) => "*",
            (None, Status::UnknownFinish | Status::Other(_)) => "*",
            (None, _) => "1/2-1/2",
        }
    }

    fn termination(&self) -> &'static str {
        match self.full.state.status {
            Status::Created | Status::Started => "unterminated",
            Status::Aborted | Status::NoStart | Status::Timeout => "abandoned",
            Status::OutOfTime => "time forfeit",
            Status::Cheat => "rules infraction",
            _ => "normal",
        }
    }
}

/// Returns the name of a player, for people.
pub(crate) fn name(player: &Player) -> String {
    match (player.ai_level, &player.id) {
        (Some(level), _) => format!("Stockfish level {level}"),
        _ if !player.name.is_empty() => player.name.clone(),
        (None, Some(id)) => id.to_string(),
        (None, None) => "Anonymous".to_owned(),
    }
}

/// Formats an evaluation as Lichess does: pawns or a mate, for White, and the depth.
fn eval_text(eval: Eval, color: Color) -> String {
    let sign = if color == Color::White { 1 } else { -1 };
    match eval.score {
        EvalScore::Centipawns(cp) => {
            format!("{:.2},{}", f64::from(cp.saturating_mul(sign)) / 100.0, eval.depth)
        }
        EvalScore::Mate(moves) => format!("#{},{}", i32::from(moves) * sign, eval.depth),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use zeitnot_wire::{Message, lichess::GameMessage};

    use super::*;

    pub(crate) fn full(white: &str, moves: &str) -> GameFull {
        let state = format!(
            r#"{{"type":"gameState","moves":"{moves}","wtime":180000,"btime":179000,"winc":2000,"binc":2000,"status":"started"}}"#
        );
        let line = format!(
            r#"{{"type":"gameFull","id":"abcdefgh","clock":{{"initial":180000,"increment":2000}},"speed":"blitz",
                "rated":true,"createdAt":1800000000000,"white":{{"id":"bob","name":"{white}","rating":1500}},
                "black":{{"id":"zeitnot","name":"Zeitnot","title":"BOT"}},"initialFen":"startpos","state":{state}}}"#
        )
        .replace('\n', "");
        match GameMessage::parse(&line).unwrap() {
            GameMessage::GameFull(full) => *full,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn state(full: &GameFull, moves: &str, left: [u64; 2]) -> GameState {
        let [wtime, btime] = left.map(|seconds| Some(Duration::from_secs(seconds)));
        GameState { moves: moves.into(), wtime, btime, ..full.state.clone() }
    }

    #[test]
    fn a_game_that_begins_in_the_middle_is_complete() {
        // The stream begins after the second ply.
        let full = full("Bob", "e2e4 e7e5");
        let mut record = GameRecord::new(full.clone(), Color::Black);
        record.update(state(&full, "e2e4 e7e5 f1c4", [170, 179]));
        record.set_eval(3, Eval { score: EvalScore::Centipawns(-25), depth: 12 });
        record.update(state(&full, "e2e4 e7e5 f1c4 b8c6", [170, 171]));
        record.update(state(&full, "e2e4 e7e5 f1c4 b8c6", [999, 999]));
        record.update(state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5", [160, 171]));
        record.set_eval(5, Eval { score: EvalScore::Mate(-1), depth: 9 });
        record.update(state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6", [160, 161]));
        let mut end = state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", [150, 161]);
        (end.status, end.winner) = (Status::Mate, Some(Color::White));
        record.update(end);
        let expected = r#"[Event "rated blitz game"]
[Site "https://lichess.org/abcdefgh"]
[Date "2027.01.15"]
[Round "-"]
[White "Bob"]
[Black "Zeitnot"]
[Result "1-0"]
[UTCDate "2027.01.15"]
[UTCTime "08:00:00"]
[TimeControl "180+2"]
[PlyCount "7"]
[Termination "normal"]
[WhiteElo "1500"]
[BlackTitle "BOT"]

1. e4 e5 {[%clk 0:02:59.00]} 2. Bc4 {[%clk 0:02:50.00]} 2... Nc6
{[%eval 0.25,12] [%clk 0:02:51.00]} 3. Qh5 {[%clk 0:02:40.00]} 3... Nf6
{[%eval #1,9] [%clk 0:02:41.00]} 4. Qxf7# {[%clk 0:02:30.00]} 1-0

"#;
        assert_eq!(record.pgn(&BaseUrl::default()), expected);
        let elsewhere = BaseUrl::try_from("http://127.0.0.1:8080".to_owned()).unwrap();
        assert!(record.pgn(&elsewhere).contains("[Site \"http://127.0.0.1:8080/abcdefgh\"]"));
    }

    #[test]
    fn moves_taken_back_leave_no_notes() {
        let full = full("Bob", "");
        let mut record = GameRecord::new(full.clone(), Color::White);
        record.set_eval(0, Eval { score: EvalScore::Centipawns(10), depth: 3 });
        record.update(state(&full, "e2e4 e7e5", [100, 100]));
        record.update(state(&full, "", [100, 100]));
        record.update(state(&full, "d2d4", [90, 100]));
        let pgn = |record: &GameRecord| record.pgn(&BaseUrl::default());
        assert!(pgn(&record).ends_with("\n1. d4 {[%clk 0:01:30.00]} *\n\n"), "{}", pgn(&record));
        record.update(state(&full, "d2d4 nonsense e2e4", [90, 100]));
        assert!(pgn(&record).contains("1. d4"));
    }
}
