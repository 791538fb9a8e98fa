//! Check of a tournament's rows against each other. Each may be well-formed, and together they make no tournament: a seat
//! beyond all others, or a result of somebody who has no seat, whose points would be lost without a word.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    change::{Fact, GameRow, Place},
    error::DatabaseError,
};
use zeitnot_pairing::{
    Name,
    format::{MAX_PLAYERS, PairingKind},
};

/// Place that no tournament reaches, and from which counting on is safe.
const MAX_PLACE: Place = 1 << 48;

/// Checks the events of a tournament, in their order, and its games.
pub(super) fn check(
    pairing: PairingKind,
    events: &[(Place, Fact)],
    games: &[GameRow],
) -> Result<(), DatabaseError> {
    let mut rows = Rows { pairing, games, seats: BTreeMap::new(), known: BTreeSet::new() };
    let places = games.iter().filter_map(|game| game.end.as_ref()?.place);
    if events.iter().map(|(place, _)| *place).chain(places).any(|place| place > MAX_PLACE) {
        return Err(damaged("an event or a game has a place beyond all others".to_owned()));
    }
    events.iter().try_for_each(|(_, fact)| rows.take(fact))?;
    games.iter().try_for_each(|game| rows.check_game(game))
}

/// Rows of a tournament up to a place.
struct Rows<'r> {
    pairing: PairingKind,
    games: &'r [GameRow],
    seats: BTreeMap<usize, &'r Name>,
    /// All who have had a seat.
    known: BTreeSet<&'r str>,
}

impl<'r> Rows<'r> {
    fn take(&mut self, fact: &'r Fact) -> Result<(), DatabaseError> {
        match fact {
            Fact::Seated { player, seat, .. } => self.seat(player, *seat),
            Fact::Freed { player } => {
                self.seats.retain(|_, seated| *seated != player);
                self.check_player(player.as_str(), "an event")
            }
            Fact::Withdrawn { player } | Fact::Returned { player } | Fact::Removed { player, .. } => {
                self.check_player(player.as_str(), "an event")
            }
            Fact::Bye { player, round } | Fact::ByeRevoked { player, round } => {
                self.check_round(*round, "an event")?;
                self.check_player(player.as_str(), "an event")
            }
            Fact::PairedByHand { white, black } => {
                [white, black].iter().try_for_each(|player| self.check_player(player.as_str(), "an event"))
            }
            Fact::Corrected { game, .. } => match self.games.iter().any(|other| other.header.id == *game) {
                true => Ok(()),
                false => Err(damaged(format!("game {game} is corrected, and it is not there"))),
            },
            Fact::Started | Fact::Paused | Fact::Resumed | Fact::LateEntries { .. } | Fact::Round { .. } => {
                Ok(())
            }
        }
    }

    fn seat(&mut self, player: &'r Name, seat: usize) -> Result<(), DatabaseError> {
        if seat >= MAX_PLAYERS {
            let last = MAX_PLAYERS - 1;
            return Err(damaged(format!("{player} has seat {seat}, and the last is {last}")));
        }
        if let Some(other) = self.seats.insert(seat, player).filter(|other| *other != player) {
            return Err(damaged(format!("{other} and {player} both have seat {seat}")));
        }
        self.known.insert(player.as_str());
        Ok(())
    }

    fn check_game(&self, game: &GameRow) -> Result<(), DatabaseError> {
        let subject = format!("game {}", game.header.id);
        let mut players = game.header.players.0.iter();
        players.try_for_each(|player| self.check_player(&player.name, &subject))?;
        self.check_round(game.header.round.unwrap_or_default(), &subject)
    }

    fn check_player(&self, player: &str, subject: &str) -> Result<(), DatabaseError> {
        match self.known.contains(player) {
            true => Ok(()),
            false => Err(damaged(format!("{subject} has the player {player:?}, who has no seat"))),
        }
    }

    /// Where there are rounds, each player has a card with a cell for each.
    fn check_round(&self, round: u32, subject: &str) -> Result<(), DatabaseError> {
        match self.pairing.has_rounds() && round as usize > MAX_PLAYERS {
            true => Err(damaged(format!("{subject} is of round {round}"))),
            false => Ok(()),
        }
    }
}

fn damaged(why: String) -> DatabaseError {
    DatabaseError::Damaged(why)
}
