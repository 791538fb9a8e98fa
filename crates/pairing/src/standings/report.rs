//! Standings as a report file (TRF16), for arbiters' programs.

use std::collections::BTreeMap;

use zeitnot_rules::Color;
use zeitnot_wire::trf::{Bye, Card, Cell, MAX_PLAYERS, MAX_ROUNDS, Score, SeatNo, Trf, TrfPlayer};

use super::Standings;
use crate::format::PairingKind;

impl Standings {
    /// Returns the report of a tournament; `None` if it has more players or rounds than a report can have.
    ///
    /// The number of a player is the seat's. Games of a tournament without rounds get the first in which both players
    /// have none.
    pub fn trf(&self, name: &str) -> Option<Trf> {
        let ranks: BTreeMap<_, _> = self.rows().into_iter().map(|row| (row.seat, row.rank)).collect();
        let seated: Vec<_> = self.players.iter().zip((0..).map(SeatNo)).collect();
        let seated: Vec<_> =
            seated.into_iter().filter_map(|(player, seat)| Some((seat, player.as_ref()?))).collect();
        let places: BTreeMap<_, _> = seated.iter().map(|(seat, _)| *seat).zip((0..).map(SeatNo)).collect();
        let cards = self.cards();
        let cards: Vec<Vec<Cell>> = seated.iter().map(|(seat, _)| moved(&cards[seat.0], &places)).collect();
        let cards = if self.format.pairing.has_rounds() { cards } else { in_rounds(&cards) };
        if seated.len() > MAX_PLAYERS || cards.iter().any(|card| card.len() > MAX_ROUNDS) {
            return None;
        }
        let player = |((seat, entrant), card): (&(SeatNo, &super::Entrant), Vec<Cell>)| TrfPlayer {
            number: (seat.0 + 1) as u16,
            name: entrant.name.to_string(),
            rank: ranks.get(seat).map_or(0, |rank| *rank as u16),
            card: Card(card),
            virtual_points: self.virtual_points(*seat),
            is_absent: entrant.is_withdrawn,
            ..TrfPlayer::default()
        };
        let is_swiss = self.format.pairing == PairingKind::Swiss;
        Some(Trf {
            name: name.to_owned(),
            rounds: self.format.rounds.map(|rounds| rounds as usize).filter(|rounds| *rounds <= MAX_ROUNDS),
            first_color: is_swiss.then_some(Color::White),
            players: seated.iter().zip(cards).map(player).collect(),
        })
    }

    /// Points that an acceleration adds before each round.
    fn virtual_points(&self, seat: SeatNo) -> Vec<Score> {
        let Some(acceleration) = &self.acceleration else { return Vec::new() };
        let points = (0..MAX_ROUNDS).map(|round| acceleration.points(seat, round));
        points.take_while(|points| *points != Score::LOSS).collect()
    }
}

/// Returns a card with places instead of seats. A game against somebody who is forgotten is a bye.
fn moved(card: &[Cell], places: &BTreeMap<SeatNo, SeatNo>) -> Vec<Cell> {
    let moved = |cell: &Cell| {
        let mut moved = *cell;
        if let Cell::Game { opponent, .. } | Cell::Forfeit { opponent, .. } = &mut moved {
            match places.get(opponent) {
                Some(place) => *opponent = *place,
                None => moved = Cell::Bye(bye_of(cell.score())),
            }
        }
        moved
    };
    card.iter().map(moved).collect()
}

fn bye_of(score: Score) -> Bye {
    match score {
        Score::WIN => Bye::Full,
        Score::DRAW => Bye::Half,
        _ => Bye::Zero,
    }
}

/// Puts each game into the first round in which neither player has one.
fn in_rounds(cards: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    const FREE: Cell = Cell::Bye(Bye::Zero);
    let mut rounds: Vec<Vec<Cell>> = vec![Vec::new(); cards.len()];
    let put = |card: &mut Vec<Cell>, round: usize, cell: Cell| {
        card.resize(card.len().max(round + 1), FREE);
        card[round] = cell;
    };
    let is_free = |card: &[Cell], round: usize| card.get(round).is_none_or(|cell| *cell == FREE);
    for (place, cell) in
        cards.iter().enumerate().flat_map(|(place, card)| card.iter().map(move |cell| (place, cell)))
    {
        let round = |other: usize, rounds: &[Vec<Cell>]| {
            (0..)
                .find(|round| is_free(&rounds[place], *round) && is_free(&rounds[other], *round))
                .unwrap_or(0)
        };
        match *cell {
            Cell::Game { opponent, color: Color::White, score } => {
                let round = round(opponent.0, &rounds);
                put(&mut rounds[place], round, *cell);
                let theirs = Score::from_halves(Score::WIN.halves() - score.halves());
                let mirrored = Cell::Game { opponent: SeatNo(place), color: Color::Black, score: theirs };
                put(&mut rounds[opponent.0], round, mirrored);
            }
            Cell::Forfeit { opponent, color: Color::White, score } => {
                let round = round(opponent.0, &rounds);
                put(&mut rounds[place], round, *cell);
                let theirs = Score::from_halves(Score::WIN.halves() - score.halves());
                let mirrored = Cell::Forfeit { opponent: SeatNo(place), color: Color::Black, score: theirs };
                put(&mut rounds[opponent.0], round, mirrored);
            }
            Cell::Bye(_) if *cell != FREE => {
                let round = round(place, &rounds);
                put(&mut rounds[place], round, *cell);
            }
            Cell::Game { .. } | Cell::Forfeit { .. } | Cell::Bye(_) => {}
        }
    }
    rounds
}
