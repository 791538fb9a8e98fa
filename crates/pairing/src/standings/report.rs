//! Standings as a report file (TRF16, FIDE handbook C.04.A, annex 2), for arbiters' programs.
//!
//! Besides the agreed lines it has these of JaVaFo: `XXR` rounds, `XXC` first colour, `XXA` virtual points, `XXZ` who plays no
//! more.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use zeitnot_rules::Color;

use super::{Entrant, Standings};
use crate::{
    card::{Bye, Cell, Score, SeatNo},
    format::{MAX_PLAYERS, PairingKind},
};

/// Rounds of a report, at most.
const MAX_ROUNDS: usize = 60;
/// Columns of a name.
const NAME: usize = 33;

impl Standings {
    /// Returns the report of a tournament; `None` if it has more players or rounds than a report can have.
    ///
    /// The number of a player is the seat's. Games of a tournament without rounds get the first in which both players
    /// have none.
    pub fn trf(&self, name: &str) -> Option<String> {
        let known = |card: &[Cell]| card.iter().map(|cell| self.known(*cell)).collect();
        let cards: Vec<Vec<Cell>> = self.cards().iter().map(|card| known(card)).collect();
        let cards = if self.format.pairing.has_rounds() { cards } else { in_rounds(&cards) };
        if self.seats.len() > MAX_PLAYERS || cards.iter().any(|card| card.len() > MAX_ROUNDS) {
            return None;
        }
        let mut report = String::new();
        self.write_report(&mut report, name, &cards).ok()?;
        Some(report)
    }

    /// Returns a round with a bye in place of a game against somebody who is forgotten.
    fn known(&self, cell: Cell) -> Cell {
        match cell {
            Cell::Game { opponent, score, .. } if !matches!(self.players.get(opponent.0), Some(Some(_))) => {
                Cell::Bye(match score {
                    Score::WIN => Bye::Full,
                    Score::DRAW => Bye::Half,
                    _ => Bye::Zero,
                })
            }
            cell => cell,
        }
    }

    fn write_report(&self, out: &mut String, name: &str, cards: &[Vec<Cell>]) -> fmt::Result {
        let ranks: BTreeMap<_, _> = self.rows().into_iter().map(|row| (row.seat, row.rank)).collect();
        let seated = (0..).map(SeatNo).zip(&self.players);
        let seated: Vec<(_, &Entrant)> =
            seated.filter_map(|(seat, player)| Some((seat, player.as_ref()?))).collect();
        writeln!(out, "012 {name}\n062 {}\n072 0", seated.len())?;
        if let Some(rounds) = self.format.rounds.filter(|rounds| *rounds as usize <= MAX_ROUNDS) {
            writeln!(out, "XXR {rounds}")?;
        }
        if self.format.pairing == PairingKind::Swiss {
            writeln!(out, "XXC white1")?;
        }
        for &(seat, entrant) in &seated {
            let name: String = entrant.name.as_str().chars().take(NAME).collect();
            let card = &cards[seat.0];
            let points = card.iter().map(|cell| cell.score()).sum::<Score>().points();
            let rank = ranks.get(&seat).copied().unwrap_or_default();
            write!(out, "001 {:4}      {name:NAME$} {:32}{points:4.1} {rank:4}  ", number(seat), "")?;
            card.iter().try_for_each(|cell| write_cell(out, *cell))?;
            writeln!(out)?;
        }
        for &(seat, _) in &seated {
            let points = self.virtual_points(seat);
            if !points.is_empty() {
                write!(out, "XXA {:4}", number(seat))?;
                points.iter().try_for_each(|points| write!(out, " {:4.1}", points.points()))?;
                writeln!(out)?;
            }
        }
        let withdrawn = seated.iter().filter(|(_, entrant)| entrant.is_withdrawn);
        let withdrawn: Vec<_> = withdrawn.map(|(seat, _)| number(*seat).to_string()).collect();
        if withdrawn.is_empty() { Ok(()) } else { writeln!(out, "XXZ {}", withdrawn.join(" ")) }
    }

    /// Points that an acceleration adds before each round.
    fn virtual_points(&self, seat: SeatNo) -> Vec<Score> {
        let Some(acceleration) = &self.acceleration else { return Vec::new() };
        let points = (0..MAX_ROUNDS).map(|round| acceleration.points(seat, round));
        points.take_while(|points| *points != Score::LOSS).collect()
    }
}

fn number(seat: SeatNo) -> usize {
    seat.0 + 1
}

fn write_cell(out: &mut String, cell: Cell) -> fmt::Result {
    match cell {
        Cell::Game { opponent, color, score, is_played } => {
            let color = if color == Color::White { 'w' } else { 'b' };
            let result = match (score, is_played) {
                (Score::WIN, true) => '1',
                (Score::DRAW, true) => '=',
                (_, true) => '0',
                (Score::LOSS, false) => '-',
                (_, false) => '+',
            };
            write!(out, "{:4} {color} {result}  ", number(opponent))
        }
        Cell::Bye(bye) => {
            let result = match bye {
                Bye::Allocated => 'U',
                Bye::Full => 'F',
                Bye::Half => 'H',
                Bye::Zero => 'Z',
            };
            write!(out, "0000 - {result}  ")
        }
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
            Cell::Game { opponent, color: Color::White, score, is_played } => {
                let round = round(opponent.0, &rounds);
                put(&mut rounds[place], round, *cell);
                let score = Score::from_halves(Score::WIN.halves() - score.halves());
                let opponents = Cell::Game { opponent: SeatNo(place), color: Color::Black, score, is_played };
                put(&mut rounds[opponent.0], round, opponents);
            }
            Cell::Bye(_) if *cell != FREE => {
                let round = round(place, &rounds);
                put(&mut rounds[place], round, *cell);
            }
            Cell::Game { .. } | Cell::Bye(_) => {}
        }
    }
    rounds
}
