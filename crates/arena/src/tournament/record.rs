//! Record of a tournament: its standings, and the games that are over, which can be corrected. It follows from the steps
//! of the history alone, in an arena that runs, after a restart, and for whoever asks for the results.

use std::{collections::BTreeMap, sync::Arc};

use zeitnot_pairing::{
    Name, NotNow, Pairing, PairingSystem, Past, SeatNo, format::Format, standings::Standings,
};
use zeitnot_rules::{ByColor, GameResult};

use super::{
    pairing_log::{bye_row, game_row, revoked_row},
    players::Players,
};
use zeitnot_host::{
    database::{Fact, GameEnd, GameHeader, GameRow, Step},
    live::view::PairingRow,
    note::Note,
};

/// Standings and games that are over, by their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    standings: Standings,
    games: BTreeMap<Arc<str>, PastGame>,
}

/// Game that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PastGame {
    names: ByColor<Name>,
    opening: u64,
    round: u32,
    is_played: bool,
    /// Result that counts now; `None` if it does not count.
    result: Option<GameResult>,
}

impl PastGame {
    /// Enters it in the standings.
    fn count(&self, standings: &mut Standings) {
        let names = ByColor(self.names.0.each_ref());
        if let Some(result) = self.result {
            standings.record(self.round, names, result, self.is_played);
        }
    }

    fn take_back(&self, standings: &mut Standings) {
        if let Some(result) = self.result {
            standings.retract(self.round, ByColor(self.names.0.each_ref()), result, self.is_played);
        }
    }

    /// Returns the game as the page is to show it after a correction.
    fn row(&self, id: &str, note: &Note) -> PairingRow {
        let [white, black] = self.names.0.each_ref().map(ToString::to_string);
        PairingRow {
            round: self.round,
            white,
            black: Some(black),
            game: Some(id.to_owned()),
            result: Some(self.result.map_or("*", GameResult::as_str).to_owned()),
            forfeit: !self.is_played,
            note: Some(note.to_string()),
        }
    }
}

impl Record {
    pub(super) fn new(format: Format) -> Record {
        Record { standings: Standings::new(format), games: BTreeMap::new() }
    }

    /// Changes the format before the first game.
    pub(super) fn set_format(&mut self, format: Format) {
        self.standings.set_format(format);
    }

    pub(super) fn standings(&self) -> &Standings {
        &self.standings
    }

    pub(super) fn into_standings(self) -> Standings {
        self.standings
    }

    /// Takes in a step; returns the pairing that it ends or changes, if any, for the page.
    pub(super) fn apply(&mut self, step: Step<'_>) -> Option<PairingRow> {
        match step {
            Step::Fact(fact) => self.apply_fact(fact),
            Step::Result(header, end, result) => {
                if let Some(game) = self.count(header, end, result) {
                    self.games.insert(header.id.clone(), game);
                }
                Some(game_row(header, end))
            }
        }
    }

    /// Enters a game in the standings, and returns it, unless its players are none.
    pub(super) fn count(
        &mut self,
        header: &GameHeader,
        end: &GameEnd,
        result: GameResult,
    ) -> Option<PastGame> {
        let game = PastGame {
            names: self.names(header)?,
            opening: header.opening.unwrap_or_default(),
            round: header.round.unwrap_or_default(),
            is_played: end.is_played(),
            result: Some(result),
        };
        game.count(&mut self.standings);
        Some(game)
    }

    pub(super) fn apply_fact(&mut self, fact: &Fact) -> Option<PairingRow> {
        let standings = &mut self.standings;
        match fact {
            Fact::Seated { player, seat, .. } => standings.enter(SeatNo(*seat), player),
            Fact::Freed { player } => {
                standings.forget(player);
                self.games.retain(|_, game| !game.names.0.contains(player));
            }
            Fact::Round { .. } => standings.begin_round(),
            // A round that is paired again after a restart has the bye that it had.
            Fact::Bye { player, round } => {
                return standings.grant_bye(*round, player).then(|| bye_row(*round, player));
            }
            Fact::ByeRevoked { player, round } => {
                standings.revoke_bye(*round, player);
                return Some(revoked_row(*round, player));
            }
            Fact::Withdrawn { player } | Fact::Removed { player, .. } => standings.withdraw(player),
            Fact::Returned { player } => standings.readmit(player),
            Fact::Corrected { game: id, result, note } => {
                let game = self.games.get_mut(&**id)?;
                game.take_back(standings);
                game.result = *result;
                game.count(standings);
                return Some(game.row(id, note));
            }
            Fact::Started
            | Fact::Paused
            | Fact::Resumed
            | Fact::LateEntries { .. }
            | Fact::PairedByHand { .. } => {}
        }
        None
    }

