//! Standings of a tournament: a card of results for each player, and the order that follows from the cards.
//!
//! A result is entered in the two cards and nothing else is computed: the order is, when somebody asks for it.

use std::{borrow::Cow, collections::BTreeMap, iter::repeat_n};

use zeitnot_rules::{ByColor, Color, GameResult};

use crate::{
    card::{Bye, Card, Cell, Score, SeatNo},
    format::{Format, PairingKind, TieBreak},
    name::Name,
    swiss::Acceleration,
};

mod ranking;
mod report;
mod table;
#[cfg(test)]
mod tests;

use ranking::{Field, Place};

/// Results of all players so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standings {
    format: Format,
    seats: BTreeMap<Name, SeatNo>,
    /// By seat; a free one is `None`.
    players: Vec<Option<Entrant>>,
    /// Virtual points, of those who were there in the first round.
    acceleration: Option<Acceleration>,
}

/// Player with results.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entrant {
    name: Name,
    /// Cell for each round where there are rounds; else for each game. Opponents who are forgotten have no seat.
    card: Card,
    /// Plays no more: each further round is a bye without a point.
    is_withdrawn: bool,
}

impl Entrant {
    /// Returns the cells until this round if the player has left, else as many as there are.
    fn cells(&self, rounds: usize) -> Cow<'_, [Cell]> {
        let cells = &self.card.0;
        if self.is_withdrawn && cells.len() < rounds {
            let missing = rounds - cells.len();
            cells.iter().copied().chain(repeat_n(Cell::Bye(Bye::Zero), missing)).collect()
        } else {
            Cow::Borrowed(cells)
        }
    }
}

/// Counted games of one player.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games won, including forfeits of opponents.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost, including forfeits.
    pub losses: u32,
    /// Games lost by absence.
    pub forfeits: u32,
    /// Points without a game.
    pub byes: u32,
}

impl Tally {
    /// Returns the number of games, including forfeits.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    fn of(card: &Card) -> Tally {
        let mut tally = Tally::default();
        for cell in &card.0 {
            match cell {
                Cell::Game { score, is_played, .. } => match *score {
                    Score::WIN => tally.wins += 1,
                    Score::DRAW => tally.draws += 1,
                    _ => {
                        tally.losses += 1;
                        tally.forfeits += u32::from(!is_played);
                    }
                },
                Cell::Bye(Bye::Allocated | Bye::Full) => tally.byes += 1,
                Cell::Bye(Bye::Half | Bye::Zero) => {}
            }
        }
        tally
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: Name,
    /// Place, from 1. Players whom nothing parts share one.
    pub rank: u32,
    /// One for a win, a half for a draw.
    pub score: Score,
    /// Tie-breaks with their values, in the order in which they decide.
    pub tie_breaks: Vec<(TieBreak, f64)>,
    /// Counted games.
    pub tally: Tally,
    /// The player's seat.
    pub seat: SeatNo,
    /// Whether the player plays no more.
    pub is_withdrawn: bool,
}

impl Standings {
    /// Creates the standings of a tournament without players.
    pub fn new(format: Format) -> Standings {
        Standings { format, seats: BTreeMap::new(), players: Vec::new(), acceleration: None }
    }

    /// Changes the format before the first game.
    pub fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Adds a player who has not played yet.
    pub fn enter(&mut self, seat: SeatNo, name: &Name) {
        if self.seats.contains_key(name) {
            return;
        }
        if self.players.len() <= seat.0 {
            self.players.resize(seat.0 + 1, None);
        }
        self.players[seat.0] =
            Some(Entrant { name: name.clone(), card: Card::default(), is_withdrawn: false });
        self.seats.insert(name.clone(), seat);
    }

    /// Removes a player. The opponents keep their points, which count in no tie-break any more.
    pub fn forget(&mut self, name: &Name) {
        let Some(seat) = self.seats.remove(name) else { return };
        let Some(entrant) = self.players.get_mut(seat.0).and_then(Option::take) else { return };
        for cell in &entrant.card.0 {
            let Cell::Game { opponent, .. } = cell else { continue };
            let Some(Some(other)) = self.players.get_mut(opponent.0) else { continue };
            for cell in &mut other.card.0 {
                if let Cell::Game { opponent, .. } = cell
                    && *opponent == seat
                {
                    *opponent = SeatNo(usize::MAX);
                }
            }
        }
    }

    /// Takes in that a round is paired.
    pub fn begin_round(&mut self) {
        let Format { acceleration, rounds, .. } = self.format;
        let (players, rounds) = (self.seats.len(), rounds.unwrap_or_default() as usize);
        self.acceleration.get_or_insert_with(|| Acceleration::new(acceleration, players, rounds));
    }

    /// Returns the name of a player who has a seat.
    pub fn name(&self, player: &str) -> Option<&Name> {
        self.seats.get_key_value(player).map(|(name, _)| name)
    }

    pub fn games(&self, name: &Name) -> u32 {
        self.entrant(name).map_or(0, |entrant| Tally::of(&entrant.card).games())
    }

    /// Records a game between White and Black, played or not. A knockout has winners only: a draw there is played again.
    pub fn record(&mut self, round: u32, names: ByColor<&Name>, result: GameResult, is_played: bool) {
        if self.format.pairing == PairingKind::Knockout && result == GameResult::Draw {
            return;
        }
        let Some(seats) = self.seats_of(names) else { return };
        for color in Color::BOTH {
            self.put(seats[color], round, Cell::game(seats[!color], color, result, is_played));
        }
    }

