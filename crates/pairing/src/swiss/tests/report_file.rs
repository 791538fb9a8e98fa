//! Rounds of report files, paired anew.

use std::{env, fmt, fs};

use zeitnot_rules::Color;
use zeitnot_wire::trf::{Bye, Card, Cell, SeatNo, Trf, TrfPlayer};

use crate::swiss::{Acceleration, Round, dutch::RoundPairing, pair};

/// Pairing of a round; players are pairing numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NextRound {
    /// From 1.
    round: usize,
    /// White and Black of each game, the first board first.
    games: Vec<[u16; 2]>,
    bye: Option<u16>,
}

/// Round of a file, and as the rules pair it; `None` if the absolute criteria allow no pairing.
struct CheckedRound {
    file: NextRound,
    rules: Option<NextRound>,
}

impl fmt::Display for CheckedRound {
    /// Shows what differs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CheckedRound { file, rules } = self;
        write!(f, "round {} differs", file.round)?;
        let Some(rules) = rules else { return write!(f, "\n  by the rules no pairing is possible") };
        for (name, round, other) in [("file ", file, rules), ("rules", rules, file)] {
            let games = round.games.iter().filter(|game| !other.games.contains(game));
            let games = games.map(|[white, black]| format!("{white}-{black}"));
            let bye = round.bye.filter(|_| round.bye != other.bye).map(|bye| format!("bye {bye}"));
            write!(f, "\n  {name}: {}", games.chain(bye).collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    }
}

/// Pairs the next round: all who are not absent and have nothing in it yet.
fn pair_next(trf: &Trf) -> Option<NextRound> {
    let played = rounds_paired(trf);
    let is_free = |at: &usize| {
        let player = &trf.players[*at];
        !player.is_absent && player.card.0.len() <= played
    };
    let players: Vec<_> = (0..trf.players.len()).filter(is_free).map(SeatNo).collect();
    Some(numbered(trf, played, &pair_round(trf, played, &players)?))
}

/// Compares each round with the Dutch rules.
fn check_rounds(trf: &Trf) -> impl Iterator<Item = CheckedRound> {
    (0..rounds_paired(trf)).map(|played| {
        let (players, pairing) = paired_in(trf, played);
        let rules = pair_round(trf, played, &players).map(|rules| numbered(trf, played, &rules).sorted());
        CheckedRound { file: numbered(trf, played, &pairing).sorted(), rules }
    })
}

/// Number of the rounds that were paired; byes asked for later rounds are none.
fn rounds_paired(trf: &Trf) -> usize {
    let last = |card: &Card| card.0.iter().rposition(Cell::is_paired).map_or(0, |last| last + 1);
    trf.players.iter().map(|player| last(&player.card)).max().unwrap_or(0)
}

/// Players who were paired in a round, and how.
fn paired_in(trf: &Trf, round: usize) -> (Vec<SeatNo>, RoundPairing) {
    let (mut players, mut pairing) = (Vec::new(), RoundPairing::default());
    for (place, player) in trf.players.iter().enumerate() {
        let Some(cell) = player.card.0.get(round).filter(|cell| cell.is_paired()) else { continue };
        let seat = SeatNo(place);
        players.push(seat);
        match *cell {
            Cell::Game { opponent, color: Color::White, .. }
            | Cell::Forfeit { opponent, color: Color::White, .. } => {
                pairing.games.push([seat, opponent]);
            }
            Cell::Bye(_) => pairing.bye = Some(seat),
            Cell::Game { .. } | Cell::Forfeit { .. } => {}
        }
    }
    (players, pairing)
}

fn pair_round(trf: &Trf, played: usize, players: &[SeatNo]) -> Option<RoundPairing> {
    let before = |card: &Card| Card(card.0.iter().take(played).copied().collect());
    let cards: Vec<_> = trf.players.iter().map(|player| before(&player.card)).collect();
    let points = trf.players.iter().map(|player| player.virtual_points.clone()).collect();
    let rounds = trf.rounds.unwrap_or(usize::MAX);
    let round = Round { played, rounds, initial: first_color(trf) };
    pair(&cards, players, round, &Acceleration::of(points))
}

/// The first colour: as the file says, else as the first player who was paired in the first round had it.
fn first_color(trf: &Trf) -> Color {
    let colors = (0..rounds_paired(trf)).find_map(|round| {
        let cells = trf.players.iter().filter_map(|player| player.card.0.get(round));
        let mut paired = cells.filter(|cell| cell.is_paired()).enumerate();
        paired.find_map(|(at, cell)| match cell {
            // Each second one had the other colour.
            Cell::Game { color, .. } | Cell::Forfeit { color, .. } => {
                Some(if at % 2 == 0 { *color } else { !*color })
            }
            Cell::Bye(_) => None,
        })
    });
    trf.first_color.or(colors).unwrap_or(Color::White)
}

fn numbered(trf: &Trf, played: usize, pairing: &RoundPairing) -> NextRound {
    let number = |seat: SeatNo| trf.players[seat.0].number;
    NextRound {
        round: played + 1,
        games: pairing.games.iter().map(|seats| seats.map(number)).collect(),
        bye: pairing.bye.map(number),
    }
}

impl NextRound {
    fn sorted(mut self) -> NextRound {
        self.games.sort_unstable();
        self
    }
}

/// Tournaments that bbpPairings 6 and caissify-pairings 0.5.0 have paired, with withdrawals, byes and forfeits;
/// `scripts/compare-swiss` compares the thousands of another folder.
#[test]
fn other_programs_pair_the_same() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/swiss");
    let folder = env::var("ZEITNOT_SWISS_REPORTS").unwrap_or_else(|_| fixtures.to_owned());
    let (mut rounds, mut differing) = (0, String::new());
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let trf: Trf = fs::read_to_string(&path).unwrap().parse().unwrap();
        for round in check_rounds(&trf) {
            rounds += 1;
            if round.rules.as_ref() != Some(&round.file) {
                differing += &format!("\n{}: {round}", path.display());
            }
        }
    }
    assert!(differing.is_empty(), "{differing}");
    assert!(rounds >= 90, "{rounds} rounds");
}

#[test]
fn the_next_round_of_a_file() {
    let mut trf = Trf::default();
    trf.players.extend((1..=7).map(|number| TrfPlayer { number, ..Default::default() }));
    let next = pair_next(&trf).unwrap();
    assert_eq!(next, NextRound { round: 1, games: vec![[1, 4], [5, 2], [3, 6]], bye: Some(7) });
    // A bye that was asked for, and somebody who is not there.
    trf.players[0].card.0.push(Cell::Bye(Bye::Half));
    trf.players[6].is_absent = true;
    let next = pair_next(&trf).unwrap();
    assert_eq!(next, NextRound { round: 1, games: vec![[2, 4], [5, 3]], bye: Some(6) });
    trf.players.truncate(1);
    assert_eq!(pair_next(&trf), Some(NextRound { round: 1, games: vec![], bye: None }));
}
