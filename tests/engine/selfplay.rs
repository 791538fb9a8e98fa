//! The engine plays itself: every decision is a legal move, and every game ends by the rules.

use std::{fs, ops::ControlFlow, path::Path, sync::Arc};

use zeitnot_engine::{Decision, Limits, StopFlag, Task, Thinker, TranspositionTable, search::Search};
use zeitnot_rules::{Game, GameHistory, Outcome, Reason, chess::Chess};

/// The positions of a file in `tests/data`, one at the beginning of each line.
fn positions(file: &str) -> Vec<Chess> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| Chess::parse(line.split(';').next().unwrap()).unwrap()).collect()
}

/// Games that have been played to their end.
#[derive(Debug, Default)]
struct Tally {
    games: usize,
    plies: usize,
    mates: usize,
    illegal_moves: usize,
}

impl Tally {
    /// Plays games from these positions, with this many threads and nodes a move.
    fn play(&mut self, starts: impl IntoIterator<Item = Chess>, threads: usize, nodes: u64) {
        let table = Arc::new(TranspositionTable::new(4).unwrap());
        let mut search = Search::new(table.clone(), threads);
        for start in starts {
            table.clear();
            Thinker::<Chess>::new_game(&mut search);
            self.play_one(start, &mut search, nodes);
        }
    }

    fn play_one(&mut self, start: Chess, search: &mut Search<Chess>, nodes: u64) {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut line = GameHistory::new(start);
        while line.outcome() == Outcome::Ongoing {
            let now = line.now();
            let moves = now.moves();
            let best = Decision::new(now.pack(moves[0]));
            let stop = StopFlag::default();
            search.think(&Task {
                game: &line,
                limits: &limits,
                best: &best,
                stop: &stop,
                watch: &|_| ControlFlow::Continue(()),
            });
            match now.unpack(best.read().mv).filter(|mv| moves.contains(mv)) {
                Some(mv) => line.play(mv),
                None => {
                    eprintln!("illegal: {:?} in {}", best.read(), now.print());
                    self.illegal_moves += 1;
                    break;
                }
            }
        }
        self.games += 1;
        self.plies += line.moves().len();
        self.mates += usize::from(matches!(line.outcome(), Outcome::Win(_, Reason::Checkmate)));
    }

    /// All that was to be shown.
    fn check(&self, games: usize) {
        println!("{self:?}");
        assert_eq!(self.illegal_moves, 0);
        assert_eq!(self.games, games);
        assert!(self.plies > 20 * games, "games of a few moves: {self:?}");
        assert!(self.mates > 0, "nobody ever wins: {self:?}");
    }
}

#[test]
fn forty_short_games() {
    let mut tally = Tally::default();
    tally.play(positions("openings.epd").into_iter().take(24), 1, 200);
    tally.play(positions("chess960.epd").into_iter().step_by(80), 1, 200);
    tally.play(positions("openings.epd").into_iter().rev().take(4), 2, 200);
    tally.check(40);
}

#[test]
#[ignore = "soak: a minute"]
fn a_thousand_games() {
    let mut tally = Tally::default();
    tally.play(positions("openings.epd"), 1, 1000);
    tally.play(positions("chess960.epd").into_iter().take(400), 1, 1000);
    tally.play(positions("chess960.epd").into_iter().skip(400).take(100), 2, 1000);
    tally.check(1000);
}
