//! Games that the referee can play on.

use zeitnot_rules::{Color, DynGame, Game, GameError, GameKind, MoveText, Outcome};

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

    fn can_win(&self, color: Color) -> bool {
        self.position.can_win(color)
    }
}
