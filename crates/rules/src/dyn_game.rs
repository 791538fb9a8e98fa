//! A line of any game, its type erased: for protocols and referees, who speak of moves as text.

use std::fmt;

use super::{Color, Game, GameError, GameHistory, GameKind, MoveText, Outcome, Visitor};
use crate::Tactics;

/// A [`GameHistory`] of a game that only its text tells of.
///
/// ```
/// use zeitnot_rules::{DynGame, GameKind};
///
/// let mut line = DynGame::begin(GameKind::Chess, None).unwrap();
/// let mv = line.read("e4").unwrap();
/// assert_eq!(line.record(&mv).unwrap(), "e4");
/// line.play(&mv).unwrap();
/// assert_eq!(line.moves()[0].as_str(), "e2e4");
/// ```
#[derive(Debug)]
pub struct DynGame(Box<dyn Erased>);

impl DynGame {
    /// A game that begins here, in its own text form; `None`: at the usual start.
    ///
    /// # Errors
    /// What is wrong with the position.
    pub fn begin(game: GameKind, position: Option<&str>) -> Result<DynGame, GameError> {
        game.with(Beginning(position))
    }

    /// Where it began.
    pub fn root(&self) -> String {
        self.0.root()
    }

    /// Where it stands.
    pub fn now(&self) -> String {
        self.0.now()
    }

    /// Who is to move?
    pub fn side(&self) -> Color {
        self.0.side()
    }

    /// The moves so far, as the game writes them.
    pub fn moves(&self) -> &[MoveText] {
        self.0.moves()
    }

    /// Reads a legal move in any notation that the game knows, and writes it as the game does.
    ///
    /// # Errors
    /// [`GameError::Move`] if it is unreadable or not legal here.
    pub fn read(&self, text: &str) -> Result<MoveText, GameError> {
        self.0.read(text)
    }

    /// A legal move as game records show it.
    ///
    /// # Errors
    /// As [`DynGame::read`].
    pub fn record(&self, mv: &MoveText) -> Result<String, GameError> {
        self.0.record(mv.as_str())
    }

    /// Plays a legal move.
    ///
    /// # Errors
    /// As [`DynGame::read`]; nothing is played then.
    pub fn play(&mut self, mv: &MoveText) -> Result<(), GameError> {
        self.0.play(mv.as_str())
    }

    /// The same game with its first moves only.
    pub fn truncate(&mut self, plies: usize) {
        self.0.truncate(plies);
    }

    /// The same beginning, and no move yet.
    pub fn again(&self) -> DynGame {
        DynGame(self.0.again())
    }

    /// What the rules say of the game, repetition included.
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }

    /// How often the present position stood on the board before.
    pub fn repetitions(&self) -> usize {
        self.0.repetitions()
    }

    /// Can this side still win, by any play at all?
    pub fn can_win(&self, side: Color) -> bool {
        self.0.can_win(side)
    }
}

impl<G: Game> From<G> for DynGame {
    /// A game that begins here.
    fn from(root: G) -> DynGame {
        DynGame(Box::new(Told { line: GameHistory::new(root), moves: Vec::new() }))
    }
}

struct Beginning<'t>(Option<&'t str>);

impl Visitor for Beginning<'_> {
    type Out = Result<DynGame, GameError>;
    fn visit<G: Tactics>(self) -> Self::Out {
        Ok(self.0.map_or_else(|| Ok(G::start()), G::parse)?.into())
    }
}

/// What stands behind an [`DynGame`].
trait Erased: fmt::Debug + Send + Sync {
    fn root(&self) -> String;
    fn now(&self) -> String;
    fn side(&self) -> Color;
    fn moves(&self) -> &[MoveText];
    fn read(&self, text: &str) -> Result<MoveText, GameError>;
    fn record(&self, text: &str) -> Result<String, GameError>;
    fn play(&mut self, text: &str) -> Result<(), GameError>;
    fn truncate(&mut self, plies: usize);
    fn again(&self) -> Box<dyn Erased>;
    fn outcome(&self) -> Outcome;
    fn repetitions(&self) -> usize;
    fn can_win(&self, side: Color) -> bool;
}

/// A line with its moves as text.
#[derive(Debug)]
struct Told<G: Game> {
    line: GameHistory<G>,
    moves: Vec<MoveText>,
}

impl<G: Game> Erased for Told<G> {
    fn root(&self) -> String {
        self.line.root().print()
    }

    fn now(&self) -> String {
        self.line.now().print()
    }

    fn side(&self) -> Color {
        self.line.now().side()
    }

    fn moves(&self) -> &[MoveText] {
        &self.moves
    }

    fn read(&self, text: &str) -> Result<MoveText, GameError> {
        let now = self.line.now();
        now.read(text).map(|mv| now.write(mv))
    }

    fn record(&self, text: &str) -> Result<String, GameError> {
        let now = self.line.now();
        now.read(text).map(|mv| now.record(mv))
    }

    fn play(&mut self, text: &str) -> Result<(), GameError> {
        let now = self.line.now();
        let mv = now.read(text)?;
        self.moves.push(now.write(mv));
        self.line.play(mv);
        Ok(())
    }

    fn truncate(&mut self, plies: usize) {
        let kept = self.line.moves().iter().take(plies).copied().collect::<Vec<_>>();
        self.line = GameHistory::new(self.line.root().clone());
        kept.into_iter().for_each(|mv| self.line.play(mv));
        self.moves.truncate(plies);
    }

    fn again(&self) -> Box<dyn Erased> {
        Box::new(Told { line: GameHistory::new(self.line.root().clone()), moves: Vec::new() })
    }

    fn outcome(&self) -> Outcome {
        self.line.outcome()
    }

    fn repetitions(&self) -> usize {
        self.line.repetitions()
    }

    fn can_win(&self, side: Color) -> bool {
        self.line.now().can_win(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn every_game_is_told_by_its_text() {
        for &game in GameKind::ALL {
            let line = DynGame::begin(game, None).unwrap();
            let again = DynGame::begin(game, Some(&line.now())).unwrap();
            assert_eq!((again.now(), again.root()), (line.now(), line.root()), "{}", game.name());
            assert_eq!((line.side(), line.moves()), (Color::White, &[][..]));
            assert!(line.can_win(Color::White) && line.can_win(Color::Black));
            assert!(DynGame::begin(game, Some("nonsense")).is_err());
        }
    }

    #[test]
    fn moves_come_and_go() {
        let mut line = DynGame::begin(GameKind::Chess, None).unwrap();
        let played = ["g1f3", "g8f6", "f3g1", "f6g8"].map(|text| MoveText::new(text).unwrap());
        for mv in played.iter().chain(&played) {
            assert_eq!(line.outcome(), Outcome::Ongoing);
            line.play(mv).unwrap();
        }
        assert_eq!(line.outcome(), Outcome::Draw(Reason::ThreefoldRepetition));
        assert_eq!(line.repetitions(), 2);
        assert!(line.play(&played[1]).is_err());
        assert_eq!(line.moves().len(), 8);
        line.truncate(1);
        assert_eq!((line.side(), line.moves()), (Color::Black, &played[..1]));
        assert_eq!(line.now(), "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1");
        assert_eq!(line.again().now(), line.root());
        assert_eq!(line.record(&line.read("Nf6").unwrap()).unwrap(), "Nf6");
    }
}
