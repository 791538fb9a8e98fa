//! MiniChess against a slow second set of rules, for each server's rule set.

use std::collections::{BTreeSet, HashMap};

use zeitnot_rules::{
    Color, Game, GameHistory, Outcome,
    minichess::{MiniChess, Rules},
};
use zeitnot_testing::LONG;

/// The rules once more, as plainly as can be: letters on a grid, row 0 is the first rank.
#[derive(Clone)]
struct Plain {
    grid: [[char; 5]; 6],
    white: bool,
    plies: usize,
}

/// Differences between the rule sets, written independently of the program.
#[derive(Copy, Clone)]
struct Differences {
    bishop_steps: bool,
    plies: usize,
    capture_the_king: bool,
    king_first: bool,
    mate_ends: bool,
    material: bool,
    fourfold: bool,
}

const NTHU_2023: Differences = Differences {
    bishop_steps: false,
    plies: 50,
    capture_the_king: false,
    king_first: false,
    mate_ends: false,
    material: true,
    fourfold: false,
};
const NTHU_2026: Differences =
    Differences { plies: 100, king_first: true, mate_ends: true, fourfold: true, ..NTHU_2023 };
const IMCS: Differences =
    Differences { bishop_steps: true, plies: 80, capture_the_king: true, material: false, ..NTHU_2023 };

type At = (i32, i32);

impl Plain {
    fn start() -> Plain {
        let rows = ["RNBQK", "PPPPP", ".....", ".....", "ppppp", "kqbnr"];
        let grid = rows.map(|row| row.chars().collect::<Vec<_>>().try_into().unwrap());
        Plain { grid, white: true, plies: 0 }
    }

    fn at(&self, (row, column): At) -> Option<char> {
        let row = self.grid.get(usize::try_from(row).ok()?)?;
        row.get(usize::try_from(column).ok()?).copied()
    }

    fn is_ours(&self, c: char) -> bool {
        c != '.' && c.is_uppercase() == self.white
    }

    /// Destinations of the piece on a square.
    fn targets(&self, from: At, piece: char, d: Differences) -> Vec<At> {
        let straight = [(1, 0), (-1, 0), (0, 1), (0, -1)];
        let diagonal = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
        let knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
        let mut targets = Vec::new();
        let mut go = |ways: &[At], far: bool, onto: &dyn Fn(char) -> bool| {
            for way in ways {
                let mut to = (from.0 + way.0, from.1 + way.1);
                while let Some(there) = self.at(to) {
                    if onto(there) {
                        targets.push(to);
                    }
                    if !far || there != '.' {
                        break;
                    }
                    to = (to.0 + way.0, to.1 + way.1);
                }
            }
        };
        let not_ours = |c: char| !self.is_ours(c);
        let empty = |c: char| c == '.';
        let theirs = |c: char| c != '.' && !self.is_ours(c);
        let ahead = if self.white { 1 } else { -1 };
        match piece.to_ascii_uppercase() {
            'P' => {
                go(&[(ahead, 0)], false, &empty);
                go(&[(ahead, 1), (ahead, -1)], false, &theirs);
            }
            'N' => go(&knight, false, &not_ours),
            'K' => {
                go(&straight, false, &not_ours);
                go(&diagonal, false, &not_ours);
            }
            'R' => go(&straight, true, &not_ours),
            'B' => {
                go(&diagonal, true, &not_ours);
                if d.bishop_steps {
                    go(&straight, false, &empty);
                }
            }
            _ => {
                go(&straight, true, &not_ours);
                go(&diagonal, true, &not_ours);
            }
        }
        targets
    }

    fn moves(&self, d: Differences) -> Vec<(At, At)> {
        if !self.has('k') || !self.has('K') {
            return Vec::new();
        }
        let squares = (0..6).flat_map(|row| (0..5).map(move |column| (row, column)));
        let ours = squares.filter(|&at| self.at(at).is_some_and(|c| self.is_ours(c)));
        ours.flat_map(|from| {
            self.targets(from, self.at(from).unwrap(), d).into_iter().map(move |to| (from, to))
        })
        .collect()
    }

    fn has(&self, piece: char) -> bool {
        self.grid.iter().flatten().any(|&c| c == piece)
    }

