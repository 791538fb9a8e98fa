//! Board of one game without its type: position, moves, and searches.
//!
//! Moves are [`Packed`] or text on this side, so that the player is compiled once for all games.

use std::time::Duration;

use zeitnot_engine::{Best, EngineFactory, Limits, Playable, Score, book::Book, driver::SearchThread};
use zeitnot_rules::{Color, GameError, GameHistory, GameKind, Key, MoveText, Moves, Packed};
use zeitnot_seat::{EvalScore, Suggestion, Suggestions};

use crate::{
    cache::{Cache, CacheAnswer},
    search::{ActiveSearch, SearchBudget},
    syzygy::SyzygyTables,
};

/// Facts about the current position.
#[derive(Copy, Clone)]
pub(crate) struct Position {
    pub game: GameKind,
    /// Its key in tables of search results.
    pub key: Key,
    pub to_move: Color,
    /// Plies played.
    pub plies: usize,
    /// Pieces on the board; 0 where the game does not count them.
    pub piece_count: usize,
    /// Whether the game is decided in part by chance.
    pub has_chance: bool,
}

/// A legal move in all notations.
pub(crate) struct MoveNotation {
    pub mv: Packed,
    /// In coordinates.
    pub text: MoveText,
    /// As game records write it.
    pub san: String,
}

/// Result of a comparison with the server's board.
pub(crate) enum BoardChange {
    /// The boards are equal, or differ by chance only, and the server's was taken over.
    Expected,
    /// The server's board was taken over, without a history. This was ours.
    Replaced(String),
}

pub(crate) trait Board: Send {
    fn position(&self) -> Position;
    fn fen(&self) -> String;
    fn is_over(&self) -> bool;
    fn legal_moves(&self) -> Moves<Packed>;
    /// Writes a move; `None` if it is not legal.
    fn write(&self, mv: Packed) -> Option<MoveNotation>;
    /// Returns a legal move without a search.
    fn fallback_move(&self) -> Packed;

    fn play(&mut self, text: &str) -> Result<MoveNotation, GameError>;
    fn take_back(&mut self, plies: usize);
    /// Compares the position with the server's; where they differ, the server is right.
    fn set_position(&mut self, text: &str) -> Result<BoardChange, GameError>;

    /// Looks the position up in the cache. `nodes`: what a search would have in the time for this move, which is
    /// `time`.
    fn look_up(&self, cache: &Cache, nodes: u64, time: Duration) -> CacheAnswer;
    fn book_move(&self, book: &Book) -> Option<Packed>;
    /// Probes tablebases for the position; `None` if they cannot have it.
    fn tablebase_moves(&self, tables: &SyzygyTables) -> Option<Suggestions>;
    /// Returns the suggestions that are legal and do not bring a winning side nearer to a draw.
    fn playable(&self, suggestions: &[Suggestion]) -> Vec<Best>;

    /// Starts a search of the current position. `fallback` is the answer until a better move is found; by default
    /// the board's.
    fn search(&mut self, limits: Limits, fallback: Option<Packed>, budget: SearchBudget) -> ActiveSearch;
    /// Starts a search of the position after a reply; `None` if there is nothing to decide in it.
    fn search_reply(&mut self, reply: Packed, limits: Limits, budget: SearchBudget) -> Option<ActiveSearch>;
}

pub(crate) struct TypedBoard<G: Playable> {
    history: GameHistory<G>,
    /// Plies before the history: those of boards that were replaced, and moves that we missed.
    plies_before: usize,
    thread: SearchThread<G>,
    factory: EngineFactory,
}

impl<G: Playable> TypedBoard<G> {
    /// Sets up a board, and starts its search thread: an external engine may take long.
    pub(crate) fn new(root: G, factory: EngineFactory) -> Self {
        let thread = SearchThread::started(factory.clone());
        TypedBoard { history: GameHistory::new(root), plies_before: 0, thread, factory }
    }

    fn now(&self) -> &G {
        self.history.now()
    }

    fn notation(&self, mv: G::Move) -> MoveNotation {
        let now = self.now();
        MoveNotation { mv: now.pack(mv), text: now.write(mv), san: now.san(mv) }
    }

    fn start_search(
        &mut self,
        history: GameHistory<G>,
        limits: Limits,
        fallback: Option<Packed>,
        budget: SearchBudget,
    ) -> ActiveSearch {
        let fallback = fallback.unwrap_or_else(|| self.factory.fallback_move(history.now()));
        ActiveSearch::start(&mut self.thread, history, limits, fallback, budget)
    }
}

impl<G: Playable> Board for TypedBoard<G> {
    fn position(&self) -> Position {
        let now = self.now();
        Position {
            game: now.kind(),
            key: now.table_key(),
            to_move: now.side_to_move(),
            plies: self.plies_before + self.history.moves().len(),
            piece_count: now.piece_count(),
            has_chance: G::HAS_CHANCE,
        }
    }

    fn fen(&self) -> String {
        self.now().print()
    }

    fn is_over(&self) -> bool {
        self.history.outcome().is_over()
    }

    fn legal_moves(&self) -> Moves<Packed> {
        self.now().moves().into_iter().map(|mv| self.now().pack(mv)).collect()
    }

    fn write(&self, mv: Packed) -> Option<MoveNotation> {
        self.now().unpack(mv).map(|mv| self.notation(mv))
    }

    fn fallback_move(&self) -> Packed {
        self.factory.fallback_move(self.now())
    }