    /// Takes in a game that is over; returns it for the page.
    pub(super) fn add(&mut self, game: &GameRow) -> Option<PairingRow> {
        let end = game.end.as_ref()?;
        match end.result {
            Some(result) => self.apply(Step::Result(&game.header, end, result)),
            None => Some(game_row(&game.header, end)),
        }
    }

    /// Returns the names of a game's players, which all their games share; `None` if they are none.
    fn names(&self, header: &GameHeader) -> Option<ByColor<Name>> {
        let [white, black] = header.players.0.each_ref().map(|it| self.standings.name(&it.name).cloned());
        white.zip(black).map(|(white, black)| ByColor([white, black])).or_else(|| names(header))
    }

    /// Takes a game's result out of the standings ahead of its correction, which finds nothing to take back then.
    pub(super) fn take_back(&mut self, id: &str) {
        if let Some(game) = self.games.get(id) {
            game.take_back(&mut self.standings);
        }
    }

    /// Returns the players and the result of a game.
    pub(super) fn get(&self, id: &str) -> Option<(&ByColor<Name>, Option<GameResult>)> {
        self.games.get(id).map(|game| (&game.names, game.result))
    }

    /// Gives a game another result in the pairings, if that can be. `busy` are the games of the two at the board.
    pub(super) fn correct(
        &self,
        id: &str,
        result: Option<GameResult>,
        pairing: &mut dyn PairingSystem,
        players: &Players,
        busy: &[Pairing],
    ) -> Result<(), NotNow> {
        let Some(game) = self.games.get(id) else { return Ok(()) };
        let [white, black] = game.names.0.each_ref().map(|name| players.seat_of(name.as_str()));
        let (Some(white), Some(black)) = (white, black) else { return Err(NotNow::Withdrawn) };
        let seats = ByColor([white, black]);
        let past = Past {
            pairing: Pairing { seats, opening: game.opening },
            round: game.round,
            is_busy: !busy.is_empty(),
        };
        let again = busy.iter().filter(|pairing| pairing.seats == seats).count();
        let is_of_round = pairing.round().is_none_or(|round| round == game.round);
        match (game.result, result) {
            // It was decided otherwise, and its two players may be paired again.
            (None, Some(_)) if !is_of_round => return Err(NotNow::RoundOver),
            (Some(_), Some(result)) => pairing.rescore(past, result)?,
            (Some(_), None) => pairing.reopen(past)?,
            (None, Some(_)) if pairing.awaits(seats) as usize <= busy.len() => return Err(NotNow::NoneLeft),
            (None, Some(_)) if pairing.reopened(seats) as usize <= again => return Err(NotNow::PlayedAgain),
            (None, Some(result)) if game.is_played => drop(pairing.played(past.pairing, result)),
            (None, Some(result)) => drop(pairing.forfeited(past.pairing, result)),
            (None, None) => {}
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn ids(&self) -> Vec<String> {
        self.games.keys().map(ToString::to_string).collect()
    }

    /// Players and round of each game at the board that counts: one that does not may be forfeited in its second try, and
    /// its players meet in a later round.
    #[cfg(test)]
    pub(super) fn meetings(&self) -> impl Iterator<Item = (&ByColor<Name>, u32)> {
        self.games
            .values()
            .filter(|game| game.is_played && game.result.is_some())
            .map(|game| (&game.names, game.round))
    }
}

/// Returns the names of a game's players; `None` if they are none.
pub(super) fn names(header: &GameHeader) -> Option<ByColor<Name>> {
    let [white, black] = header.players.0.each_ref().map(|it| Name::try_from(it.name.as_str()).ok());
    Some(ByColor([white?, black?]))
}
