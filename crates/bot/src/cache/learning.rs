//! Result learning: moves of lost games are not played from the cache again, but searched anew with more time.
//!
//! A deterministic opponent would win the same game again and again. Which move lost it is not known, so all of ours in
//! the cache are marked; a game that is won with a move takes a mark back.

use zeitnot_rules::{GameKind, Key, Packed};

use super::{Cache, Entry};

/// Losses that count.
const MAX_LOSSES: u8 = 4;
/// Part of its usual time that a search gets more for each loss.
const MORE_TIME: f64 = 0.5;

/// Games lost from a position with its cached move, less those won since.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses(u8);

impl Losses {
    /// Reads the number in a file, which may be damaged.
    pub(super) fn from_byte(byte: u8) -> Losses {
        Losses(byte.min(MAX_LOSSES))
    }

    pub(super) fn to_byte(self) -> u8 {
        self.0
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Factor of the time for a search.
    pub(crate) fn time_factor(self) -> f64 {
        1.0 + MORE_TIME * f64::from(self.0)
    }
}

/// Move of ours in a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayedMove {
    /// Plies played before it.
    pub ply: usize,
    /// Position before it.
    pub key: Key,
    pub mv: Packed,
}

/// Result of a game, as far as it says something about our moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// They have won.
    Success,
    /// They have lost, or have given a better game away.
    Failure,
}

impl Entry {
    /// Returns the entry after a game with its move.
    fn after(self, lesson: Lesson) -> Entry {
        let Entry { mut cached, losses: Losses(losses), .. } = self;
        let losses = match lesson {
            Lesson::Success => losses.saturating_sub(1),
            Lesson::Failure => {
                // Any search replaces it.
                cached.effort = 0;
                MAX_LOSSES.min(losses + 1)
            }
        };
        Entry { cached, losses: Losses(losses), ..self }
    }

    /// Returns whether a game was lost with the move, and it was not searched since.
    pub(super) fn is_refuted(&self) -> bool {
        !self.losses.is_none() && self.cached.effort == 0
    }
}

impl Cache {
    /// Returns the losses with the cached move of a position, if it is in memory.
    pub(crate) fn losses(&self, game: GameKind, key: Key) -> Losses {
        let entry = self.levels.as_ref().and_then(|levels| levels.memory.get(&(game.name(), key.0)));
        entry.filter(|entry| entry.engine == self.engine).map(|entry| entry.losses).unwrap_or_default()
    }

    /// Marks those of our moves in a game that are cached. Returns their number.
    pub(crate) fn learn(&self, game: GameKind, moves: &[PlayedMove], lesson: Lesson) -> usize {
        let Some(levels) = &self.levels else { return 0 };
        let mut marked = 0;
        for &PlayedMove { key, mv, .. } in moves {
            let key = (game.name(), key.0);
            let known = levels.memory.get(&key);
            let known = known.filter(|entry| entry.engine == self.engine && entry.cached.mv == mv);
            let Some(changed) = known.map(|entry| (entry, entry.after(lesson))) else { continue };
            if changed.0 != changed.1 {
                levels.insert(key, changed.1);
                marked += 1;
            }
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zeitnot_engine::Score;
    use zeitnot_rules::{Game, GameHistory, chess::Chess};

    use super::*;
    use crate::cache::{CacheAnswer, CachedMove, Config};

    const NODES: u64 = 1_000_000;

    struct Line {
        cache: Cache,
        history: GameHistory<Chess>,
        played: PlayedMove,
    }

    impl Line {
        /// A cache that knows a move of the start position.
        fn new(min_effort: f64) -> Line {
            let config = Config { file: "".into(), min_effort, ..Config::default() };
            let cache = Cache::open(&config, 7);
            let history = GameHistory::new(Chess::start());
            let mv = history.now().pack(history.now().read("e2e4").unwrap());
            let played = PlayedMove { ply: 0, key: history.now().key(), mv };
            let line = Line { cache, history, played };
            line.search(NODES);
            line
        }

        fn search(&self, effort: u64) {
            let mv = self.played.mv;
            self.cache.insert(&self.history, CachedMove { mv, score: Score::cp(30), depth: 9, effort });
        }

        fn is_played(&self) -> bool {
            matches!(self.cache.look_up(&self.history, NODES, Duration::ZERO), CacheAnswer::Play(_))
        }

        fn ends(&self, lesson: Lesson) -> usize {
            self.cache.learn(GameKind::Chess, &[self.played], lesson)
        }

        fn time(&self) -> f64 {
            self.cache.losses(GameKind::Chess, self.played.key).time_factor()
        }
    }

    #[test]
    fn a_move_that_lost_is_searched_anew_each_time_and_longer_each_time() {
        // However little effort is asked for.
        for min_effort in [0.0, 0.5, 1.0] {
            let line = Line::new(min_effort);
            assert!(line.is_played());
            let times = (0..6).map(|_| {
                assert_eq!(line.ends(Lesson::Failure), 1);
                assert!(!line.is_played());
                let time = line.time();
                // A search with less effort than the one that lost replaces it.
                line.search(NODES * 9 / 10);
                line.search(NODES);
                assert!(line.is_played(), "it was searched since");
                time
            });
            assert_eq!(times.collect::<Vec<_>>(), [1.5, 2.0, 2.5, 3.0, 3.0, 3.0]);
        }
    }

    #[test]
    fn a_game_that_is_won_takes_a_loss_back() {
        let line = Line::new(0.5);
        assert_eq!(line.ends(Lesson::Success), 0, "nothing to take back");
        assert_eq!((line.ends(Lesson::Failure), line.time()), (1, 1.5));
        line.search(NODES);
        assert_eq!((line.ends(Lesson::Success), line.time()), (1, 1.0));
        assert!(line.is_played());
    }

    #[cfg(feature = "redis")]
    #[test]
    fn others_search_anew_what_lost_a_game() {
        use std::sync::Arc;

        use crate::cache::{Levels, SharedCache, SharedKey, shared::Request};

        let mut line = Line::new(0.5);
        let (shared, mut sent) = SharedCache::scripted();
        line.cache.levels = line
            .cache
            .levels
            .take()
            .and_then(Arc::into_inner)
            .map(|levels| Arc::new(Levels { shared: Some(shared), ..levels }));
        let key = SharedKey { position: (GameKind::Chess.name(), line.played.key.0), engine: 7 };
        line.ends(Lesson::Failure);
        assert_eq!(sent(), Some(Request::Remove(key)));
        line.search(NODES);
        assert!(matches!(sent(), Some(Request::Store(at, _)) if at == key));
        assert_eq!(sent(), None);
    }

    #[test]
    fn other_moves_and_other_engines_are_left_alone() {
        let Line { cache, history, played } = Line::new(0.5);
        let other = PlayedMove { mv: Packed(played.mv.0 ^ 1), ..played };
        assert_eq!(cache.learn(GameKind::Chess, &[other], Lesson::Failure), 0);
        assert_eq!(cache.learn(GameKind::Atomic, &[played], Lesson::Failure), 0);
        assert_eq!(cache.with_engine(8).learn(GameKind::Chess, &[played], Lesson::Failure), 0);
        assert!(matches!(cache.look_up(&history, NODES, Duration::ZERO), CacheAnswer::Play(_)));
        assert_eq!(Cache::default().learn(GameKind::Chess, &[played], Lesson::Failure), 0);
    }
}
