//! A game and its search thread with the type of the game erased, so that the console is compiled once.

use std::{sync::Arc, time::Instant};

use zeitnot_rules::{Color, Diagram, Game, GameError, GameHistory, GameKind, Outcome, Packed, divide};
use zeitnot_wire::uci::Info;

use crate::{
    book::Book,
    driver::{SearchEvent, SearchHandle, SearchRequest, SearchThread},
    eval::Part,
    factory::{EngineFactory, PlayVisitor, Playable, with_game},
    limits::{Limits, StopFlag},
    score::Score,
    thinker::Progress,
    time::Budget,
};

/// See the module's comment. Moves are packed, as in the decision slot.
pub(super) trait Board {
    /// Sets up a position; one that is illegal, or that an illegal move leads to, changes nothing.
    fn set_up(&mut self, root: Option<&str>, chess960: bool, moves: &[String]) -> Result<(), GameError>;

    /// Replaces the thinker, without what it has learned.
    fn reset(&mut self, factory: EngineFactory);

    /// The position for people, as Stockfish's command `d` prints it.
    fn diagram(&self) -> String;

    /// The parts of the static evaluation as a table for people.
    fn evaluation(&self) -> String;

    /// Counts the leaves below each root move, which is written, until the flag is raised.
    fn divide(&self, depth: u32, stop: Arc<StopFlag>) -> Counts;

    fn to_move(&self) -> Color;

    /// The outcome if there is no legal move.
    fn final_outcome(&self) -> Option<Outcome>;

    /// Number of pieces in a game of chess, for its win, draw and loss statistics.
    fn chess_pieces(&self) -> Option<usize>;

    fn read(&self, text: &str) -> Result<Packed, GameError>;

    fn write(&self, mv: Packed) -> Option<String>;

    fn book_move(&self, book: &Book) -> Option<String>;

    fn fallback_move(&self) -> Packed;

    fn search(&mut self, order: SearchOrder, observe: Observe) -> SearchHandle;
}

/// A [`SearchRequest`] without the game.
pub(super) struct SearchOrder {
    pub limits: Limits,
    pub fallback: Packed,
    pub started_at: Instant,
    pub budget: Option<Budget>,
}

/// A [`SearchEvent`] without the type of the game.
pub(super) enum Event {
    /// An iteration, with the index of its variation and its score.
    Progress(u16, Score, Info),
    Ended,
}

/// Moves, and the number of leaves below each.
pub(super) type Counts = Box<dyn Iterator<Item = (String, u64)> + Send>;

pub(super) type Observe = Box<dyn Fn(Event) + Send + Sync>;

/// Creates the board of a game at its usual start.
pub(super) fn open(game: GameKind, factory: &EngineFactory, chess960: bool) -> Box<dyn Board> {
    let mut board = with_game(game, Open(factory));
    // The usual start is a position of every game, also where castling is written as in Chess960.
    let _ = board.set_up(None, chess960, &[]);
    board
}

struct Open<'f>(&'f EngineFactory);

impl PlayVisitor for Open<'_> {
    type Out = Box<dyn Board>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let factory = self.0.clone();
        let thread = SearchThread::new(factory.clone());
        Box::new(Typed { game: GameHistory::new(start), thread, factory })
    }
}

struct Typed<G: Playable> {
    game: GameHistory<G>,
    thread: SearchThread<G>,
    factory: EngineFactory,
}

impl<G: Playable> Board for Typed<G> {
    fn set_up(&mut self, root: Option<&str>, chess960: bool, moves: &[String]) -> Result<(), GameError> {
        let now = self.game.now();
        let root = match (root, chess960) {
            (None, false) => now.start_position(),
            (None, true) => now.parse_chess960_position(&now.start_position().print())?,
            (Some(text), false) => now.parse_position(text)?,
            (Some(text), true) => now.parse_chess960_position(text)?,
        };
        let mut game = GameHistory::new(root);
        for text in moves {
            game.play(game.now().read(text)?);
        }
        self.game = game;
        Ok(())
    }