    fn play(&mut self, text: &str) -> Result<MoveNotation, GameError> {
        let mv = self.now().read(text)?;
        let notation = self.notation(mv);
        self.history.play(mv);
        Ok(notation)
    }

    fn take_back(&mut self, plies: usize) {
        self.history.take_back(plies);
    }

    fn set_position(&mut self, text: &str) -> Result<BoardChange, GameError> {
        let board = self.now().parse_position(text)?;
        if board.key() == self.now().key() {
            return Ok(BoardChange::Expected);
        }
        // A board of the other side to move is at least one move on.
        self.plies_before += usize::from(board.side_to_move() != self.now().side_to_move());
        if G::HAS_CHANCE {
            self.history.amend(board);
            return Ok(BoardChange::Expected);
        }
        let ours = self.fen();
        self.plies_before += self.history.moves().len();
        self.history = GameHistory::new(board);
        Ok(BoardChange::Replaced(ours))
    }

    fn look_up(&self, cache: &Cache, nodes: u64, time: Duration) -> CacheAnswer {
        cache.look_up(&self.history, nodes, time)
    }

    fn book_move(&self, book: &Book) -> Option<Packed> {
        let now = self.now();
        let mv = book.pick(now.book_key()?, self.history.moves().len(), |text| now.read(text).ok())?;
        Some(now.pack(mv))
    }

    fn tablebase_moves(&self, tables: &SyzygyTables) -> Option<Suggestions> {
        tables.look_up(&self.history)
    }

    fn playable(&self, suggestions: &[Suggestion]) -> Vec<Best> {
        let now = self.now();
        let best = |suggestion: &Suggestion| {
            let mv = now.read(&suggestion.mv).ok()?;
            let eval = suggestion.eval;
            let score = eval.map_or(Score::ZERO, |eval| score(eval.score));
            if score > Score::ZERO && self.history.leads_back(mv) {
                return None;
            }
            Some(Best { mv: now.pack(mv), score, depth: eval.map_or(0, |eval| eval.depth.max(1)) })
        };
        suggestions.iter().filter_map(best).collect()
    }

    fn search(&mut self, limits: Limits, fallback: Option<Packed>, budget: SearchBudget) -> ActiveSearch {
        self.start_search(self.history.clone(), limits, fallback, budget)
    }

    fn search_reply(&mut self, reply: Packed, limits: Limits, budget: SearchBudget) -> Option<ActiveSearch> {
        let mut history = self.history.clone();
        history.play(self.now().unpack(reply)?);
        let has_choice = history.now().moves().len() > 1;
        has_choice.then(|| self.start_search(history, limits, None, budget))
    }
}

/// Longer mates are cut to this.
const MAX_MATE_MOVES: u16 = zeitnot_engine::score::MAX_PLY / 2;

fn score(score: EvalScore) -> Score {
    match score {
        EvalScore::Centipawns(cp) => Score::cp(cp),
        EvalScore::Mate(moves @ 1..) => Score::mate_in(moves.unsigned_abs().min(MAX_MATE_MOVES) * 2 - 1),
        EvalScore::Mate(moves) => Score::mated_in(moves.unsigned_abs().min(MAX_MATE_MOVES) * 2),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use zeitnot_engine as engine;
    use zeitnot_rules::chess::Chess;
    use zeitnot_seat::Eval;

    use super::*;

    /// A board of chess with a small engine.
    pub(crate) fn chess(fen: &str, moves: &[&str]) -> TypedBoard<Chess> {
        let config = engine::Config { hash_mib: 1.try_into().unwrap(), ..engine::Config::default() };
        let factory = EngineFactory::new(&config).unwrap();
        let mut board = TypedBoard::new(Chess::parse(fen).unwrap(), factory);
        moves.iter().for_each(|text| drop(board.play(text).unwrap()));
        board
    }

    fn suggestion(mv: &str, score: Option<EvalScore>) -> Suggestion {
        Suggestion { mv: mv.into(), eval: score.map(|score| Eval { score, depth: 3 }) }
    }

    #[test]
    fn illegal_suggestions_are_skipped() {
        let board = chess("4k3/8/8/8/8/8/8/4K2R w K - 0 1", &[]);
        let all = [suggestion("e1e9", None), suggestion("a1a2", None), suggestion("e1h1", None)];
        let playable = board.playable(&all);
        assert_eq!(playable.len(), 1);
        let best = playable[0];
        assert_eq!(board.write(best.mv).unwrap().text.as_str(), "e1g1");
        assert_eq!((best.score, best.depth), (Score::ZERO, 0), "without an evaluation");
        assert_eq!(board.playable(&all[..2]), []);
        let score = |score| board.playable(&[suggestion("h1h8", Some(score))])[0].score;
        assert_eq!(score(EvalScore::Mate(3)), Score::mate_in(5));
        assert!(score(EvalScore::Mate(i16::MIN)).is_mate());
    }

    #[test]
    fn a_winning_side_does_not_repeat_positions() {
        let board = chess("7k/8/8/8/8/8/R7/K7 w - - 0 1", &["a2a3", "h8g8", "a3a2", "g8h8"]);
        for (cp, expected) in [(500, "a2a7"), (0, "a2a3")] {
            let score = Some(EvalScore::Centipawns(cp));
            let best = board.playable(&[suggestion("a2a3", score), suggestion("a2a7", score)])[0];
            assert_eq!(board.write(best.mv).unwrap().text.as_str(), expected);
        }
    }
}
