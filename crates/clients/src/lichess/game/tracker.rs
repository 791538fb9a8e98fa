//! Move tracker: follows a game's moves as the server lists them, all of them in each state.

use zeitnot_rules::{Color, DynGame, GameError, GameKind, MoveText, Outcome};
use zeitnot_wire::{
    WireError,
    lichess::{GameFull, GameState, NoGame},
};

/// Difference between two states of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Plies that were taken back first.
    pub(crate) taken_back: usize,
    /// Moves that were played then.
    pub(crate) moves: Vec<MoveText>,
}

impl Change {
    pub(crate) fn is_none(&self) -> bool {
        self.taken_back == 0 && self.moves.is_empty()
    }
}

/// A game that we cannot follow.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrackError {
    #[error(transparent)]
    Start(#[from] NoGame),
    /// An illegal move.
    #[error(transparent)]
    Rules(#[from] GameError),
    /// Text that is not a move of any game.
    #[error(transparent)]
    Wire(#[from] WireError),
}

#[derive(Debug)]
pub(crate) struct MoveTracker {
    pub(crate) kind: GameKind,
    game: DynGame,
    /// The moves in the server's own words.
    listed: String,
}

impl MoveTracker {
    /// Begins before the first move.
    pub(crate) fn new(full: &GameFull) -> Result<MoveTracker, TrackError> {
        let variant = &full.variant.key;
        let kind = variant.game().ok_or_else(|| NoGame::Variant(variant.clone()))?;
        Ok(MoveTracker { kind, game: variant.begin(full.start())?, listed: String::new() })
    }

    pub(crate) fn first_color(&self) -> Color {
        if self.plies().is_multiple_of(2) { self.color() } else { !self.color() }
    }

    pub(crate) fn color(&self) -> Color {
        self.game.side_to_move()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.game.outcome()
    }

    pub(crate) fn plies(&self) -> usize {
        self.game.moves().len()
    }

    pub(crate) fn moves(&self) -> &[MoveText] {
        self.game.moves()
    }

    /// Writes a move of ours as the server reads it.
    pub(crate) fn write(&self, mv: MoveText) -> MoveText {
        self.game.read(mv.as_str()).unwrap_or(mv)
    }

    /// Follows the server, and returns what has changed. After an error the game is as before.
    pub(crate) fn follow(&mut self, state: &GameState) -> Result<Change, TrackError> {
        let moves = state.moves.trim_ascii();
        match moves.strip_prefix(&self.listed) {
            Some(rest) if self.listed.is_empty() || rest.is_empty() || rest.starts_with(' ') => {
                let change = self.append(state)?;
                self.listed.push_str(rest);
                Ok(change)
            }
            _ => {
                let change = self.replay(state)?;
                moves.clone_into(&mut self.listed);
                Ok(change)
            }
        }
    }

    /// Plays the moves that are new at the end of the list.
    fn append(&mut self, state: &GameState) -> Result<Change, TrackError> {
        let before = self.plies();
        for text in state.played().skip(before) {
            let played = text.map_err(TrackError::from).and_then(|text| Ok(self.game.play(&text)?));
            if let Err(error) = played {
                self.game.truncate(before);
                return Err(error);
            }
        }
        Ok(Change { taken_back: 0, moves: self.moves().get(before..).unwrap_or_default().to_vec() })
    }

    /// Plays all moves anew, as after a takeback.
    fn replay(&mut self, state: &GameState) -> Result<Change, TrackError> {
        let mut game = self.game.again();
        for text in state.played() {
            game.play(&text?)?;
        }
        let before = self.game.moves();
        let now = game.moves();
        let common = before.iter().zip(now).take_while(|(before, now)| before == now).count();
        let moves = now.get(common..).unwrap_or_default().to_vec();
        let change = Change { taken_back: before.len() - common, moves };
        self.game = game;
        Ok(change)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zeitnot_rules::{Game, chess::Chess};
    use zeitnot_wire::{Message, lichess::GameMessage};

    use super::*;

    fn full(variant: &str, fen: &str) -> GameFull {
        let text = format!(
            r#"{{"type":"gameFull","id":"5IrD6Gzz","variant":{{"key":"{variant}"}},"initialFen":"{fen}",
            "state":{{"type":"gameState","moves":"","status":"started"}}}}"#
        );
        let Ok(GameMessage::GameFull(full)) = GameMessage::parse(&text) else { panic!("{text}") };
        *full
    }

    fn change(tracker: &mut MoveTracker, moves: &str) -> Change {
        let state = GameState { moves: moves.to_owned(), ..full("standard", "startpos").state };
        tracker.follow(&state).unwrap()
    }

    fn moved(moves: &str) -> Change {
        taken_back(0, moves)
    }

    fn taken_back(plies: usize, moves: &str) -> Change {
        let moves = moves.split_ascii_whitespace().map(|text| MoveText::new(text).unwrap()).collect();
        Change { taken_back: plies, moves }
    }

    #[test]
    fn moves_and_takebacks_are_told_once() {
        let mut tracker = MoveTracker::new(&full("standard", "startpos")).unwrap();
        assert!(change(&mut tracker, "").is_none());
        assert_eq!(change(&mut tracker, "e2e4 e7e5"), moved("e2e4 e7e5"));
        assert!(change(&mut tracker, "e2e4 e7e5").is_none());
        assert_eq!(change(&mut tracker, "e2e4 e7e5 g1f3"), moved("g1f3"));
        assert_eq!(change(&mut tracker, "e2e4"), taken_back(2, ""));
        assert_eq!((tracker.color(), tracker.plies()), (Color::Black, 1));
        assert_eq!(change(&mut tracker, "d2d4 d7d5"), taken_back(1, "d2d4 d7d5"));
        let odd = GameState { moves: "e2e4 e7e4".into(), ..full("standard", "startpos").state };
        assert!(tracker.follow(&odd).is_err());
        assert_eq!(tracker.plies(), 2);
    }

    #[test]
    fn castling_is_read_in_both_forms_and_written_as_the_variant_wants_it() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        for (variant, text) in [("standard", "e1g1"), ("fromPosition", "e1g1"), ("chess960", "e1h1")] {
            for told in ["e1g1", "e1h1"] {
                let mut tracker = MoveTracker::new(&full(variant, fen)).unwrap();
                assert_eq!(tracker.write(MoveText::new(told).unwrap()).as_str(), text);
                assert_eq!(change(&mut tracker, told), moved(text), "{variant} {told}");
                assert!(change(&mut tracker, "e1h1").is_none());
            }
        }
    }

    #[test]
    fn unknown_variants_and_positions_are_errors() {
        assert!(matches!(
            MoveTracker::new(&full("brandNew", "startpos")),
            Err(TrackError::Start(NoGame::Variant(_)))
        ));
        assert!(matches!(
            MoveTracker::new(&full("standard", "x")),
            Err(TrackError::Start(NoGame::Position(_)))
        ));
    }

    /// Both kings can castle to both sides.
    const CASTLING: &str = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";

    /// Changes `line`: cuts off plies, and adds legal moves by number. Castling is written in either form.
    fn change_line(line: &mut Vec<String>, cut: usize, numbers: &[(usize, bool)]) {
        line.truncate(line.len().saturating_sub(cut));
        let mut board = Chess::parse(CASTLING).unwrap();
        line.iter().for_each(|text| board.play(board.read(text).unwrap()));
        for (number, is_rook_taken) in numbers {
            let moves = board.moves();
            let Some(&mv) = moves.get(number % moves.len().max(1)) else { return };
            let text = board.write(mv).to_string();
            let castling = [("e1g1", "e1h1"), ("e1c1", "e1a1"), ("e8g8", "e8h8"), ("e8c8", "e8a8")];
            let other = castling.iter().find(|(king, rook)| {
                *is_rook_taken && text == *king && board.read(rook).is_ok_and(|read| read == mv)
            });
            line.push(other.map_or(text, |(_, rook)| (*rook).to_owned()));
            board.play(mv);
        }
    }

    proptest! {
        #[test]
        fn appending_moves_is_the_same_as_replaying_the_game(
            changes in prop::collection::vec(
                (0_usize..4, prop::collection::vec((0_usize..64, any::<bool>()), 0..4), 0_u8..8), 1..16),
        ) {
            let full = full("standard", CASTLING);
            let mut tracker = MoveTracker::new(&full).unwrap();
            let mut line = Vec::new();
            for (cut, numbers, oddity) in changes {
                // Most states only add moves.
                change_line(&mut line, if oddity < 2 { cut } else { 0 }, &numbers);
                let before = tracker.moves().to_vec();
                if oddity == 7 {
                    let moves = format!("{} e4e4", line.join(" "));
                    let state = GameState { moves, ..full.state.clone() };
                    prop_assert!(tracker.follow(&state).is_err());
                    prop_assert_eq!(tracker.moves(), &before[..]);
                }
                let state = GameState { moves: line.join(" "), ..full.state.clone() };
                let change = tracker.follow(&state).unwrap();
                let mut replayed = MoveTracker::new(&full).unwrap();
                replayed.replay(&state).unwrap();
                prop_assert_eq!(tracker.moves(), replayed.moves());
                prop_assert_eq!(tracker.color(), replayed.color());
                let common = before.iter().zip(replayed.moves()).take_while(|(old, new)| old == new).count();
                prop_assert_eq!(change.taken_back, before.len() - common);
                prop_assert_eq!(&change.moves[..], &replayed.moves()[common..]);
            }
        }
    }
}
