//! Openings of the matches.

use zeitnot_rules::{Game, GameHistory, chess::Chess};

const CHESS: [&str; 16] = [
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5",
    "e2e4 e7e5 g1f3 b8c6 d2d4 e5d4",
    "e2e4 e7e5 g1f3 g8f6",
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4",
    "e2e4 c7c5 b1c3 b8c6",
    "e2e4 e7e6 d2d4 d7d5",
    "e2e4 c7c6 d2d4 d7d5",
    "e2e4 d7d5 e4d5 d8d5",
    "e2e4 d7d6 d2d4 g8f6",
    "d2d4 d7d5 c2c4 e7e6",
    "d2d4 d7d5 c2c4 c7c6",
    "d2d4 g8f6 c2c4 g7g6",
    "d2d4 g8f6 c2c4 e7e6",
    "c2c4 e7e5 b1c3 g8f6",
    "g1f3 d7d5 g2g3 g8f6",
];

/// Random plies of an opening in other games.
const RANDOM_PLIES: usize = 4;
const RANDOM_OPENINGS: u64 = 16;

pub(super) fn chess() -> Vec<GameHistory<Chess>> {
    let read = |moves: &&str| {
        let mut line = GameHistory::new(Chess::start());
        for mv in moves.split(' ') {
            line.play(line.now().read(mv).ok()?);
        }
        Some(line)
    };
    // All of them are valid, as a test checks.
    CHESS.iter().filter_map(read).collect()
}

/// Random openings from this start, the same on every run.
pub(super) fn random<G: Game>(start: &G) -> Vec<GameHistory<G>> {
    let opening = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut line = GameHistory::new(start.clone());
        for _ in 0..RANDOM_PLIES {
            line.play(random.choice(line.now().moves())?);
        }
        Some(line).filter(|line| !line.outcome().is_over())
    };
    (0..RANDOM_OPENINGS).filter_map(opening).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::tuc::Tuc;

    #[test]
    fn every_opening_can_be_played() {
        assert_eq!(chess().len(), CHESS.len());
        let keys = || Vec::from_iter(random(&Tuc::start()).iter().map(|line| line.now().key()));
        assert!(keys().len() > 10);
        assert_eq!(keys(), keys());
    }
}
