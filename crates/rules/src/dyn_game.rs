//! A game whose rules are known at run time only: for protocols and referees, which handle moves as text.

use std::{any::Any, fmt};

use crate::{
    color::Color,
    error::GameError,
    game::{Game, MoveText, Outcome},
    history::GameHistory,
    kind::GameKind,
    result::GameResult,
    tactics::Tactics,
    visitor::Visitor,
};

/// A [`GameHistory`] with its type erased.
///
/// ```
/// use zeitnot_rules::{DynGame, GameKind};
///
/// let mut game = DynGame::begin(GameKind::Chess, None).unwrap();
/// let mv = game.read("e4").unwrap();
/// assert_eq!(game.san(&mv).unwrap(), "e4");
/// game.play(&mv).unwrap();
/// assert_eq!(game.moves()[0].as_str(), "e2e4");
/// ```
#[derive(Debug)]
pub struct DynGame(Box<dyn Erased>);

impl DynGame {
    /// A game that begins with this position in its own text form, or with the usual one.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn begin(kind: GameKind, position: Option<&str>) -> Result<DynGame, GameError> {
        kind.with(Start(position))
    }

    /// The game's rules.
    pub fn kind(&self) -> GameKind {
        self.0.kind()
    }

    /// The position at the start.
    pub fn root(&self) -> String {
        self.0.root()
    }

    /// The position at the start, unless it is the game's usual one.
    pub fn own_start(&self) -> Option<String> {
        self.0.own_start()
    }

    /// The game with its type; `None` if it is another game.
    pub fn history<G: Game>(&self) -> Option<&GameHistory<G>> {
        self.0.history().downcast_ref()
    }

    /// The present position.
    pub fn now(&self) -> String {
        self.0.now()
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Color {
        self.0.side_to_move()
    }

    /// The moves so far, as the game writes them.
    pub fn moves(&self) -> &[MoveText] {
        self.0.moves()
    }

    /// All legal moves, as the game writes them and as game records show them.
    pub fn legal_moves(&self) -> Vec<(MoveText, String)> {
        self.0.legal_moves()
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
    pub fn san(&self, mv: &MoveText) -> Result<String, GameError> {
        self.0.san(mv.as_str())
    }

    /// Plays a legal move.
    ///
    /// # Errors
    /// As [`DynGame::read`]; nothing is played then.
    pub fn play(&mut self, mv: &MoveText) -> Result<(), GameError> {
        self.0.play(mv.as_str())
    }

    /// Undoes all but the first moves.
    pub fn truncate(&mut self, plies: usize) {
        self.0.truncate(plies);
    }

    /// Replaces the present position, where chance had a part in the last move; returns whether it is of this game.
    pub fn amend<G: Game>(&mut self, now: G) -> bool {
        let history = self.0.history_mut().downcast_mut::<GameHistory<G>>();
        history.map(|history| history.amend(now)).is_some()
    }

    /// A new game with the same start.
    pub fn again(&self) -> DynGame {
        DynGame(self.0.again())
    }

    /// The outcome by the rules, repetition included.
    pub fn outcome(&self) -> Outcome {
        self.0.outcome()
    }

    /// The result if the game is adjudicated here: a draw, except where points decide.
    pub fn result_so_far(&self) -> GameResult {
        self.0.result_so_far()
    }

    /// The number of earlier occurrences of the present position.
    pub fn repetitions(&self) -> usize {
        self.0.repetitions()
    }

    /// Whether this side can still win by any sequence of moves.
    pub fn can_win(&self, color: Color) -> bool {
        self.0.can_win(color)
    }
}

impl<G: Game> From<G> for DynGame {
    /// A game that begins with this position.
    fn from(root: G) -> DynGame {
        DynGame(Box::new(TextHistory { history: GameHistory::new(root), moves: Vec::new() }))
    }
}

struct Start<'t>(Option<&'t str>);

impl Visitor for Start<'_> {
    type Out = Result<DynGame, GameError>;
    fn visit<G: Tactics>(self, start: G) -> Self::Out {
        Ok(match self.0 {
            Some(text) => start.parse_position(text)?.into(),
            None => start.into(),
        })
    }
}

/// The interface behind a [`DynGame`].
trait Erased: fmt::Debug + Send + Sync {
    fn kind(&self) -> GameKind;
    fn root(&self) -> String;
    fn own_start(&self) -> Option<String>;
    fn history(&self) -> &dyn Any;
    fn history_mut(&mut self) -> &mut dyn Any;
    fn now(&self) -> String;
    fn side_to_move(&self) -> Color;
    fn moves(&self) -> &[MoveText];
    fn legal_moves(&self) -> Vec<(MoveText, String)>;
    fn read(&self, text: &str) -> Result<MoveText, GameError>;
    fn san(&self, text: &str) -> Result<String, GameError>;
    fn play(&mut self, text: &str) -> Result<(), GameError>;
    fn truncate(&mut self, plies: usize);
    fn again(&self) -> Box<dyn Erased>;
    fn outcome(&self) -> Outcome;
    fn result_so_far(&self) -> GameResult;
    fn repetitions(&self) -> usize;
    fn can_win(&self, color: Color) -> bool;
}