    /// Takes back a game with this result, played or not.
    pub fn retract(&mut self, round: u32, names: ByColor<&Name>, result: GameResult, is_played: bool) {
        let Some(seats) = self.seats_of(names) else { return };
        for color in Color::BOTH {
            let taken = Cell::game(seats[!color], color, result, is_played);
            self.take_back(seats[color], round, |cell| *cell == taken);
        }
    }

    /// Takes back a point without a game.
    pub fn revoke_bye(&mut self, round: u32, name: &Name) {
        if let Some(&seat) = self.seats.get(name) {
            self.take_back(seat, round, |cell| *cell == Cell::Bye(Bye::Allocated));
        }
    }

    /// Records a point without a game. Returns whether that is new: the player has nothing else in that round.
    pub fn grant_bye(&mut self, round: u32, name: &Name) -> bool {
        let seat = self.seats.get(name).copied();
        seat.is_some_and(|seat| self.put(seat, round, Cell::Bye(Bye::Allocated)))
    }

    /// Returns the byes, each with its round.
    pub fn byes(&self) -> impl Iterator<Item = (usize, &Name)> {
        self.players.iter().flatten().flat_map(|entrant| {
            let rounds = entrant.card.0.iter().zip(1..);
            let byes = rounds.filter(|(cell, _)| **cell == Cell::Bye(Bye::Allocated));
            byes.map(|(_, round)| (round, &entrant.name))
        })
    }

    /// Records that a player plays no more.
    pub fn withdraw(&mut self, name: &Name) {
        if let Some(entrant) = self.entrant_mut(name) {
            entrant.is_withdrawn = true;
        }
    }

    /// Records that a player plays again.
    pub fn readmit(&mut self, name: &Name) {
        if let Some(entrant) = self.entrant_mut(name) {
            entrant.is_withdrawn = false;
        }
    }

    /// Returns the rows, best first; the order does not depend on who joined when.
    pub fn rows(&self) -> Vec<Row> {
        let field = Field::new(self.format.pairing, self.cards());
        let seats = self.seats.values().copied().collect();
        let row = |Place { seat, rank, values }| {
            let entrant = self.players.get(seat.0)?.as_ref()?;
            Some(Row {
                name: entrant.name.clone(),
                rank,
                score: field.score(seat),
                tie_breaks: self.format.tie_breaks.iter().copied().zip(values).collect(),
                tally: Tally::of(&entrant.card),
                seat,
                is_withdrawn: entrant.is_withdrawn,
            })
        };
        field.places(seats, &self.format.tie_breaks).into_iter().filter_map(row).collect()
    }

    /// Returns the cards by seat; those of players who have left go on to the last round.
    fn cards(&self) -> Vec<Cow<'_, [Cell]>> {
        let cards = self.players.iter().flatten().map(|entrant| entrant.card.0.len());
        let rounds = if self.format.pairing.has_rounds() { cards.max().unwrap_or(0) } else { 0 };
        let card =
            |entrant| Option::as_ref(entrant).map_or(Cow::Borrowed(&[][..]), |it| Entrant::cells(it, rounds));
        self.players.iter().map(card).collect()
    }

    fn entrant(&self, name: &Name) -> Option<&Entrant> {
        self.players.get(self.seats.get(name)?.0)?.as_ref()
    }

    fn entrant_mut(&mut self, name: &Name) -> Option<&mut Entrant> {
        self.players.get_mut(self.seats.get(name)?.0)?.as_mut()
    }

    fn seats_of(&self, names: ByColor<&Name>) -> Option<ByColor<SeatNo>> {
        let [white, black] = names.0.map(|name| self.seats.get(name).copied());
        Some(ByColor([white?, black?]))
    }

    /// Removes such a result, the latest; where there are rounds, of this one.
    fn take_back(&mut self, seat: SeatNo, round: u32, is_it: impl Fn(&Cell) -> bool) {
        let has_rounds = self.format.pairing.has_rounds();
        let Some(Some(Entrant { card: Card(cells), .. })) = self.players.get_mut(seat.0) else { return };
        if has_rounds {
            let cell = cells.get_mut(round.saturating_sub(1) as usize).filter(|cell| is_it(cell));
            if let Some(cell) = cell {
                *cell = Cell::Bye(Bye::Zero);
            }
        } else if let Some(at) = cells.iter().rposition(is_it) {
            cells.remove(at);
        }
    }

    /// Enters a result; where there are rounds, a player has one in each. A game takes the place of a bye.
    fn put(&mut self, seat: SeatNo, round: u32, cell: Cell) -> bool {
        let has_rounds = self.format.pairing.has_rounds();
        let Some(Some(Entrant { card: Card(cells), .. })) = self.players.get_mut(seat.0) else {
            return false;
        };
        let at = if has_rounds { round.saturating_sub(1) as usize } else { cells.len() };
        if cells.len() <= at {
            cells.resize(at + 1, Cell::Bye(Bye::Zero));
        }
        let is_bye = matches!(cell, Cell::Bye(_));
        let is_free = cells[at] == Cell::Bye(Bye::Zero) || !is_bye && cells[at] == Cell::Bye(Bye::Allocated);
        if is_free {
            cells[at] = cell;
        }
        is_free
    }
}