    fn play(&mut self, (from, to): (At, At)) {
        let piece = self.at(from).unwrap();
        let queen = match piece {
            'P' if to.0 == 5 => 'Q',
            'p' if to.0 == 0 => 'q',
            other => other,
        };
        self.grid[from.0 as usize][from.1 as usize] = '.';
        self.grid[to.0 as usize][to.1 as usize] = queen;
        self.white = !self.white;
        self.plies += 1;
    }

    fn can_take_king(&self, d: Differences) -> bool {
        let king = if self.white { 'k' } else { 'K' };
        self.moves(d).iter().any(|&(_, to)| self.at(to) == Some(king))
    }

    fn is_mate(&self, d: Differences) -> bool {
        let mut passed = self.clone();
        passed.white = !self.white;
        passed.can_take_king(d)
            && self.moves(d).into_iter().all(|mv| {
                let mut child = self.clone();
                child.play(mv);
                child.can_take_king(d)
            })
    }

    /// `None`: it goes on; `Some(None)`: a draw.
    fn result(&self, seen: usize, d: Differences) -> Option<Option<Color>> {
        let (us, them) = if self.white { (Color::White, Color::Black) } else { (Color::Black, Color::White) };
        if !self.has('K') || !self.has('k') {
            return Some(Some(them));
        }
        let over = self.plies >= d.plies;
        if !d.capture_the_king && self.can_take_king(d) && (d.king_first || !over) {
            return Some(Some(us));
        }
        if d.fourfold && seen >= 4 {
            return Some(None);
        }
        if over {
            return Some(if d.material { self.ahead() } else { None });
        }
        let lost = self.moves(d).is_empty() || d.mate_ends && self.is_mate(d);
        lost.then_some(Some(them))
    }

    fn ahead(&self) -> Option<Color> {
        let worth = |c: char| match c.to_ascii_uppercase() {
            'P' => 2,
            'R' => 6,
            'N' => 7,
            'B' => 8,
            'Q' => 20,
            _ => 0,
        };
        let sign = |c: char| if c.is_uppercase() { 1 } else { -1 };
        match self.grid.iter().flatten().map(|&c| sign(c) * worth(c)).sum::<i32>() {
            0 => None,
            1.. => Some(Color::White),
            _ => Some(Color::Black),
        }
    }

    fn text(&self) -> String {
        let rows = self.grid.map(|row| row.into_iter().collect::<String>());
        rows.into_iter().rev().collect::<Vec<_>>().join("/")
    }
}

fn name((from, to): (At, At)) -> String {
    let square = |(row, column): At| format!("{}{}", char::from(b'a' + column as u8), row + 1);
    format!("{}{}", square(from), square(to))
}

/// Random games by both sets of rules, side by side. How many ended?
fn agree(rules: Rules, d: Differences, plies: usize) -> usize {
    let mut dice = fastrand::Rng::with_seed(11);
    let mut plain = Plain::start();
    let mut line = GameHistory::new(MiniChess::start(rules));
    let mut seen = HashMap::from([((plain.text(), true), 1)]);
    let mut ended = 0;
    for _ in 0..plies {
        let now = line.now();
        let moves: BTreeSet<_> = now.moves().iter().map(|&mv| now.write(mv).to_string()).collect();
        let all = plain.moves(d);
        assert_eq!(moves, all.iter().map(|&mv| name(mv)).collect(), "{}", now.print());
        let mv = all[dice.usize(..all.len())];
        line.play(now.read(&name(mv)).unwrap());
        plain.play(mv);
        let times = seen.entry((plain.text(), plain.white)).and_modify(|times| *times += 1).or_insert(1);
        assert!(line.now().print().starts_with(&plain.text()));
        let outcome = match line.outcome() {
            Outcome::Ongoing => None,
            Outcome::Draw(_) => Some(None),
            Outcome::Win(side, _) => Some(Some(side)),
        };
        assert_eq!(outcome, plain.result(*times, d), "{}", line.now().print());
        if outcome.is_some() {
            ended += 1;
            (plain, line) = (Plain::start(), GameHistory::new(MiniChess::start(rules)));
            seen = HashMap::from([((plain.text(), true), 1)]);
        }
    }
    ended
}

#[test(limit = LONG)]
fn random_games_agree_with_the_plain_rules() {
    assert!(agree(Rules::Imcs, IMCS, 30_000) > 300);
    assert!(agree(Rules::Nthu2023, NTHU_2023, 30_000) > 300);
    assert!(agree(Rules::Nthu2026, NTHU_2026, 30_000) > 300);
}
