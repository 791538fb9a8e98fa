//! A game as the server tells it, with all its moves each time; and what is new in it.

use zeitnot_rules::{Color, DynGame, GameError, GameKind, MoveText};
use zeitnot_wire::{
    WireError,
    lichess::{GameFull, GameState, NoGame},
};

/// What a state says about the board that the one before did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// So many plies were taken back …
    pub taken_back: usize,
    /// … and then these moves were played.
    pub moves: Vec<MoveText>,
}

impl Change {
    /// Is all as it was?
    pub fn is_none(&self) -> bool {
        self.taken_back == 0 && self.moves.is_empty()
    }
}

/// A game that we cannot follow.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    /// It cannot begin.
    #[error(transparent)]
    Game(#[from] NoGame),
    /// A move that the rules do not know.
    #[error(transparent)]
    Rules(#[from] GameError),
    /// Text that is no move of any game.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The line of a game.
#[derive(Debug)]
pub(super) struct Track {
    game: GameKind,
    line: DynGame,
}

impl Track {
    /// A game before its first move.
    pub fn new(full: &GameFull) -> Result<Track, Lost> {
        let variant = &full.variant.key;
        let game = variant.game().ok_or_else(|| NoGame::Variant(variant.clone()))?;
        Ok(Track { game, line: variant.begin(full.start())? })
    }

    /// By which rules it is played.
    pub fn game(&self) -> GameKind {
        self.game
    }

    /// Whose turn it was at the beginning.
    pub fn first(&self) -> Color {
        self.line.again().side()
    }

    /// Whose turn it is.
    pub fn side(&self) -> Color {
        self.line.side()
    }

    /// How many moves there were.
    pub fn plies(&self) -> usize {
        self.line.moves().len()
    }

    /// Follows the server, and says what is new.
    pub fn follow(&mut self, state: &GameState) -> Result<Change, Lost> {
        let mut line = self.line.again();
        for text in state.played() {
            line.play(&text?)?;
        }
        let (known, told) = (self.line.moves(), line.moves());
        let common = known.iter().zip(told).take_while(|(known, told)| known == told).count();
        let moves = told.get(common..).unwrap_or_default().to_vec();
        let change = Change { taken_back: known.len() - common, moves };
        self.line = line;
        Ok(change)
    }

    /// All moves so far.
    pub fn played(&self) -> &[MoveText] {
        self.line.moves()
    }

    /// A move of ours as the server reads it.
    pub fn write(&self, mv: MoveText) -> MoveText {
        self.line.read(mv.as_str()).unwrap_or(mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_wire::{Message, lichess::GameMessage};

    fn full(variant: &str, fen: &str) -> GameFull {
        let text = format!(
            r#"{{"type":"gameFull","id":"5IrD6Gzz","variant":{{"key":"{variant}"}},"initialFen":"{fen}",
            "state":{{"type":"gameState","moves":"","status":"started"}}}}"#
        );
        let Ok(GameMessage::GameFull(full)) = GameMessage::parse(&text) else { panic!("{text}") };
        *full
    }

    fn change(track: &mut Track, moves: &str) -> Change {
        let state = GameState { moves: moves.to_owned(), ..full("standard", "startpos").state };
        track.follow(&state).unwrap()
    }

    fn moved(moves: &str) -> Change {
        taken_back(0, moves)
    }

    fn taken_back(plies: usize, moves: &str) -> Change {
        let moves = moves.split_ascii_whitespace().map(|text| MoveText::new(text).unwrap()).collect();
        Change { taken_back: plies, moves }
    }

    #[test]
    fn what_is_new_is_told_once_and_so_is_what_is_taken_back() {
        let mut track = Track::new(&full("standard", "startpos")).unwrap();
        assert!(change(&mut track, "").is_none());
        assert_eq!(change(&mut track, "e2e4 e7e5"), moved("e2e4 e7e5"));
        assert!(change(&mut track, "e2e4 e7e5").is_none());
        assert_eq!(change(&mut track, "e2e4 e7e5 g1f3"), moved("g1f3"));
        assert_eq!(change(&mut track, "e2e4"), taken_back(2, ""));
        assert_eq!((track.side(), track.plies()), (Color::Black, 1));
        assert_eq!(change(&mut track, "d2d4 d7d5"), taken_back(1, "d2d4 d7d5"));
        let odd = GameState { moves: "e2e4 e7e4".into(), ..full("standard", "startpos").state };
        assert!(track.follow(&odd).is_err());
        assert_eq!(track.plies(), 2);
    }

    #[test]
    fn castling_is_understood_in_both_forms_and_written_as_the_variant_wants_it() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        for (variant, text) in [("standard", "e1g1"), ("fromPosition", "e1g1"), ("chess960", "e1h1")] {
            for told in ["e1g1", "e1h1"] {
                let mut track = Track::new(&full(variant, fen)).unwrap();
                assert_eq!(track.write(MoveText::new(told).unwrap()).as_str(), text);
                assert_eq!(change(&mut track, told), moved(text), "{variant} {told}");
                assert!(change(&mut track, "e1h1").is_none());
            }
        }
    }

    #[test]
    fn games_of_others_rules_are_not_followed() {
        assert!(matches!(Track::new(&full("brandNew", "startpos")), Err(Lost::Game(NoGame::Variant(_)))));
        assert!(matches!(Track::new(&full("standard", "x")), Err(Lost::Game(NoGame::Position(_)))));
    }
}
