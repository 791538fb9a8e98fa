//! Games that the referee can play on.

use zeitnot_rules::{Color, DynGame, Game, GameError, GameKind, GameResult, MoveText, Outcome};

/// Game in progress: moves are text, the rules decide on them.
pub trait Board {
    /// Returns the rules.
    fn kind(&self) -> GameKind;

    /// Returns the position at the start.
    fn start(&self) -> String;

    /// Returns whether the start is not the usual one.
    fn is_own_start(&self) -> bool;

    /// Returns the side to move.
    fn turn(&self) -> Color;

    /// Returns the number of moves so far.
    fn ply_count(&self) -> usize;

    /// Returns the present position in the game's own text form.
    fn fen(&self) -> String;

    /// Plays a legal move; returns its text, and its notation in game records.
    ///
    /// # Errors
    /// [`GameError`] if the text is not a legal move.
    fn play(&mut self, text: &str) -> Result<(MoveText, String), GameError>;

    /// Returns the outcome by the rules, repetition included.
    fn outcome(&self) -> Outcome;

    /// Returns the result if the game is adjudicated here: a draw, except where points decide.
    fn result_so_far(&self) -> GameResult;

    /// Returns whether a side can still win by any play at all.
    fn can_win(&self, color: Color) -> bool;
}

/// A [`Board`] on which moves can be taken back.
pub trait Rewind: Board {
    /// Undoes all but the first moves.
    fn rewind(&mut self, plies: usize);
}

impl Rewind for DynGame {
    fn rewind(&mut self, plies: usize) {
        self.truncate(plies);
    }
}

impl Board for DynGame {
    fn kind(&self) -> GameKind {
        self.kind()
    }

    fn start(&self) -> String {
        self.root()
    }

    fn is_own_start(&self) -> bool {
        self.own_start().is_some()
    }

    fn turn(&self) -> Color {
        self.side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.moves().len()
    }

    fn fen(&self) -> String {
        self.now()
    }

    fn play(&mut self, text: &str) -> Result<(MoveText, String), GameError> {
        let mv = self.read(text)?;
        let san = self.san(&mv)?;
        self.play(&mv)?;
        Ok((mv, san))
    }

    fn outcome(&self) -> Outcome {
        self.outcome()
    }

    fn result_so_far(&self) -> GameResult {
        self.result_so_far()
    }

    fn can_win(&self, color: Color) -> bool {
        self.can_win(color)
    }
}

/// Plays a move on a position.
type Play<G> = Box<dyn FnMut(&mut G, <G as Game>::Move) + Send>;

/// Position of a game without repetition in which the server has a part in each move.
pub struct ServedGame<G: Game> {
    /// The present position.
    pub position: G,
    start: String,
    plies: usize,
    play: Play<G>,
}

impl<G: Game> ServedGame<G> {
    /// Begins a game in which `play` plays the moves.
    pub fn new(position: G, play: impl FnMut(&mut G, G::Move) + Send + 'static) -> Self {
        ServedGame { start: position.print(), position, plies: 0, play: Box::new(play) }
    }
}

impl<G: Game> Board for ServedGame<G> {
    fn kind(&self) -> GameKind {
        self.position.kind()
    }

    fn start(&self) -> String {
        self.start.clone()
    }

    fn is_own_start(&self) -> bool {
        false
    }

    fn turn(&self) -> Color {
        self.position.side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.plies
    }

    fn fen(&self) -> String {
        self.position.print()
    }

    fn play(&mut self, text: &str) -> Result<(MoveText, String), GameError> {
        let mv = self.position.read(text)?;
        let played = (self.position.write(mv), self.position.san(mv));
        (self.play)(&mut self.position, mv);
        self.plies += 1;
        Ok(played)
    }

    fn outcome(&self) -> Outcome {
        self.position.outcome()
    }

    fn result_so_far(&self) -> GameResult {
        self.position.leader().map_or(GameResult::Draw, GameResult::Won)
    }

    fn can_win(&self, color: Color) -> bool {
        self.position.can_win(color)
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::chess::Chess;

    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const KNIGHT_OUT: &str = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1";
    const LONE_KING: &str = "k7/8/8/8/8/8/8/K5Q1 w - - 0 1";

    fn served(fen: &str) -> ServedGame<Chess> {
        ServedGame::new(Chess::parse(fen).unwrap(), |position, mv| position.play(mv))
    }

    fn boards(fen: &str) -> [Box<dyn Board>; 2] {
        let own = Some(fen).filter(|fen| *fen != START);
        [Box::new(DynGame::begin(GameKind::Chess, own).unwrap()), Box::new(served(fen))]
    }

    #[test]
    fn boards_tell_their_start_their_moves_and_the_present_position() {
        for mut board in boards(START) {
            assert_eq!(
                (board.kind(), board.start(), board.fen()),
                (GameKind::Chess, START.into(), START.into())
            );
            assert!(board.play("g1f4").is_err());
            assert_eq!((board.turn(), board.ply_count()), (Color::White, 0));
            let (mv, san) = board.play("g1f3").unwrap();
            assert_eq!((mv.to_string().as_str(), san.as_str()), ("g1f3", "Nf3"));
            assert_eq!((board.turn(), board.ply_count()), (Color::Black, 1));
            assert_eq!((board.start(), board.fen()), (START.into(), KNIGHT_OUT.into()));
            board.play("g8f6").unwrap();
            assert_eq!((board.turn(), board.ply_count()), (Color::White, 2));
            assert!(!board.outcome().is_over());
        }
    }

    #[test]
    fn boards_know_who_can_still_win() {
        for board in boards(LONE_KING) {
            assert_eq!(Color::BOTH.map(|color| board.can_win(color)), [true, false]);
            assert_eq!(board.start(), LONE_KING);
        }
    }

    #[test]
    fn only_a_game_of_the_rules_has_a_start_of_its_own() {
        let is_own = |fen| boards(fen).map(|board| board.is_own_start());
        assert_eq!((is_own(START), is_own(LONE_KING)), ([false, false], [true, false]));
    }

    #[test]
    fn moves_are_taken_back() {
        let mut game = DynGame::begin(GameKind::Chess, None).unwrap();
        for text in ["g1f3", "g8f6", "f3g1"] {
            Board::play(&mut game, text).unwrap();
        }
        game.rewind(1);
        assert_eq!((game.ply_count(), game.fen()), (1, KNIGHT_OUT.into()));
    }
}
