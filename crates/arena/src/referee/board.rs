//! Games that the referee can play on.

use zeitnot_rules::{Color, DynGame, Game, GameError, GameHistory, MoveText, Outcome};

/// Move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// Coordinates, as engines and protocols exchange them.
    pub text: MoveText,
    /// Notation of game records.
    pub san: String,
}

/// Game in progress: moves are text, the rules decide on them.
pub trait Board {
    /// Returns the side to move.
    fn turn(&self) -> Color;

    /// Returns how many moves have been played.
    fn ply_count(&self) -> usize;

    /// Plays a move.
    fn play(&mut self, text: &str) -> Result<PlayedMove, GameError>;

    /// Returns the outcome by the rules, repetition included.
    fn outcome(&self) -> Outcome;

    /// Returns whether a side can still win by any play at all.
    fn can_win(&self, color: Color) -> bool;
}

impl<G: Game> Board for GameHistory<G> {
    fn turn(&self) -> Color {
        self.now().side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.moves().len()
    }

    fn play(&mut self, text: &str) -> Result<PlayedMove, GameError> {
        let (mv, played) = read(self.now(), text)?;
        self.play(mv);
        Ok(played)
    }

    fn outcome(&self) -> Outcome {
        self.outcome()
    }

    fn can_win(&self, color: Color) -> bool {
        self.now().can_win(color)
    }
}

impl Board for DynGame {
    fn turn(&self) -> Color {
        self.side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.moves().len()
    }

    fn play(&mut self, text: &str) -> Result<PlayedMove, GameError> {
        let text = self.read(text)?;
        let san = self.san(&text)?;
        self.play(&text)?;
        Ok(PlayedMove { text, san })
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
    plies: usize,
    play: Play<G>,
}

impl<G: Game> ServedGame<G> {
    /// Begins at a position; `play` makes each move.
    pub fn new(position: G, play: impl FnMut(&mut G, G::Move) + Send + 'static) -> Self {
        ServedGame { position, plies: 0, play: Box::new(play) }
    }
}

impl<G: Game> Board for ServedGame<G> {
    fn turn(&self) -> Color {
        self.position.side_to_move()
    }

    fn ply_count(&self) -> usize {
        self.plies
    }

    fn play(&mut self, text: &str) -> Result<PlayedMove, GameError> {
        let (mv, played) = read(&self.position, text)?;
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

fn read<G: Game>(position: &G, text: &str) -> Result<(G::Move, PlayedMove), GameError> {
    let mv = position.read(text)?;
    Ok((mv, PlayedMove { text: position.write(mv), san: position.san(mv) }))
}
