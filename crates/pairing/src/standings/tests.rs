//! Tie-breaks and tables, computed by hand.

use super::*;
use crate::{format::PairingKind, report_file::ReportFile};

fn name(text: &str) -> Name {
    Name::try_from(text).unwrap()
}

/// Standings of players named `a`, `b` and so on.
struct Example(Standings);

const WHITE: GameResult = GameResult::Won(Color::White);
const BLACK: GameResult = GameResult::Won(Color::Black);
const DRAW: GameResult = GameResult::Draw;

impl Example {
    fn new(pairing: PairingKind, tie_breaks: &[TieBreak], names: &[&str]) -> Example {
        let format = Format { pairing, tie_breaks: tie_breaks.to_vec(), ..Format::default() };
        let mut standings = Standings::new(format);
        names.iter().enumerate().for_each(|(seat, text)| standings.enter(SeatNo(seat), &name(text)));
        Example(standings)
    }

    fn usual(pairing: PairingKind, names: &[&str]) -> Example {
        Example::new(pairing, pairing.tie_breaks(), names)
    }

    fn game(&mut self, round: u32, white: &str, black: &str, result: GameResult) {
        self.0.record(round, ByColor([&name(white), &name(black)]), result, true);
    }

    fn forfeit(&mut self, round: u32, winner: &str, loser: &str) {
        self.0.record(round, ByColor([&name(winner), &name(loser)]), WHITE, false);
    }

    /// Each player's rank, name, points and tie-breaks.
    fn rows(&self) -> Vec<(u32, String, f64, Vec<f64>)> {
        let row = |row: Row| {
            let values = row.tie_breaks.into_iter().map(|(_, value)| value).collect();
            (row.rank, row.name.to_string(), row.score.points(), values)
        };
        self.0.rows().into_iter().map(row).collect()
    }
}

fn row(rank: u32, name: &str, score: f64, values: &[f64]) -> (u32, String, f64, Vec<f64>) {
    (rank, name.to_owned(), score, values.to_vec())
}

/// a beats b, draws c; b beats c; c beats d; d beats a; b beats d, who is absent.
fn round_robin() -> Example {
    let mut example = Example::usual(PairingKind::RoundRobin, &["a", "b", "c", "d"]);
    example.game(1, "a", "b", WHITE);
    example.game(2, "c", "a", DRAW);
    example.game(3, "b", "c", WHITE);
    example.game(4, "d", "c", BLACK);
    example.game(5, "a", "d", BLACK);
    example.forfeit(6, "b", "d");
    example
}

#[test]
fn a_round_robin_by_hand() {
    let example = round_robin();
    // Sonneborn-Berger: a 1.5: b's 2 + half of c's 1.5 = 2.75; b 2: c's 1.5 + d's 1 = 2.5, the forfeit too;
    // c 1.5: d's 1 + half of a's 1.5 = 1.75; d 1: a's 1.5.
    let expected = [
        row(1, "b", 2.0, &[2.5, 0.0, 1.0]),
        row(2, "a", 1.5, &[2.75, 0.0, 1.0]),
        row(3, "c", 1.5, &[1.75, 0.0, 1.0]),
        row(4, "d", 1.0, &[1.5, 0.0, 1.0]),
    ];
    assert_eq!(example.rows(), expected);
    let tally = Tally { wins: 1, draws: 0, losses: 2, forfeits: 1, byes: 0 };
    assert_eq!((example.0.rows()[3].tally, tally.games()), (tally, 3));
}

/// Three rounds of five: e and d have byes, c stays away from the second round on.
fn swiss() -> Example {
    let mut example = Example::usual(PairingKind::Swiss, &["a", "b", "c", "d", "e"]);
    let standings = &mut example.0;
    assert!(standings.grant_bye(1, &name("e")) && !standings.grant_bye(1, &name("e")), "once");
    standings.withdraw(&name("c"));
    example.game(1, "a", "b", WHITE);
    example.game(1, "c", "d", DRAW);
    example.forfeit(2, "b", "c");
    example.game(2, "a", "e", WHITE);
    assert!(example.0.grant_bye(2, &name("d")));
    example.game(3, "d", "a", DRAW);
    example.game(3, "b", "e", BLACK);
    example
}

