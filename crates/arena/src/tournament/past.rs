//! Games of a tournament that are over, for corrections.

use std::collections::BTreeMap;

use zeitnot_host::{database::GameHeader, live::view::PairingRow};
use zeitnot_pairing::{Name, NotNow, Pairing, PairingSystem, Past, standings::Standings};
use zeitnot_rules::{ByColor, GameResult};

use super::players::Players;

/// Games that are over, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PastGames(BTreeMap<String, PastGame>);

/// Game that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PastGame {
    names: ByColor<Name>,
    opening: u64,
    round: u32,
    is_played: bool,
    /// Result that counts now; `None` if it does not count.
    result: Option<GameResult>,
}

impl PastGame {
    fn score(&self) -> Option<GameScore> {
        let result = self.result?;
        Some(GameScore { names: self.names.clone(), round: self.round, result, is_played: self.is_played })
    }
}

/// Scores before and after a correction.
#[derive(Debug)]
pub(super) struct Correction {
    id: String,
    game: PastGame,
    before: Option<GameScore>,
    after: Option<GameScore>,
}

impl Correction {
    /// Returns the game as the page is to show it now.
    pub(super) fn row(&self, note: &str) -> PairingRow {
        let PastGame { names, round, is_played, result, .. } = &self.game;
        let [white, black] = names.0.each_ref().map(ToString::to_string);
        PairingRow {
            round: *round,
            white,
            black: Some(black),
            game: Some(self.id.clone()),
            result: Some(result.map_or("*", GameResult::as_str).to_owned()),
            forfeit: !is_played,
            note: Some(note.to_owned()),
        }
    }

    /// Takes the result of before out of the standings.
    pub(super) fn take_back(&self, standings: &mut Standings) {
        if let Some(score) = &self.before {
            score.take_back(standings);
        }
    }

    /// Enters the result of now in the standings.
    pub(super) fn count(&self, standings: &mut Standings) {
        if let Some(score) = &self.after {
            score.count(standings);
        }
    }
}

/// Result of a game as the standings have it.
#[derive(Clone, Debug)]
pub(super) struct GameScore {
    pub(super) names: ByColor<Name>,
    pub(super) round: u32,
    pub(super) result: GameResult,
    /// There was a game at the board.
    pub(super) is_played: bool,
}

impl GameScore {
    /// Enters it in the standings.
    pub(super) fn count(&self, standings: &mut Standings) {
        let names = ByColor(self.names.0.each_ref());
        match self.is_played {
            true => standings.record(self.round, names, self.result),
            false => standings.forfeit(self.round, names, self.result),
        }
    }

    fn take_back(&self, standings: &mut Standings) {
        standings.retract(self.round, ByColor(self.names.0.each_ref()), self.result, self.is_played);
    }
}

impl PastGames {
    /// Adds a game with its result.
    pub(super) fn add(&mut self, header: &GameHeader, is_played: bool, result: GameResult) {
        let [Ok(white), Ok(black)] = header.names.0.each_ref().map(|name| Name::try_from(name.as_str()))
        else {
            return;
        };
        let game = PastGame {
            names: ByColor([white, black]),
            opening: header.opening.unwrap_or_default(),
            round: header.round.unwrap_or_default(),
            is_played,
            result: Some(result),
        };
        self.0.insert(header.id.to_string(), game);
    }

    /// Forgets the games of a player whose seat is free.
    pub(super) fn forget(&mut self, name: &Name) {
        self.0.retain(|_, game| !game.names.0.contains(name));
    }

    /// Returns the players and the result of a game.
    pub(super) fn get(&self, id: &str) -> Option<(&ByColor<Name>, Option<GameResult>)> {
        self.0.get(id).map(|game| (&game.names, game.result))
    }

    /// Returns whether a game was at the board.
    pub(super) fn is_played(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|game| game.is_played)
    }

    /// Gives a game another result, in the standings only.
    pub(super) fn swap(&mut self, id: &str, result: Option<GameResult>) -> Option<Correction> {
        let game = self.0.get_mut(id)?;
        let before = game.score();
        game.result = result;
        Some(Correction { id: id.to_owned(), game: game.clone(), before, after: game.score() })
    }

    /// Gives a game another result in the pairings, if that can be. `busy` is the number of games of the two at the board.
    pub(super) fn correct(
        &self,
        id: &str,
        result: Option<GameResult>,
        pairing: &mut dyn PairingSystem,
        players: &Players,
        busy: u32,
    ) -> Result<(), NotNow> {
        let Some(game) = self.0.get(id) else { return Ok(()) };
        let [white, black] = game.names.0.each_ref().map(|name| players.seat_of(name.as_str()));
        let (Some(white), Some(black)) = (white, black) else { return Err(NotNow::Withdrawn) };
        let seats = ByColor([white, black]);
        let past =
            Past { pairing: Pairing { seats, opening: game.opening }, round: game.round, is_busy: busy > 0 };
        match (game.result, result) {
            (Some(_), Some(result)) => pairing.rescore(past, result)?,
            (Some(_), None) => pairing.reopen(past)?,
            (None, Some(_)) if pairing.awaits(seats) <= busy => return Err(NotNow::NoneLeft),
            (None, Some(result)) if game.is_played => drop(pairing.played(past.pairing, result)),
            (None, Some(result)) => drop(pairing.forfeited(past.pairing, result)),
            (None, None) => {}
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Players and round of each game at the board.
    #[cfg(test)]
    pub(super) fn meetings(&self) -> impl Iterator<Item = (&ByColor<Name>, u32)> {
        self.0.values().filter(|game| game.is_played).map(|game| (&game.names, game.round))
    }
}
