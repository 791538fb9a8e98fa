//! Pairing and checking of the tournament of a report file, by the Dutch rules.

use zeitnot_rules::Color;
use zeitnot_wire::trf::{Card, Cell, SeatNo, Trf};

use super::pairing::swiss::{self, Acceleration, Round, RoundPairing};

/// Next round of a tournament; players are pairing numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextRound {
    /// Number of the round, from 1.
    pub round: usize,
    /// White and Black of each game, the first board first.
    pub games: Vec<[u16; 2]>,
    /// Player with the pairing-allocated bye.
    pub bye: Option<u16>,
}

/// Round of a file, compared with the Dutch rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedRound {
    /// Pairing in the file, in order.
    pub file: NextRound,
    /// Pairing by the rules, in order; `None` if the absolute criteria allow none.
    pub rules: Option<NextRound>,
}

impl CheckedRound {
    /// Whether both agree.
    pub fn agrees(&self) -> bool {
        self.rules.as_ref() == Some(&self.file)
    }
}

/// No pairing of a round satisfies the absolute criteria.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("round {0}: no pairing satisfies the absolute criteria (nobody twice, colours, bye)")]
pub struct NoPairing(pub usize);

/// Pairs the next round by the Dutch rules: all who are not absent and have nothing in it yet.
pub fn pair_next(trf: &Trf) -> Result<NextRound, NoPairing> {
    let played = rounds_paired(trf);
    let here = |place: &usize| {
        let player = &trf.players[*place];
        !player.is_absent && player.card.0.len() <= played
    };
    let players: Vec<_> = (0..trf.players.len()).filter(here).map(SeatNo).collect();
    let pairing = pair_round(trf, played, &players).ok_or(NoPairing(played + 1))?;
    Ok(numbered(trf, played, &pairing))
}

/// Compares each round with the Dutch rules.
pub fn check_rounds(trf: &Trf) -> Vec<CheckedRound> {
    let check = |played| {
        let (players, pairing) = paired_in(trf, played);
        let rules = pair_round(trf, played, &players).map(|rules| numbered(trf, played, &rules).sorted());
        CheckedRound { file: numbered(trf, played, &pairing).sorted(), rules }
    };
    (0..rounds_paired(trf)).map(check).collect()
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
    swiss::pair(&cards, players, round, &Acceleration::of(points))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Tournaments that bbpPairings 6 and caissify-pairings 0.5.0 have paired, with withdrawals, byes and forfeits;
    /// `scripts/compare-swiss` compares thousands.
    #[test]
    fn other_programs_pair_the_same() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/swiss");
        let mut rounds = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let trf: Trf = fs::read_to_string(&path).unwrap().parse().unwrap();
            for round in check_rounds(&trf) {
                assert!(round.agrees(), "{}: {round:?}", path.display());
                rounds += 1;
            }
        }
        assert!(rounds >= 90, "{rounds} rounds");
    }

    #[test]
    fn the_next_round_of_a_file() {
        let mut trf = Trf::default();
        for number in 1..=7 {
            trf.players.push(zeitnot_wire::trf::TrfPlayer { number, ..Default::default() });
        }
        let next = pair_next(&trf).unwrap();
        assert_eq!(next, NextRound { round: 1, games: vec![[1, 4], [5, 2], [3, 6]], bye: Some(7) });
        // A bye that was asked for, and somebody who is not there.
        trf.players[0].card.0.push(Cell::Bye(zeitnot_wire::trf::Bye::Half));
        trf.players[6].is_absent = true;
        let next = pair_next(&trf).unwrap();
        assert_eq!(next, NextRound { round: 1, games: vec![[2, 4], [5, 3]], bye: Some(6) });
        trf.players.truncate(1);
        assert_eq!(pair_next(&trf), Ok(NextRound { round: 1, games: vec![], bye: None }));
    }
}
