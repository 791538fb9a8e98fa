//! TUC-Chess against games that the original server refereed, and against a slow second set of rules.

use std::{collections::BTreeSet, fs};

use zeitnot_rules::{
    ByColor, Color, Game, Outcome,
    tuc::{Edition, Move, Rules, Square, Tuc},
};
use zeitnot_testing::LONG;

/// One `T` message: the move, the new prize, the points after it.
fn told(message: &str) -> (Move, Option<Square>, ByColor<u16>) {
    let mv = Move::parse(&message[2..6]).unwrap();
    let prize: [u8; 2] = message.as_bytes()[6..8].try_into().unwrap();
    let points = ByColor([message[8..10].parse().unwrap(), message[10..12].parse().unwrap()]);
    (mv, Square::parse(prize), points)
}

/// Replays the messages that one player got. Every move must be legal, and the points must follow, but
/// for what a prize was worth. Returns the plies.
fn replay<'m>(messages: impl Iterator<Item = &'m str>, rules: Rules) -> usize {
    let mut game = Tuc::start_by(rules);
    let mut plies = 0;
    let mut last = String::new();
    for message in messages {
        if let Some(points) = message.strip_prefix("GE") {
            // The last move is not told: some legal one must lead to these points.
            let wanted = ByColor([points[..2].parse().unwrap(), points[2..].parse().unwrap()]);
            let fits = game.moves().into_iter().any(|mv| {
                let mut end = game.clone();
                end.play_for(mv, 0);
                end.outcome().is_over() && follows(&game, mv, end.points(), wanted)
            });
            assert!(fits, "no move ends the game with {message}:\n{}", game.print());
            return plies;
        }
        if !message.starts_with('T') || message == last {
            continue;
        }
        last = message.to_owned();
        let (mv, prize, points) = told(message);
        assert!(game.moves().contains(&mv), "{message} in {}", game.print());
        let mut expected = game.clone();
        expected.play_for(mv, 0);
        assert!(follows(&game, mv, expected.points(), points), "{message} in {}", game.print());
        assert!(prize.is_none_or(|p| expected.free_squares() >> p.index() & 1 == 1), "{message}");
        assert!(game.hear(mv, !game.side_to_move(), prize, points));
        assert!(!game.outcome().is_over(), "{message} goes on");
        assert_eq!(game.side_to_move() == Color::White, &message[1..2] == "0");
        plies += 1;
    }
    plies
}

/// Are these the points after the move, but for what a prize was worth?
fn follows(before: &Tuc, mv: Move, counted: ByColor<i32>, told: ByColor<u16>) -> bool {
    let side = before.side_to_move();
    let missing = ByColor(Color::BOTH.map(|s| i32::from(told[s]) * 100 - counted[s]));
    let prize = missing[side];
    missing[!side] == 0 && (prize == 0 || prize == 100 && before.takes_prize(mv))
}

fn rules(edition: Edition) -> Rules {
    Rules { edition, ..Rules::default() }
}

#[test]
fn the_recorded_games_replay_without_a_difference() {
    for (file, edition, plies) in [("game-1", Edition::Y2022, 39), ("game-2", Edition::Y2022, 40)] {
        let text = fs::read_to_string(format!("tests/data/tuc/{file}.txt")).unwrap();
        assert_eq!(replay(text.lines(), rules(edition)), plies, "{file}");
    }
}

#[test]
fn the_games_on_the_wire_replay_without_a_difference() {
    let text = fs::read_to_string("tests/data/tuc/wire.txt").unwrap();
    let mut games = 0;
    for game in text.split("\n## ").skip(1) {
        let title = game.lines().next().unwrap();
        let edition = Edition::ALL.into_iter().find(|e| title.contains(e.settings().year)).unwrap();
        let from_server = game.lines().filter(|line| line.contains(" S->C "));
        let messages = from_server.map(|line| line.split('\'').nth(1).unwrap());
        assert!(replay(messages, rules(edition)) > 10, "{title}");
        games += 1;
    }
    assert!(games >= 2);
}

/// The rules once more, as plainly as can be: letters on a grid.
#[derive(Clone)]
struct Plain {
    grid: [[char; 5]; 7],
    white_moves: bool,
    points: [i32; 2],
    pieces: i32,
}

impl Plain {
    fn start() -> Plain {
        let rows = ["prkrp", "ppppp", ".....", "*****", ".....", "PPPPP", "PRKRP"];
        let grid = rows.map(|row| row.chars().collect::<Vec<_>>().try_into().unwrap());
        Plain { grid, white_moves: true, points: [0, 0], pieces: 20 }
    }

    fn ours(&self, c: char) -> bool {
        c.is_alphabetic() && c.is_uppercase() == self.white_moves
    }

    fn theirs(&self, c: char) -> bool {
        c.is_alphabetic() && c.is_uppercase() != self.white_moves
    }