#[test]
fn a_swiss_with_byes_a_forfeit_and_a_withdrawal_by_hand() {
    // To others c counts 0.5 + 0 + 0.5 = 1: the forfeit as it is, the round after it as a draw. The dummy of a bye has the
    // player's own score, but at most 1.5, as if all were drawn; that of a forfeit at most the opponent's.
    // Buchholz: a: b 1 + e 2 + d 2; d: c 1 + dummy 1.5 + a 2.5; e: dummy 1.5 + a 2.5 + b 1; b: a 2.5 + dummy 1 + e 2;
    // c: d 2 + dummies 0.5 and 0.5. Cut 1 leaves out the lowest; of c, one that c stayed away from.
    // Sonneborn-Berger: d: half of 1 + 1.5 + half of 2.5; e: 1.5 + 1.
    let expected = [
        row(1, "a", 2.5, &[4.0, 5.0, 4.0, 2.0]),
        row(2, "d", 2.0, &[4.0, 5.0, 3.25, 0.0]),
        row(3, "e", 2.0, &[4.0, 5.0, 2.5, 1.0]),
        row(4, "b", 1.0, &[4.5, 5.5, 1.0, 0.0]),
        row(5, "c", 0.5, &[2.5, 3.0, 1.0, 0.0]),
    ];
    assert_eq!(swiss().rows(), expected);
    let tally = |row: usize| swiss().0.rows()[row].tally;
    assert_eq!(tally(1), Tally { draws: 2, byes: 1, ..Tally::default() }, "a bye is no game");
    assert_eq!(tally(4), Tally { draws: 1, losses: 1, forfeits: 1, ..Tally::default() });
}

#[test]
fn direct_encounters_part_those_whose_games_do() {
    let only = [TieBreak::DirectEncounter];
    // Each has two points; a has beaten b and c, who have not met: a is first in any case, and the others stay tied.
    let mut swiss = Example::new(PairingKind::Swiss, &only, &["a", "b", "c", "d"]);
    for (round, (winner, loser)) in
        (1..).zip([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "d"), ("c", "d")])
    {
        swiss.game(round, winner, loser, WHITE);
    }
    let [a, b, c, _] = swiss.rows().try_into().unwrap();
    assert_eq!([a, b, c], [row(1, "a", 2.0, &[2.0]), row(2, "b", 2.0, &[0.0]), row(2, "c", 2.0, &[0.0])]);
    // A forfeit is no meeting in a Swiss, but a game where all meet all.
    for (pairing, below) in [(PairingKind::Swiss, 0.0), (PairingKind::RoundRobin, 1.0)] {
        let mut two = Example::new(pairing, &only, &["a", "b", "c"]);
        two.forfeit(1, "b", "a");
        two.game(2, "a", "c", WHITE);
        assert_eq!((two.rows()[0].3[0], two.rows()[1].3[0]), (below, 0.0));
    }
    // In a circle nobody is ahead; of several games between two their average counts.
    let mut circle = Example::new(PairingKind::RoundRobin, &only, &["a", "b", "c"]);
    for (white, black) in [("a", "b"), ("b", "c"), ("c", "a")] {
        circle.game(1, white, black, WHITE);
    }
    assert_eq!(circle.rows().iter().map(|row| (row.0, row.3[0])).collect::<Vec<_>>(), [(1, 0.0); 3]);
}

#[test]
fn direct_encounters_rank_groups_and_count_the_average_of_several_games() {
    let only = [TieBreak::DirectEncounter];
    let values = |example: &Example| -> Vec<_> {
        example.rows().into_iter().take(3).map(|(rank, name, _, values)| (rank, name, values[0])).collect()
    };
    let ranked = |rows: [(u32, &str, f64); 3]| rows.map(|(rank, name, value)| (rank, name.to_owned(), value));
    // a, b and c have 1.5 points and have all met: a and b drew and beat c.
    let mut swiss = Example::new(PairingKind::Swiss, &only, &["a", "b", "c", "d", "e"]);
    for (round, (white, black, result)) in (1..).zip([
        ("a", "b", DRAW),
        ("c", "d", WHITE),
        ("a", "c", WHITE),
        ("b", "c", WHITE),
        ("c", "e", DRAW),
    ]) {
        swiss.game(round, white, black, result);
    }
    assert_eq!(values(&swiss), ranked([(1, "a", 1.0), (1, "b", 1.0), (3, "c", 0.0)]));
    // a has beaten b in their only game; b and c have each won one of theirs, which is half a point on average.
    let mut unfinished = Example::new(PairingKind::RoundRobin, &only, &["a", "b", "c"]);
    for (white, black) in [("a", "b"), ("b", "c"), ("c", "b")] {
        unfinished.game(1, white, black, WHITE);
    }
    assert_eq!(values(&unfinished), ranked([(1, "a", 2.0), (2, "b", 0.0), (2, "c", 0.0)]));
}

#[test]
fn a_knockout_counts_how_far_each_came_and_no_draws() {
    let mut knockout = Example::usual(PairingKind::Knockout, &["a", "b", "c", "d"]);
    knockout.game(1, "a", "d", DRAW);
    knockout.game(1, "d", "a", BLACK);
    knockout.game(1, "b", "c", WHITE);
    knockout.game(2, "a", "b", DRAW);
    assert!(knockout.0.grant_bye(2, &name("b")), "the rules let b go on");
    let expected =
        [row(1, "b", 2.0, &[]), row(2, "a", 1.0, &[]), row(3, "c", 0.0, &[]), row(3, "d", 0.0, &[])];
    assert_eq!(knockout.rows(), expected);
}