/// A history with its moves as text.
#[derive(Debug)]
struct TextHistory<G: Game> {
    history: GameHistory<G>,
    moves: Vec<MoveText>,
}

impl<G: Game> Erased for TextHistory<G> {
    fn kind(&self) -> GameKind {
        self.history.now().kind()
    }

    fn root(&self) -> String {
        self.history.root().print()
    }

    fn own_start(&self) -> Option<String> {
        let root = self.history.root();
        Some(root.print()).filter(|fen| *fen != root.start_position().print())
    }

    fn history(&self) -> &dyn Any {
        &self.history
    }

    fn history_mut(&mut self) -> &mut dyn Any {
        &mut self.history
    }

    fn now(&self) -> String {
        self.history.now().print()
    }

    fn side_to_move(&self) -> Color {
        self.history.now().side_to_move()
    }

    fn moves(&self) -> &[MoveText] {
        &self.moves
    }

    fn legal_moves(&self) -> Vec<(MoveText, String)> {
        let now = self.history.now();
        now.moves().into_iter().map(|mv| (now.write(mv), now.san(mv))).collect()
    }

    fn read(&self, text: &str) -> Result<MoveText, GameError> {
        let now = self.history.now();
        now.read(text).map(|mv| now.write(mv))
    }

    fn san(&self, text: &str) -> Result<String, GameError> {
        let now = self.history.now();
        now.read(text).map(|mv| now.san(mv))
    }

    fn play(&mut self, text: &str) -> Result<(), GameError> {
        let now = self.history.now();
        let mv = now.read(text)?;
        self.moves.push(now.write(mv));
        self.history.play(mv);
        Ok(())
    }

    fn truncate(&mut self, plies: usize) {
        self.history.truncate(plies);
        self.moves.truncate(plies);
    }

    fn again(&self) -> Box<dyn Erased> {
        Box::new(TextHistory { history: GameHistory::new(self.history.root().clone()), moves: Vec::new() })
    }

    fn outcome(&self) -> Outcome {
        self.history.outcome()
    }

    fn result_so_far(&self) -> GameResult {
        self.history.now().leader().map_or(GameResult::Draw, GameResult::Won)
    }

    fn repetitions(&self) -> usize {
        self.history.repetitions()
    }

    fn can_win(&self, color: Color) -> bool {
        self.history.now().can_win(color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chess::Chess, game::Reason};

    #[test]
    fn every_game_begins_again_from_its_text() {
        for &kind in GameKind::ALL {
            let game = DynGame::begin(kind, None).unwrap();
            let again = DynGame::begin(kind, Some(&game.now())).unwrap();
            assert_eq!((again.now(), again.root()), (game.now(), game.root()), "{}", kind.name());
            assert_eq!((game.kind(), game.side_to_move(), game.moves()), (kind, Color::White, &[][..]));
            assert!(game.can_win(Color::White) && game.can_win(Color::Black));
            assert_eq!(
                (game.own_start(), game.history::<Chess>().is_some()),
                (None, kind == GameKind::Chess)
            );
            assert!(DynGame::begin(kind, Some("nonsense")).is_err());
        }
    }

    #[test]
    fn all_legal_moves_are_listed_and_chance_can_change_a_position() {
        let mut game = DynGame::begin(GameKind::Chess, None).unwrap();
        let moves = game.legal_moves();
        assert_eq!(moves.len(), 20);
        assert!(moves.iter().any(|(text, san)| text.as_str() == "g1f3" && san == "Nf3"));
        assert!(!game.amend(crate::tuc::Tuc::start()));
        let other = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        assert!(game.amend(Chess::parse(other).unwrap()));
        assert_eq!(game.now(), other);
    }

    #[test]
    fn moves_come_and_go() {
        let mut game = DynGame::begin(GameKind::Chess, None).unwrap();
        let played = ["g1f3", "g8f6", "f3g1", "f6g8"].map(|text| MoveText::new(text).unwrap());
        for mv in played.iter().chain(&played) {
            assert_eq!(game.outcome(), Outcome::Ongoing);
            game.play(mv).unwrap();
        }
        assert_eq!(game.outcome(), Outcome::Draw(Reason::ThreefoldRepetition));
        assert_eq!(game.repetitions(), 2);
        assert!(game.play(&played[1]).is_err());
        assert_eq!(game.moves().len(), 8);
        game.truncate(1);
        assert_eq!((game.side_to_move(), game.moves()), (Color::Black, &played[..1]));
        assert_eq!(game.now(), "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1");
        assert_eq!(game.again().now(), game.root());
        assert_eq!(game.san(&game.read("Nf6").unwrap()).unwrap(), "Nf6");
    }
}