    fn reset(&mut self, factory: EngineFactory) {
        self.thread = SearchThread::new(factory.clone());
        self.factory = factory;
    }

    fn diagram(&self) -> String {
        let now = self.game.now();
        let fen = now.print();
        // Every game prints what its diagram reads; a test says so.
        let board =
            Diagram::read(now.kind(), &fen).map_or_else(String::new, |diagram| format!("\n{diagram}\n\n"));
        let (key, checkers) = (now.key().0, now.checkers().join(" "));
        format!("{board}Fen: {fen}\nSide: {}\nKey: {key:016X}\nCheckers: {checkers}", now.side_to_move())
    }

    fn evaluation(&self) -> String {
        let now = self.game.now();
        let parts = self.factory.evaluation_parts(now);
        let sum = ("Final evaluation", parts.iter().map(|part| part.1).sum());
        let pawns = |centipawns: i32| f64::from(centipawns) / 100.0;
        let row = |(name, white): Part| {
            let ours = if now.side_to_move() == Color::White { white } else { -white };
            format!("\n{name:<24}{:>+8.2}{:>+14.2}", pawns(white), pawns(ours))
        };
        let rows: String = parts.into_iter().chain([sum]).map(row).collect();
        format!("{:<24}{:>8}{:>14}{rows}", "Evaluation in pawns", "White", "side to move")
    }

    fn divide(&self, depth: u32, stop: Arc<StopFlag>) -> Counts {
        let root = self.game.now().clone();
        let counts = divide(root.clone(), depth, move || stop.is_raised());
        Box::new(counts.map(move |(mv, nodes)| (root.write(mv).to_string(), nodes)))
    }

    fn to_move(&self) -> Color {
        self.game.now().side_to_move()
    }

    fn final_outcome(&self) -> Option<Outcome> {
        let now = self.game.now();
        now.moves().is_empty().then(|| now.outcome())
    }

    fn chess_pieces(&self) -> Option<usize> {
        let now = self.game.now();
        (now.kind() == GameKind::Chess).then(|| now.piece_count())
    }

    fn read(&self, text: &str) -> Result<Packed, GameError> {
        let now = self.game.now();
        now.read(text).map(|mv| now.pack(mv))
    }

    fn write(&self, mv: Packed) -> Option<String> {
        let now = self.game.now();
        now.unpack(mv).map(|mv| now.write(mv).to_string())
    }

    fn book_move(&self, book: &Book) -> Option<String> {
        let now = self.game.now();
        // The start of a variant has the key of the same position of chess.
        if now.kind() != GameKind::Chess {
            return None;
        }
        let mv = book.pick(now.book_key()?, self.game.moves().len(), |text| now.read(text).ok())?;
        Some(now.write(mv).to_string())
    }

    fn fallback_move(&self) -> Packed {
        self.factory.fallback_move(self.game.now())
    }

    fn search(&mut self, order: SearchOrder, observe: Observe) -> SearchHandle {
        let SearchOrder { limits, fallback, started_at, budget } = order;
        let root = self.game.now().clone();
        let request = SearchRequest { game: self.game.clone(), limits, fallback, started_at, budget };
        self.thread.search(request, move |event| {
            observe(match event {
                SearchEvent::Progress(progress) => {
                    Event::Progress(progress.multipv, progress.score, info(&root, progress))
                }
                SearchEvent::Ended(_) => Event::Ended,
            });
        })
    }
}

fn info<G: Game>(root: &G, progress: &Progress<G>) -> Info {
    let mut position = root.clone();
    let pv = progress.pv.iter().map(|&mv| {
        let text = position.write(mv).to_string();
        position.play(mv);
        text
    });
    Info {
        pv: pv.collect(),
        depth: progress.depth,
        seldepth: progress.seldepth,
        multipv: None,
        score: progress.score.into(),
        wdl: None,
        nodes: progress.nodes,
        time: progress.time,
        hashfull: progress.hashfull,
        tbhits: progress.tb_hits,
    }
}
