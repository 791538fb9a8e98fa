//! Order of the players: points, then tie-breaks by FIDE handbook C.07, in force since March 2026.
//!
//! Where pairings follow from results (Swiss), rounds without a game count by its article 16; where they are settled in
//! advance, a forfeit is a game (15.2).

use std::{borrow::Cow, cmp::Reverse};

use crate::{
    card::{Bye, Cell, Score, SeatNo},
    format::{PairingKind, TieBreak},
};

/// Common multiple of the numbers of games that two players may have, so that averages stay whole numbers.
const AVERAGE: u64 = 720_720;

/// All players with their results.
#[derive(Debug)]
pub(super) struct Field<'c> {
    is_swiss: bool,
    rounds: usize,
    /// By seat.
    cards: Vec<Cow<'c, [Cell]>>,
    scores: Vec<Score>,
    /// Scores as the opponents' tie-breaks count them (16.3).
    adjusted: Vec<Score>,
}

/// Place of a player in the order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) seat: SeatNo,
    /// From 1; those whom nothing parts share one.
    pub(super) rank: u32,
    /// Values of the tie-breaks.
    pub(super) values: Vec<f64>,
}

impl<'c> Field<'c> {
    pub(super) fn new(pairing: PairingKind, cards: Vec<Cow<'c, [Cell]>>) -> Field<'c> {
        let is_swiss = pairing == PairingKind::Swiss;
        let scores = cards.iter().map(|card| card.iter().map(|cell| cell.score()).sum()).collect();
        let adjusted = match is_swiss {
            true => cards.iter().map(|card| adjusted(card)).collect(),
            false => Vec::new(),
        };
        let rounds = cards.iter().map(|card| card.len()).max().unwrap_or(0);
        Field { is_swiss, rounds, cards, scores, adjusted }
    }

    pub(super) fn score(&self, seat: SeatNo) -> Score {
        self.scores.get(seat.0).copied().unwrap_or_default()
    }

    /// Returns the order of these players, who stay in theirs where nothing parts them.
    pub(super) fn places(&self, seats: Vec<SeatNo>, tie_breaks: &[TieBreak]) -> Vec<Place> {
        let mut values = vec![Vec::new(); self.cards.len()];
        let mut groups = parted(seats, |seat| self.score(*seat));
        for tie_break in tie_breaks {
            let mut next = Vec::new();
            for group in groups {
                let quarters = self.quarters(*tie_break, &group);
                let mut valued: Vec<_> = group.into_iter().zip(quarters).collect();
                for (seat, quarters) in &valued {
                    values[seat.0].push(*quarters as f64 / 4.0);
                }
                valued.sort_by_key(|(_, quarters)| Reverse(*quarters));
                let equal = valued.chunk_by(|a, b| a.1 == b.1);
                next.extend(equal.map(|group| group.iter().map(|(seat, _)| *seat).collect::<Vec<_>>()));
            }
            groups = next;
        }
        let mut places = Vec::new();
        for group in groups {
            let rank = places.len() as u32 + 1;
            let place = |seat: SeatNo| Place { seat, rank, values: std::mem::take(&mut values[seat.0]) };
            places.extend(group.into_iter().map(place));
        }
        places
    }

    /// Values of a tie-break for players whom nothing has parted so far, in quarters of a point.
    fn quarters(&self, tie_break: TieBreak, tied: &[SeatNo]) -> Vec<u64> {
        let each = |value: &dyn Fn(SeatNo) -> u64| tied.iter().map(|seat| value(*seat)).collect();
        match tie_break {
            TieBreak::Buchholz => each(&|seat| 2 * self.buchholz(seat, false)),
            TieBreak::BuchholzCut1 => each(&|seat| 2 * self.buchholz(seat, true)),
            TieBreak::SonnebornBerger => each(&|seat| self.sonneborn_berger(seat)),
            TieBreak::Wins => each(&|seat| 4 * self.wins(seat)),
            TieBreak::DirectEncounter => self.direct_encounter(tied),
        }
    }

    fn card(&self, seat: SeatNo) -> &[Cell] {
        self.cards.get(seat.0).map_or(&[], |card| card)
    }

    /// Sum over the opponents' scores, in halves (8.1, 14.1).
    fn buchholz(&self, seat: SeatNo, has_cut: bool) -> u64 {
        let scores = || self.card(seat).iter().map(|cell| (is_voluntary(cell), self.opposition(seat, cell)));
        let sum: Score = scores().map(|(_, score)| score).sum();
        // A round that a player stayed away from is cut before all others (16.5).
        let cut = scores().min_by_key(|(is_voluntary, score)| (!is_voluntary, *score));
        let cut = cut.filter(|_| has_cut).map_or(Score::LOSS, |(_, score)| score);
        u64::from(sum.halves() - cut.halves())
    }

    /// Sum over the opponents' scores, each times the points against them (9.1).
    fn sonneborn_berger(&self, seat: SeatNo) -> u64 {
        let product =
            |cell: &Cell| u64::from(self.opposition(seat, cell).halves()) * u64::from(cell.score().halves());
        self.card(seat).iter().map(product).sum()
    }

    /// Games won at the board (7.2).
    fn wins(&self, seat: SeatNo) -> u64 {
        let is_won = |cell: &&Cell| matches!(cell, Cell::Game { score: Score::WIN, is_played: true, .. });
        self.card(seat).iter().filter(is_won).count() as u64
    }

    /// Score of the opponent of a round. Without a game it is a dummy's, who has the player's own score, but no more than
    /// the opponent who was to come, and no more than a player who drew all games (16.4).
    fn opposition(&self, seat: SeatNo, cell: &Cell) -> Score {
        let score = |scores: &[Score], opponent: &SeatNo| scores.get(opponent.0).copied().unwrap_or_default();
        match cell {
            Cell::Game { opponent, .. } if !self.is_swiss => score(&self.scores, opponent),
            Cell::Game { opponent, is_played: true, .. } => score(&self.adjusted, opponent),
            Cell::Game { opponent, .. } => self.score(seat).min(score(&self.adjusted, opponent)),
            Cell::Bye(_) if !self.is_swiss => Score::LOSS,
            Cell::Bye(_) => self.score(seat).min(Score::from_halves(self.rounds as u32)),
        }
    }

    /// Number of the tied players whom the games between them put below each one (6).
    fn direct_encounter(&self, tied: &[SeatNo]) -> Vec<u64> {
        let (mut below, mut values) = (tied.len(), vec![0; self.cards.len()]);
        for group in self.by_encounters(tied.to_vec()) {
            below -= group.len();
            group.iter().for_each(|seat| values[seat.0] = 4 * below as u64);
        }
        tied.iter().map(|seat| values[seat.0]).collect()
    }

    /// Parts a group by the games of its players against each other, as long as that parts anybody.
    fn by_encounters(&self, group: Vec<SeatNo>) -> Vec<Vec<SeatNo>> {
        if group.len() < 2 {
            return vec![group];
        }
        let of_group = self.encounters(&group);
        let have_all_met = of_group.iter().all(|(_, encounters)| encounters.missing == 0);
        let points = |(_, encounters): &(SeatNo, Encounters)| encounters.points;
        let parts: Vec<Vec<_>> = match !self.is_swiss || have_all_met {
            true => parted(of_group, points),
            false => by_certainty(of_group),
        };
        let seats =
            |part: Vec<(SeatNo, Encounters)>| part.into_iter().map(|(seat, _)| seat).collect::<Vec<_>>();
        match parts.len() {
            1 => parts.into_iter().map(seats).collect(),
            _ => parts.into_iter().flat_map(|part| self.by_encounters(seats(part))).collect(),
        }
    }

    /// Results of each player of a group against the others, with its seat.
    fn encounters(&self, group: &[SeatNo]) -> Vec<(SeatNo, Encounters)> {
        let mut is_tied = vec![false; self.cards.len()];
        group.iter().for_each(|seat| is_tied[seat.0] = true);
        let of = |seat: &SeatNo| {
            let mut met = vec![(0_u32, 0_u32); self.cards.len()];
            for cell in self.card(*seat) {
                if let Cell::Game { opponent, is_played, .. } = cell
                    && (*is_played || !self.is_swiss)
                    && is_tied.get(opponent.0) == Some(&true)
                {
                    let (halves, games) = &mut met[opponent.0];
                    (*halves, *games) = (*halves + cell.score().halves(), *games + 1);
                }
            }
            let met = met.into_iter().filter(|(_, games)| *games > 0);
            let averages = met.map(|(halves, games)| u64::from(halves) * AVERAGE / u64::from(games));
            let (count, points) = averages.fold((0, 0), |(count, sum), average| (count + 1, sum + average));
            (*seat, Encounters { points, missing: group.len() as u64 - 1 - count })
        };
        group.iter().map(of).collect()
    }
}

/// Results of a player against those who are tied with that player.
#[derive(Copy, Clone, Debug)]
struct Encounters {
    /// Sum of the average against each, in fractions of a half point.
    points: u64,
    /// Opponents not met.
    missing: u64,
}

impl Encounters {
    fn at_most(&self) -> u64 {
        self.points + self.missing * u64::from(Score::WIN.halves()) * AVERAGE
    }
}

/// Parts those from the rest who are ahead however the missing games had ended, one after the other.
fn by_certainty(mut rest: Vec<(SeatNo, Encounters)>) -> Vec<Vec<(SeatNo, Encounters)>> {
    rest.sort_by_key(|(_, encounters)| Reverse((encounters.points, encounters.at_most())));
    let mut parts = Vec::new();
    while let [(_, first), others @ ..] = rest.as_slice()
        && others
            .iter()
            .map(|(_, encounters)| encounters.at_most())
            .max()
            .is_some_and(|most| first.points > most)
    {
        parts.push(vec![rest.remove(0)]);
    }
    parts.push(rest);
    parts
}

/// Groups of equal keys, the greatest first.
fn parted<T: Clone, K: Ord>(mut all: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    all.sort_by_key(|one| Reverse(key(one)));
    all.chunk_by(|a, b| key(a) == key(b)).map(<[T]>::to_vec).collect()
}

/// Whether the player was not there to play (16.1.2).
fn is_voluntary(cell: &Cell) -> bool {
    match cell {
        Cell::Game { score, is_played, .. } => !is_played && *score == Score::LOSS,
        Cell::Bye(bye) => matches!(bye, Bye::Half | Bye::Zero),
    }
}

/// Score for the tie-breaks of the opponents: rounds at the end that a player asked to be left out of are draws (16.3).
fn adjusted(card: &[Cell]) -> Score {
    let last = card.iter().rposition(|cell| !is_voluntary(cell)).map_or(0, |last| last + 1);
    let (until, after) = card.split_at(last);
    let asked = |cell: &Cell| if matches!(cell, Cell::Bye(_)) { Score::DRAW } else { cell.score() };
    until.iter().map(|cell| cell.score()).chain(after.iter().map(asked)).sum()
}
