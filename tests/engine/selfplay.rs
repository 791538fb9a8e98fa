//! The engine plays itself: every decision is a legal move, and every game ends by the rules.

use std::{fs, path::Path};

use zeitnot_engine::{Limits, think_now};
use zeitnot_rules::{Game, GameHistory, Outcome, Reason, chess::Chess};

use crate::support::engine::search_factory;

/// The positions of a file in `tests/data`, one at the beginning of each line.
fn positions(file: &str) -> Vec<Chess> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| Chess::parse(line.split(';').next().unwrap()).unwrap()).collect()
}

/// Games played to their end.
#[derive(Debug, Default)]
struct Tally {
    games: usize,
    plies: usize,
    mates: usize,
}

impl Tally {
    /// Plays games from these positions, with this many threads and nodes a move.
    fn play(&mut self, starts: impl IntoIterator<Item = Chess>, threads: usize, nodes: u64) {
        let factory = search_factory(4, threads);
        let mut search = factory.thinker::<Chess>();
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        for start in starts {
            factory.table().clear();
            search.new_game();
            let mut line = GameHistory::new(start);
            while line.outcome() == Outcome::Ongoing {
                let now = line.now();
                let (best, _) = think_now(&mut *search, &line, &limits);
                let mv = now.unpack(best.mv).filter(|mv| now.moves().contains(mv));
                line.play(mv.unwrap_or_else(|| panic!("illegal: {best:?} in {}", now.print())));
            }
            self.games += 1;
            self.plies += line.moves().len();
            self.mates += usize::from(matches!(line.outcome(), Outcome::Win(_, Reason::Checkmate)));
        }
    }

    fn check(&self, games: usize) {
        println!("{self:?}");
        assert_eq!(self.games, games);
        assert!(self.plies > 20 * games, "games of a few moves: {self:?}");
        assert!(self.mates > 0, "nobody ever wins: {self:?}");
    }
}

#[test]
fn forty_short_games_are_legal_and_end() {
    let mut tally = Tally::default();
    tally.play(positions("openings.epd").into_iter().take(24), 1, 200);
    tally.play(positions("chess960.epd").into_iter().step_by(80), 1, 200);
    tally.play(positions("openings.epd").into_iter().rev().take(4), 2, 200);
    tally.check(40);
}

#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: a minute"]
fn a_thousand_games_are_legal_and_end() {
    let mut tally = Tally::default();
    tally.play(positions("openings.epd"), 1, 1000);
    tally.play(positions("chess960.epd").into_iter().take(400), 1, 1000);
    tally.play(positions("chess960.epd").into_iter().skip(400).take(100), 2, 1000);
    tally.check(1000);
}
