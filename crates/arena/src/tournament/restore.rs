//! A tournament as its history leaves it, for an arena that goes on with it and for whoever asks for its results.

use std::collections::BTreeSet;

use zeitnot_rules::{ByColor, GameResult};

use super::{
    config::TournamentConfig,
    pairing::{self, Bye, Pairing, PairingSystem, SeatNo},
    players::{Players, SeatLimits},
    progress::Progress,
    standings::Standings,
};
use crate::{
    database::{Fact, GameEnd, GameHeader, History, Step},
    name::Name,
};

/// A tournament that goes on, or begins.
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) progress: Progress,
    pub(super) players: Players,
    pub(super) pairing: Box<dyn PairingSystem>,
    pub(super) standings: Standings,
    /// Games that began.
    pub(super) rounds: u32,
    /// Games without a result that have not been repeated.
    pub(super) broken_off: Vec<BrokenOff>,
    /// Byes that the last arena did not come to write down.
    pub(super) lost_byes: Vec<(Name, Bye)>,
}

/// Game without a result, which is to be played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrokenOff {
    pub(super) id: String,
    pub(super) names: ByColor<Name>,
}

impl Restored {
    pub(super) fn new(config: &TournamentConfig, limits: SeatLimits) -> Restored {
        Restored {
            progress: Progress::new(config),
            players: Players::new(limits),
            pairing: pairing::system(config),
            standings: Standings::new(config.format()),
            rounds: 0,
            broken_off: Vec::new(),
            lost_byes: Vec::new(),
        }
    }

    /// Takes in what has happened so far. All players are away from now on.
    pub(super) fn replay(&mut self, history: &History) {
        for step in history.steps() {
            // The pairing counts a seat before its games are forgotten.
            if self.pair(step) {
                count(&mut self.standings, step);
            }
            self.grant_byes();
        }
        let began = history.games.iter().filter(|game| game.end.as_ref().is_none_or(GameEnd::is_played));
        self.rounds = u32::try_from(began.count()).unwrap_or(u32::MAX);
        let repeated: BTreeSet<_> =
            history.games.iter().filter_map(|g| g.header.repeats.as_deref()).collect();
        let broken_off = history.games.iter().filter(|game| {
            game.end.as_ref().is_some_and(|end| end.result.is_none()) && !repeated.contains(&*game.header.id)
        });
        self.broken_off = broken_off.filter_map(|game| BrokenOff::of(&game.header)).collect();
    }

    /// Counts the byes of the rounds that the pairing has begun, unless the history had them.
    fn grant_byes(&mut self) {
        for bye in self.pairing.take_byes() {
            if let Some(player) = self.players.seats.get(&bye.seat)
                && self.standings.grant_bye(bye.round, &player.name)
            {
                self.lost_byes.push((player.name.clone(), bye));
            }
        }
    }

    /// Returns whether the step counts in the standings as it is.
    fn pair(&mut self, step: Step<'_>) -> bool {
        if let Step::Fact(fact) = step {
            self.progress.apply(fact);
        }
        match step {
            Step::Fact(Fact::Seated { player, seat, holder }) => {
                self.players.restore(SeatNo(*seat), player.clone(), *holder);
                self.progress.seated(self.players.seats.len());
                self.pairing.enter(SeatNo(*seat), player);
            }
            Step::Fact(Fact::Freed { player }) => {
                if let Some(seat) = self.players.seat_of(player.as_str()) {
                    self.players.seats.remove(&seat);
                    self.pairing.forget(seat);
                }
            }
            Step::Fact(Fact::Withdrawn { player }) => {
                let Some(seat) = self.players.seat_of(player.as_str()) else { return false };
                self.pairing.withdraw(seat, &self.players.seats.keys().copied().collect::<Vec<_>>());
                if let Some(player) = self.players.seats.get_mut(&seat) {
                    (player.absent_since, player.is_withdrawn) = (None, true);
                }
            }
            Step::Fact(Fact::Bye { .. }) => {}
            Step::Fact(Fact::Started | Fact::Paused | Fact::Resumed | Fact::LateEntries { .. }) => {
                return false;
            }
            // A forfeit is part of the withdrawal.
            Step::Result(_, end, _) if !end.is_played() => {}
            Step::Result(header, _, result) => {
                let [white, black] = header.names.0.each_ref().map(|name| self.players.seat_of(name));
                if let (Some(white), Some(black)) = (white, black) {
                    let opening = header.opening.unwrap_or_default();
                    return self.pairing.played(Pairing { seats: ByColor([white, black]), opening }, result);
                }
            }
        }
        true
    }
}

impl BrokenOff {
    pub(super) fn of(header: &GameHeader) -> Option<BrokenOff> {
        let names = names(header)?;
        Some(BrokenOff { id: header.id.to_string(), names })
    }
}

/// Returns the standings that a history leads to.
pub(crate) fn standings(history: &History) -> Standings {
    let mut standings = Standings::new(history.tournament.format.clone());
    history.steps().into_iter().for_each(|step| count(&mut standings, step));
    standings
}

fn names(header: &GameHeader) -> Option<ByColor<Name>> {
    let [white, black] = &header.names.0;
    let name = |text: &str| Name::try_from(text).ok();
    Some(ByColor([name(white)?, name(black)?]))
}

fn count(standings: &mut Standings, step: Step<'_>) {
    match step {
        Step::Fact(Fact::Seated { player, seat, .. }) => standings.enter(SeatNo(*seat), player),
        Step::Fact(Fact::Freed { player }) => standings.forget(player),
        Step::Fact(Fact::Bye { player, round }) => drop(standings.grant_bye(*round, player)),
        Step::Fact(Fact::Withdrawn { player }) => standings.withdraw(player),
        Step::Fact(_) => {}
        Step::Result(header, end, result) => {
            let Some(names) = names(header) else { return };
            let (names, round) = (ByColor(names.0.each_ref()), header.round.unwrap_or_default());
            match result {
                GameResult::Won(winner) if !end.is_played() => standings.forfeit(round, names, winner),
                _ => standings.record(round, names, result),
            }
        }
    }
}
