//! Pondering: searches while the opponent's clock runs.
//!
//! First the reply that our last search expects, for as long as a move of ours would take; then the next likely one, as
//! a short search among the others finds it, and so on. When the opponent has moved, the search of that very move, if
//! there is one, goes on as the search for our answer, and the time it has had counts. All others leave their results
//! in the transposition table and in the cache.

use tokio::sync::OwnedSemaphorePermit;

use zeitnot_engine::{Limits, time::Budget};
use zeitnot_rules::{Key, Packed};

use crate::{
    board::Board,
    context::BotContext,
    search::{self, ActiveSearch, SearchBudget, SearchUpdate},
};

/// Replies that are searched at most: others are too unlikely.
const MAX_REPLIES: usize = 4;
/// Share of the time for a move that a search for the next likely reply gets, as a divisor.
const GUESS_DIVISOR: u32 = 10;

/// The searches while the opponent's clock runs.
pub(crate) struct Ponder {
    budget: Budget,
    stage: Stage,
    /// Finished searches, each of the position after a reply.
    done: Vec<ActiveSearch>,
    /// Replies that were searched, or are.
    replies: Vec<Packed>,
    _core: OwnedSemaphorePermit,
}

enum Stage {
    /// Searches the position after a reply.
    Answering(ActiveSearch),
    /// Searches the opponent's move.
    Guessing(ActiveSearch),
    /// Nothing is left to search.
    Idle,
}

impl Ponder {
    /// Starts with the expected reply, or by searching for one. `budget`: as for our next move. Returns `None` if no
    /// core is free for it.
    pub(crate) fn start(
        board: &mut dyn Board,
        context: &BotContext,
        expected: Option<Packed>,
        budget: Budget,
    ) -> Option<Self> {
        let core = context.ponder.clone().try_acquire_owned().ok()?;
        let done = Vec::new();
        let replies = Vec::new();
        let mut ponder = Ponder { budget, stage: Stage::Idle, done, replies, _core: core };
        match expected {
            Some(reply) => ponder.answer(board, context, reply),
            None => ponder.guess(board, context),
        }
        Some(ponder)
    }

    /// Waits for an update of the current search. Cancel safe.
    pub(crate) async fn next(&mut self) -> SearchUpdate {
        match &mut self.stage {
            Stage::Answering(search) | Stage::Guessing(search) => search.next().await,
            Stage::Idle => std::future::pending().await,
        }
    }

    /// Stores the result of the search that ended, and starts the next one.
    pub(crate) fn advance(&mut self, board: &mut dyn Board, context: &BotContext) {
        match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Answering(search) => {
                search.store(context, self.budget);
                self.done.push(search);
                self.guess(board, context);
            }
            Stage::Guessing(search) => self.answer(board, context, search.best().mv),
            Stage::Idle => {}
        }
    }

    /// Returns the search of the position that the opponent's move led to, if there is one.
    pub(crate) fn hit(self, key: Key) -> Option<ActiveSearch> {
        let current = match self.stage {
            Stage::Answering(search) => Some(search),
            Stage::Guessing(_) | Stage::Idle => None,
        };
        current.into_iter().chain(self.done).find(|search| search.key() == key)
    }

    /// Searches our answer to this reply.
    fn answer(&mut self, board: &mut dyn Board, context: &BotContext, reply: Packed) {
        self.replies.push(reply);
        match board.search_reply(reply, limits(context), starting_now(self.budget)) {
            Some(search) => self.stage = Stage::Answering(search),
            // The game is over after it, or there is only one answer.
            None => self.guess(board, context),
        }
    }

    /// Searches for the likeliest reply among those not searched yet.
    fn guess(&mut self, board: &mut dyn Board, context: &BotContext) {
        let moves = board.legal_moves();
        let others: Vec<Packed> = moves.into_iter().filter(|mv| !self.replies.contains(mv)).collect();
        if others.is_empty() || self.replies.len() >= MAX_REPLIES {
            self.stage = Stage::Idle;
            return;
        }
        let budget = Budget::exactly(self.budget.soft / GUESS_DIVISOR);
        let fallback = others.first().copied();
        let limits = Limits { root_moves: others, ..limits(context) };
        self.stage = Stage::Guessing(board.search(limits, fallback, starting_now(budget)));
    }
}

/// Limits without a deadline: the soft limit or the opponent's move ends the search.
fn limits(context: &BotContext) -> Limits {
    Limits { threads: Some(context.load.threads()), ..Limits::default() }
}

fn starting_now(budget: Budget) -> SearchBudget {
    SearchBudget { started_at: search::now(), budget }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{sync::mpsc, time::timeout};

    use zeitnot_engine as engine;
    use zeitnot_engine::EngineFactory;

    use super::*;
    use crate::{board::tests::chess, config::Config};

    fn context(cores: usize) -> BotContext {
        let small = engine::Config { hash_mib: 1.try_into().unwrap(), ..engine::Config::default() };
        let (status, _) = mpsc::channel(1);
        let config = Config { ponder: cores, ..Config::default() };
        BotContext::new(config, EngineFactory::new(&small).unwrap(), status)
    }

    /// The board after 1.e4.
    fn board() -> impl Board {
        chess("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &["e2e4"])
    }

    fn pack(board: &dyn Board, text: &str) -> Option<Packed> {
        board.legal_moves().into_iter().find(|&mv| board.write(mv).unwrap().text.as_str() == text)
    }

    /// The key of the position after this reply.
    fn key_after(reply: &str) -> Key {
        let mut board = board();
        board.play(reply).unwrap();
        board.position().key
    }

    const BUDGET: Budget = Budget { soft: Duration::from_millis(20), hard: Duration::from_millis(80) };

    #[test]
    async fn the_expected_reply_comes_first_then_others_and_all_searches_are_kept() {
        let context = context(1);
        let mut board = board();
        let expected = pack(&board, "e7e5");
        let mut ponder = Ponder::start(&mut board, &context, expected, BUDGET).unwrap();
        while !matches!(ponder.stage, Stage::Idle) {
            if let SearchUpdate::Ended(_) = timeout(Duration::from_secs(20), ponder.next()).await.unwrap() {
                ponder.advance(&mut board, &context);
            }
        }
        assert_eq!((ponder.replies.len(), ponder.replies.first().copied()), (MAX_REPLIES, expected));
        let last = board.write(ponder.replies[MAX_REPLIES - 1]).unwrap();
        let search = ponder.hit(key_after(last.text.as_str())).unwrap();
        assert!(search.has_move() && search.result().is_some());
    }

    #[test]
    async fn an_unexpected_reply_is_a_miss() {
        let context = context(1);
        let mut board = board();
        let expected = pack(&board, "e7e5");
        let ponder = Ponder::start(&mut board, &context, expected, BUDGET).unwrap();
        assert!(ponder.hit(key_after("h7h5")).is_none());
    }

    #[test]
    async fn no_more_games_ponder_than_there_are_cores_for_it() {
        let context = context(1);
        let mut board = board();
        let mut start = || Ponder::start(&mut board, &context, None, BUDGET);
        let first = start();
        assert!(first.is_some() && start().is_none());
        drop(first);
        assert!(start().is_some());
    }
}
