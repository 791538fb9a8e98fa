//! Rounds of report files, paired anew.

use std::{env, fs};

use zeitnot_rules::Color;

use crate::{
    card::{Bye, Card, Cell, SeatNo},
    report_file::ReportFile,
    swiss::{Acceleration, Round, dutch::RoundPairing, pair},
};

/// Number of the rounds that were paired; byes asked for later rounds are none.
fn rounds_paired(file: &ReportFile) -> usize {
    let last = |card: &Card| card.0.iter().rposition(Cell::is_paired).map_or(0, |last| last + 1);
    file.players.iter().map(|player| last(&player.card)).max().unwrap_or(0)
}

/// Players who were paired in a round, and how.
fn paired_in(file: &ReportFile, round: usize) -> (Vec<SeatNo>, RoundPairing) {
    let (mut players, mut pairing) = (Vec::new(), RoundPairing::default());
    for (seat, player) in (0..).map(SeatNo).zip(&file.players) {
        let Some(cell) = player.card.0.get(round).filter(|cell| cell.is_paired()) else { continue };
        players.push(seat);
        match *cell {
            Cell::Game { opponent, color: Color::White, .. } => pairing.games.push([seat, opponent]),
            Cell::Game { .. } => {}
            Cell::Bye(_) => pairing.bye = Some(seat),
        }
    }
    (players, pairing)
}

fn pair_round(file: &ReportFile, played: usize, players: &[SeatNo]) -> Option<RoundPairing> {
    let before = |card: &Card| Card(card.0.iter().take(played).copied().collect());
    let cards: Vec<_> = file.players.iter().map(|player| before(&player.card)).collect();
    let round = Round { played, rounds: file.rounds.unwrap_or(usize::MAX), initial: first_color(file) };
    pair(&cards, players, round, &Acceleration::default())
}

/// The first colour: as the file says, else as the first player who was paired in the first round had it.
fn first_color(file: &ReportFile) -> Color {
    let colors = (0..rounds_paired(file)).find_map(|round| {
        let cells = file.players.iter().filter_map(|player| player.card.0.get(round));
        let mut paired = cells.filter(|cell| cell.is_paired()).enumerate();
        paired.find_map(|(at, cell)| match cell {
            // Each second one had the other colour.
            Cell::Game { color, .. } => Some(if at % 2 == 0 { *color } else { !*color }),
            Cell::Bye(_) => None,
        })
    });
    file.first_color.or(colors).unwrap_or(Color::White)
}

/// Lists the games and the bye that are only in the first pairing.
fn difference(file: &ReportFile, one: &RoundPairing, other: &RoundPairing) -> String {
    let number = |seat: SeatNo| file.players[seat.0].number;
    let games = one.games.iter().filter(|game| !other.games.contains(game));
    let games = games.map(|[white, black]| format!("{}-{}", number(*white), number(*black)));
    let bye = one.bye.filter(|_| one.bye != other.bye).map(|bye| format!("bye {}", number(bye)));
    games.chain(bye).collect::<Vec<_>>().join(" ")
}

/// Tournaments that bbpPairings 6 and caissify-pairings 0.5.0 have paired, with withdrawals, byes and forfeits;
/// `scripts/compare-swiss` compares the thousands of another folder, and reads the differences.
#[test]
fn other_programs_pair_the_same() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/swiss");
    let folder = env::var("ZEITNOT_SWISS_REPORTS").unwrap_or_else(|_| fixtures.to_owned());
    let (mut rounds, mut differing) = (0, String::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = ReportFile::read(&fs::read_to_string(&path).unwrap());
        for played in 0..rounds_paired(&file) {
            rounds += 1;
            let (players, theirs) = paired_in(&file, played);
            let ours = pair_round(&file, played, &players);
            let told = match ours {
                None => "by the rules no pairing is possible".to_owned(),
                Some(ours) => {
                    let (theirs, ours) =
                        (difference(&file, &theirs, &ours), difference(&file, &ours, &theirs));
                    if theirs.is_empty() && ours.is_empty() {
                        continue;
                    }
                    format!("file : {theirs}\n  rules: {ours}")
                }
            };
            differing += &format!("\n{}: round {} differs\n  {told}", path.display(), played + 1);
        }
    }
    assert!(differing.is_empty(), "{differing}");
    assert!(rounds >= 90, "{rounds} rounds");
}

#[test]
fn the_first_round() {
    let mut cards = vec![Card::default(); 7];
    let round = Round { played: 0, rounds: usize::MAX, initial: Color::White };
    let pairing = |cards: &[Card], players: &[usize]| {
        let players: Vec<_> = players.iter().map(|player| SeatNo(*player)).collect();
        let RoundPairing { games, bye } = pair(cards, &players, round, &Acceleration::default()).unwrap();
        (games.into_iter().map(|game| game.map(|seat| seat.0)).collect::<Vec<_>>(), bye.map(|seat| seat.0))
    };
    assert_eq!(pairing(&cards, &[0, 1, 2, 3, 4, 5, 6]), (vec![[0, 3], [4, 1], [2, 5]], Some(6)));
    // A bye that was asked for, and somebody who is not there.
    cards[0].0.push(Cell::Bye(Bye::Half));
    assert_eq!(pairing(&cards, &[1, 2, 3, 4, 5]), (vec![[1, 3], [4, 2]], Some(5)));
    assert_eq!(pairing(&cards[..1], &[0]), (vec![], Some(0)));
}
