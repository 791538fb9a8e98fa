//! Thinking on the opponent's time: what will they play, and what do we answer then?
//!
//! First the reply that our last search expects, for as long as a move of ours would take; then the next
//! likely one, as a short search among the others finds it, and so on. When the opponent has moved, the
//! thought about that very move, if there is one, goes on as the search for our answer, and the time it
//! has had counts. All others leave what they found in the table and in the cache.

use tokio::sync::OwnedSemaphorePermit;

use zeitnot_engine::time::Budget;
use zeitnot_engine::{Limits, Playable, driver::SearchThread};
use zeitnot_rules::{GameHistory, Packed};

use super::{
    Equipment,
    thought::{Thought, Word, now},
};

/// So many replies are thought about, at most: the rest is too unlikely.
const REPLIES: usize = 4;
/// A search for the next likely reply takes this part of the time for a move.
const GUESS: u32 = 10;

/// Our thoughts while the opponent's clock runs.
pub(super) struct Ponder<G: Playable> {
    /// Where the opponent is to move.
    line: GameHistory<G>,
    budget: Budget,
    at: Stage<G>,
    /// Thoughts that had their time, each about the position behind a reply.
    done: Vec<Thought<G>>,
    /// What was thought about, or is.
    replies: Vec<Packed>,
    /// A core that may be used for this.
    _core: OwnedSemaphorePermit,
}

enum Stage<G: Playable> {
    /// About the position behind a reply.
    Answering(Thought<G>),
    /// About the opponent's move.
    Guessing(Thought<G>),
    /// Nothing is left to think about.
    Idle,
}

impl<G: Playable> Ponder<G> {
    /// Begins with the expected reply, or by looking for one. `budget`: as for the move that comes then.
    /// `None` where no core may be used for it.
    pub fn begin(
        thread: &mut SearchThread<G>,
        equipment: &Equipment,
        line: GameHistory<G>,
        expected: Option<G::Move>,
        budget: Budget,
    ) -> Option<Self> {
        let core = equipment.ponder.clone().try_acquire_owned().ok()?;
        let mut ponder =
            Ponder { line, budget, at: Stage::Idle, done: Vec::new(), replies: Vec::new(), _core: core };
        match expected {
            Some(reply) => ponder.answer(thread, equipment, reply),
            None => ponder.guess(thread, equipment),
        }
        Some(ponder)
    }

    /// The time that each thought gets.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Waits until a thought has had its time. Cancel safe.
    pub async fn hear(&mut self) -> Word {
        match &mut self.at {
            Stage::Answering(thought) | Stage::Guessing(thought) => thought.hear().await,
            Stage::Idle => std::future::pending().await,
        }
    }

    /// A thought has had its time: gives it back, to be learned from, and begins the next.
    pub fn next(&mut self, thread: &mut SearchThread<G>, equipment: &Equipment) -> Option<&Thought<G>> {
        match std::mem::replace(&mut self.at, Stage::Idle) {
            Stage::Answering(thought) => {
                self.done.push(thought);
                if self.replies.len() < REPLIES {
                    self.guess(thread, equipment);
                }
                return self.done.last();
            }
            Stage::Guessing(thought) => {
                if let Some(reply) = self.line.now().unpack(thought.best().mv) {
                    self.answer(thread, equipment, reply);
                }
            }
            Stage::Idle => {}
        }
        None
    }

    /// The opponent has moved, and this stands on the board: the thought about it, if there is one.
    pub fn hit(self, line: &GameHistory<G>) -> Option<Thought<G>> {
        let Ponder { at, done, .. } = self;
        let current = match at {
            Stage::Answering(thought) => Some(thought),
            Stage::Guessing(_) | Stage::Idle => None,
        };
        let is_it = |thought: &Thought<G>| {
            thought.line.now().key() == line.now().key() && thought.line.keys() == line.keys()
        };
        current.into_iter().chain(done).find(is_it)
    }

    /// Thinks about our answer to this reply.
    fn answer(&mut self, thread: &mut SearchThread<G>, equipment: &Equipment, reply: G::Move) {
        self.replies.push(self.line.now().pack(reply));
        let mut line = self.line.clone();
        line.play(reply);
        if line.now().moves().len() > 1 {
            self.at = Stage::Answering(self.think(thread, equipment, line, Vec::new(), self.budget));
        } else {
            // The game is over then, or there is only one answer: nothing to think about.
            self.guess(thread, equipment);
        }
    }