#[test]
fn whoever_is_forgotten_leaves_the_points_of_others_and_no_more() {
    let mut example = round_robin();
    example.0.forget(&name("a"));
    let expected = [
        row(1, "b", 2.0, &[2.5, 0.0, 1.0]),
        row(2, "c", 1.5, &[1.0, 0.0, 1.0]),
        row(3, "d", 1.0, &[0.0, 0.0, 1.0]),
    ];
    assert_eq!(example.rows(), expected);
    example.0.enter(SeatNo(0), &name("e"));
    assert_eq!(example.rows()[3], row(4, "e", 0.0, &[0.0, 0.0, 0.0]));
    assert_eq!(example.0.games(&name("d")), 3);
}

#[test]
fn tables_are_aligned_and_fit_a_terminal() {
    let table = round_robin().0.to_string();
    let widths: Vec<_> = table.lines().map(|line| line.chars().count()).collect();
    assert_eq!(widths, [widths[0]; 5], "{table}");
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "  # player score   SB DE WON games won drew lost forfeits");
    assert_eq!(lines[2], "  2 a        1.5 2.75  0   1     3   1    1    1        0");

    let long = "l".repeat(49);
    let mut example = swiss();
    example.0.enter(SeatNo(5), &name(&long));
    let table = example.0.to_string();
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[6], format!("  6 {long}"), "on a line of its own");
    assert!(
        lines[7].starts_with("     ") && lines[7].ends_with(" 0.00   0     0   0    0    0        0    0"),
        "{table}"
    );
}

/// Order and tie-breaks of the fixtures as FIDE's Technical Commission's program has them (TieBreakServer 1.9.57, rules of
/// March 2026): a player's number, the rank by points, Buchholz cut 1, Buchholz, Sonneborn-Berger and games won, the rank
/// by points and direct encounter, and those values; a round robin has no Buchholz.
#[test]
fn tie_breaks_as_another_program_computes_them() {
    use TieBreak::{Buchholz, BuchholzCut1, DirectEncounter, SonnebornBerger, Wins};
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/");
    let expected = std::fs::read_to_string(format!("{folder}tie-breaks/expected.txt")).unwrap();
    let mut players = 0;
    let mut places = (Vec::new(), Vec::new());
    let mut numbers = Vec::new();
    for line in expected.lines() {
        if line.ends_with(".trf") {
            let file = ReportFile::read(&std::fs::read_to_string(format!("{folder}{line}")).unwrap());
            let (pairing, order): (_, &[_]) = match line.starts_with("swiss") {
                true => (PairingKind::Swiss, &[BuchholzCut1, Buchholz, SonnebornBerger, Wins]),
                false => (PairingKind::RoundRobin, &[SonnebornBerger, Wins]),
            };
            let cards = file.players.iter().map(|player| Cow::Borrowed(player.card.0.as_slice())).collect();
            let field = Field::new(pairing, cards);
            let seats = || (0..file.players.len()).map(SeatNo).collect();
            places = (field.places(seats(), order), field.places(seats(), &[DirectEncounter]));
            numbers = file.players.iter().map(|player| player.number).collect();
            continue;
        }
        let told: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let seat = SeatNo(numbers.iter().position(|number| *number as f64 == told[0]).unwrap());
        let place = |places: &[Place]| places.iter().find(|place| place.seat == seat).unwrap().clone();
        let (all, direct) = (place(&places.0), place(&places.1));
        assert_eq!([all.rank, direct.rank].map(f64::from), told[1..3], "{line}");
        assert_eq!(all.values, told[3..], "{line}");
        players += 1;
    }
    assert!(players > 200, "{players} players");
}

#[test]
fn reports_are_read_back_and_say_the_same() {
    for example in [swiss(), round_robin()] {
        let report = example.0.trf("class").unwrap();
        let file = ReportFile::read(&report);
        for row in example.0.rows() {
            let player = file.players.iter().find(|player| player.name == row.name.as_str()).unwrap();
            let score = player.card.score_after(usize::MAX);
            assert_eq!(
                (score, player.rank, player.number),
                (row.score, row.rank, row.seat.0 + 1),
                "{report}"
            );
        }
    }
    let report = swiss().0.trf("class").unwrap();
    assert!(report.starts_with("012 class\n062 5\n072 0\n"), "{report}");
    // The third player forfeits the second round and is absent from the third.
    assert!(report.contains("   4 w =     2 b -  0000 - Z  \n"), "{report}");
    assert!(report.contains("XXZ 3\n") && report.contains("XXC white1\n"), "{report}");
}