    fn allowed(&self, from: (usize, usize), to: (usize, usize), jumps: bool) -> bool {
        let piece = self.grid[from.0][from.1];
        let target = self.grid[to.0][to.1];
        if !self.ours(piece) || self.ours(target) {
            return false;
        }
        let rows = to.0 as i32 - from.0 as i32;
        let columns = to.1 as i32 - from.1 as i32;
        let ahead = if self.white_moves { -1 } else { 1 };
        match piece.to_ascii_uppercase() {
            'P' => {
                let straight = rows == ahead && columns == 0 && !self.theirs(target);
                let captures = rows == ahead && columns.abs() == 1 && self.theirs(target);
                let jump = jumps && piece == 'p' && from.0 == 5 && to.0 == 6 && !target.is_alphabetic();
                straight || captures || jump
            }
            'K' => rows.abs() + columns.abs() == 1,
            _ => {
                if rows != 0 && columns != 0 {
                    return false;
                }
                let length = rows.abs().max(columns.abs());
                let between = (1..length).all(|step| {
                    let row = from.0 as i32 + rows.signum() * step;
                    let column = from.1 as i32 + columns.signum() * step;
                    self.grid[row as usize][column as usize] == '.'
                });
                (1..=3).contains(&length) && between
            }
        }
    }

    fn moves(&self, jumps: bool) -> BTreeSet<String> {
        let mut moves = BTreeSet::new();
        for from in 0..35 {
            for to in 0..35 {
                let a = (from / 5, from % 5);
                let b = (to / 5, to % 5);
                if self.allowed(a, b, jumps) {
                    moves.insert(format!("{}{}{}{}", a.0, a.1, b.0, b.1));
                }
            }
        }
        moves
    }

    fn play(&mut self, text: &str, prize: i32, rules: Rules) {
        let n: Vec<usize> = text.bytes().map(|b| (b - b'0').into()).collect();
        let piece = self.grid[n[0]][n[1]];
        let target = self.grid[n[2]][n[3]];
        let (us, them) = if self.white_moves { (0, 1) } else { (1, 0) };
        let captured = target.is_alphabetic();
        self.points[us] += match target.to_ascii_uppercase() {
            'P' => 100,
            'R' => 300,
            'K' => 800,
            '*' => prize,
            _ => 0,
        };
        if captured && !target.eq_ignore_ascii_case(&'K') {
            self.pieces -= 1;
        }
        let last = if self.white_moves { 0 } else { 6 };
        let leaves = piece.eq_ignore_ascii_case(&'P') && n[2] == last;
        if leaves {
            let slips =
                !rules.strict && captured && piece == 'p' && (rules.edition != Edition::Y2022 || n[3] > n[1]);
            self.points[if slips { them } else { us }] += 100;
            if !captured || rules.strict {
                self.pieces -= 1;
            }
        }
        self.grid[n[0]][n[1]] = '.';
        self.grid[n[2]][n[3]] = if leaves { '.' } else { piece };
        self.white_moves = !self.white_moves;
    }

    fn is_over(&self) -> bool {
        let has = |king| self.grid.iter().flatten().any(|&c| c == king);
        !has('k') || !has('K') || self.pieces == 2
    }

    fn winner(&self) -> Option<Color> {
        match self.points[0] - self.points[1] {
            0 => None,
            1.. => Some(Color::White),
            _ => Some(Color::Black),
        }
    }

    fn text(&self) -> String {
        self.grid.map(|row| row.into_iter().collect::<String>()).join("/")
    }
}

/// Random games by both sets of rules, side by side.
fn agree(rules: Rules, plies: usize) {
    let mut dice = fastrand::Rng::with_seed(7);
    let mut plain = Plain::start();
    let mut game = Tuc::start_by(rules);
    for _ in 0..plies {
        let moves: BTreeSet<_> = game.moves().iter().map(|&mv| game.write(mv).to_string()).collect();
        assert_eq!(moves, plain.moves(rules.jumps), "{}", game.print());
        let mv = moves.iter().nth(dice.usize(..moves.len())).unwrap();
        let prize = if dice.bool() { 100 } else { 0 };
        game.play_for(game.read(mv).unwrap(), prize);
        plain.play(mv, prize, rules);
        let ended = compare(&game, &plain);
        if ended {
            (plain, game) = (Plain::start(), Tuc::start_by(rules));
        } else if dice.u8(..) < 40 {
            let square = Square::new(dice.usize(..35));
            if plain.grid[square.row()][square.column()] == '.' {
                plain.grid[square.row()][square.column()] = '*';
            }
            game.put_prize(square);
        }
    }
}

/// Do both say the same? Is the game over?
fn compare(game: &Tuc, plain: &Plain) -> bool {
    let text = game.print();
    assert!(text.starts_with(&plain.text()), "{text}\n{}", plain.text());
    assert_eq!(game.points().0, plain.points, "{text}");
    let outcome = game.outcome();
    if plain.is_over() {
        let winner = match outcome {
            Outcome::Win(side, _) => Some(side),
            Outcome::Draw(_) => None,
            Outcome::Ongoing => panic!("{text} goes on"),
        };
        assert_eq!(winner, plain.winner(), "{text}");
    }
    outcome.is_over()
}

#[test(limit = LONG)]
fn random_games_agree_with_the_plain_rules() {
    for edition in Edition::ALL {
        agree(Rules { edition, jumps: true, strict: false }, 30_000);
        agree(Rules { edition, jumps: false, strict: true }, 10_000);
    }
}