    /// Looks for the likeliest reply among those not thought about.
    fn guess(&mut self, thread: &mut SearchThread<G>, equipment: &Equipment) {
        let now = self.line.now();
        let moves = now.moves().into_iter().map(|mv| now.pack(mv));
        let others: Vec<Packed> = moves.filter(|mv| !self.replies.contains(mv)).collect();
        if others.is_empty() || self.replies.len() >= REPLIES {
            self.at = Stage::Idle;
            return;
        }
        let budget = Budget::exactly(self.budget.soft / GUESS);
        self.at = Stage::Guessing(self.think(thread, equipment, self.line.clone(), others, budget));
    }

    fn think(
        &self,
        thread: &mut SearchThread<G>,
        equipment: &Equipment,
        line: GameHistory<G>,
        root_moves: Vec<Packed>,
        budget: Budget,
    ) -> Thought<G> {
        let first =
            root_moves.first().copied().unwrap_or_else(|| equipment.factory.fallback_move(line.now()));
        // It ends by its pace, or when the opponent moves; there is no deadline.
        let limits = Limits { threads: Some(equipment.load.threads()), root_moves, ..Limits::default() };
        Thought::begin(thread, line, limits, first, Some((now(), budget)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{sync::mpsc, time::timeout};

    use super::*;
    use crate::Config;
    use zeitnot_engine as engine;
    use zeitnot_engine::EngineFactory;
    use zeitnot_rules::{Game, chess::Chess};

    fn equipment(cores: usize) -> Equipment {
        let small = engine::Config { hash_mib: 1.try_into().unwrap(), ..engine::Config::default() };
        let (news, _) = mpsc::channel(1);
        Equipment::new(
            Config { ponder: cores, ..Config::default() },
            EngineFactory::new(&small).unwrap(),
            news,
        )
    }

    fn line(moves: &[&str]) -> GameHistory<Chess> {
        let mut line = GameHistory::new(Chess::start());
        moves.iter().for_each(|text| line.play(line.now().read(text).unwrap()));
        line
    }

    const BUDGET: Budget = Budget { soft: Duration::from_millis(20), hard: Duration::from_millis(80) };

    /// Thinks until nothing is left to think about; tells the replies.
    async fn exhaust(
        ponder: &mut Ponder<Chess>,
        thread: &mut SearchThread<Chess>,
        equipment: &Equipment,
    ) -> Vec<String> {
        while !matches!(ponder.at, Stage::Idle) {
            if let Word::End(_) = timeout(Duration::from_secs(20), ponder.hear()).await.unwrap() {
                ponder.next(thread, equipment);
            }
        }
        let now = ponder.line.now();
        ponder.replies.iter().map(|&reply| now.write(now.unpack(reply).unwrap()).to_string()).collect()
    }

    #[tokio::test]
    async fn the_expected_reply_comes_first_then_others_and_all_thoughts_are_kept() {
        let equipment = equipment(1);
        let mut thread = SearchThread::new(equipment.factory.clone());
        let before = line(&["e2e4"]);
        let expected = before.now().read("e7e5").ok();
        let mut ponder = Ponder::begin(&mut thread, &equipment, before, expected, BUDGET).unwrap();
        let replies = exhaust(&mut ponder, &mut thread, &equipment).await;
        assert_eq!((replies.len(), replies[0].as_str()), (REPLIES, "e7e5"));
        let last = replies[REPLIES - 1].as_str();
        let thought = ponder.hit(&line(&["e2e4", last])).unwrap();
        assert!(thought.is_of_use() && thought.opinion().is_some());
    }

    #[tokio::test]
    async fn a_reply_that_nobody_thought_of_is_a_miss() {
        let equipment = equipment(1);
        let mut thread = SearchThread::new(equipment.factory.clone());
        let before = line(&["e2e4"]);
        let expected = before.now().read("e7e5").ok();
        let ponder = Ponder::begin(&mut thread, &equipment, before, expected, BUDGET).unwrap();
        assert!(ponder.hit(&line(&["e2e4", "h7h5"])).is_none());
    }

    #[tokio::test]
    async fn no_more_games_think_than_there_are_cores_for_it() {
        let equipment = equipment(1);
        let mut thread = SearchThread::new(equipment.factory.clone());
        let mut begin = || Ponder::begin(&mut thread, &equipment, line(&["e2e4"]), None, BUDGET);
        let first = begin();
        assert!(first.is_some() && begin().is_none());
        drop(first);
        assert!(begin().is_some());
    }
}
