//! A tournament as its history leaves it, for an arena that goes on with it and for whoever asks for its results.

use std::collections::{BTreeMap, BTreeSet};

use zeitnot_host::database::{Fact, GameEnd, GameHeader, History, Step};
use zeitnot_pairing::{self, Bye, Name, Pairing, PairingSystem, SeatNo, standings::Standings};
use zeitnot_rules::{ByColor, GameResult};

use super::{
    config::TournamentConfig,
    past::PastGames,
    players::{Players, SeatLimits},
    progress::Progress,
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
    pub(super) past: PastGames,
    /// Byes, and ends of byes, that the last arena did not come to write down.
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
            pairing: config.pairing_system(),
            standings: Standings::new(config.format()),
            rounds: 0,
            broken_off: Vec::new(),
            past: PastGames::default(),
            lost_byes: Vec::new(),
        }
    }

    /// Takes in what has happened so far. All players are away from now on.
    pub(super) fn replay(&mut self, history: &History) {
        for step in history.steps() {
            self.pair(step);
            count(&mut self.standings, &mut self.past, step);
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
            let Some(player) = self.players.seats.get(&bye.seat) else { continue };
            if bye.is_revoked {
                self.standings.revoke_bye(bye.round, &player.name);
            } else if !self.standings.grant_bye(bye.round, &player.name) {
                continue;
            }
            self.lost_byes.push((player.name.clone(), bye));
        }
    }

    /// Takes a step in everything but the standings.
    fn pair(&mut self, step: Step<'_>) {
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
                    self.progress.freed(self.players.seats.len());
                }
            }
            Step::Fact(Fact::Withdrawn { player }) => {
                let Some(seat) = self.players.seat_of(player.as_str()) else { return };
                self.pairing.withdraw(seat, &self.players.seats.keys().copied().collect::<Vec<_>>());
                if let Some(player) = self.players.seats.get_mut(&seat) {
                    (player.absent_since, player.is_withdrawn) = (None, true);
                }
            }
            Step::Fact(Fact::Returned { player }) => {
                if let Some(seat) = self.players.seat_of(player.as_str())
                    && self.pairing.readmit(seat)
                {
                    self.players.readmit(seat);
                }
            }
            Step::Fact(Fact::Removed { player, note }) => {
                if let Some(seat) = self.players.seat_of(player.as_str()) {
                    self.pairing.exclude(seat);
                }
                self.players.remove(player, note.clone());
            }
            Step::Fact(Fact::Bye { player, round }) => self.find_bye(player, *round, false),
            Step::Fact(Fact::ByeRevoked { player, round }) => self.find_bye(player, *round, true),
            Step::Fact(Fact::Round { .. }) => drop(self.pairing.begin_round()),
            Step::Fact(Fact::PairedByHand { white, black }) => {
                if let Some(seats) = self.seats([white.as_str(), black.as_str()])
                    && let Err(error) = self.pairing.pair_by_hand(seats, &[])
                {
                    tracing::warn!("{white} and {black}, paired by hand, are not paired again: {error}");
                }
            }
            Step::Fact(Fact::Corrected { game, result, .. }) => {
                let pairing = &mut *self.pairing;
                if let Err(error) = self.past.correct(game, *result, pairing, &self.players, 0) {
                    tracing::warn!("the correction of game {game} changes no pairing: {error}");
                }
            }
            Step::Fact(_) => {}
            Step::Result(header, end, result) => {
                let [white, black] = header.names.0.each_ref().map(String::as_str);
                let Some(seats) = self.seats([white, black]) else { return };
                // An arena of before has noted no rounds.
                if end.is_played() && self.pairing.awaits(seats) == 0 {
                    self.pairing.begin_round();
                }
                let pairing = Pairing { seats, opening: header.opening.unwrap_or_default() };
                match header.opening {
                    _ if end.is_played() => drop(self.pairing.played(pairing, result)),
                    Some(_) => drop(self.pairing.forfeited(pairing, result)),
                    // It is part of a withdrawal.
                    None => {}
                }
            }
        }
    }

    /// The history has this bye, or its end: it is not lost.
    fn find_bye(&mut self, name: &Name, round: u32, is_revoked: bool) {
        let is_it = |(player, bye): &(Name, Bye)| {
            player == name && bye.round == round && bye.is_revoked == is_revoked
        };
        if let Some(at) = self.lost_byes.iter().position(is_it) {
            self.lost_byes.remove(at);
        }
    }

    fn seats(&self, names: [&str; 2]) -> Option<ByColor<SeatNo>> {
        let [white, black] = names.map(|name| self.players.seat_of(name));
        Some(ByColor([white?, black?]))
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
    let mut past = PastGames::default();
    history.steps().into_iter().for_each(|step| count(&mut standings, &mut past, step));
    standings
}

/// Returns the players who are out, each with the reason.
pub(crate) fn out(history: &History) -> BTreeMap<&Name, String> {
    let mut out = BTreeMap::new();
    for fact in history.facts() {
        match fact {
            Fact::Withdrawn { player } => drop(out.insert(player, reason_of_withdrawal(history, player))),
            Fact::Removed { player, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(": {note}"));
                out.insert(player, format!("Removed by the organiser{note}"));
            }
            Fact::Returned { player } | Fact::Freed { player } => drop(out.remove(player)),
            _ => {}
        }
    }
    out
}

/// Returns the reason of the games that a player has forfeited, which is that of the withdrawal.
fn reason_of_withdrawal(history: &History, player: &Name) -> String {
    let forfeited = history.games.iter().rev().find_map(|game| {
        let end = game.end.as_ref().filter(|end| !end.is_played())?;
        let Some(GameResult::Won(winner)) = end.result else { return None };
        (game.header.names[!winner] == player.as_str()).then(|| end.reason.clone())
    });
    forfeited.unwrap_or_else(|| "Withdrawn".to_owned())
}

fn names(header: &GameHeader) -> Option<ByColor<Name>> {
    let [white, black] = &header.names.0;
    let name = |text: &str| Name::try_from(text).ok();
    Some(ByColor([name(white)?, name(black)?]))
}

fn count(standings: &mut Standings, past: &mut PastGames, step: Step<'_>) {
    match step {
        Step::Fact(Fact::Seated { player, seat, .. }) => standings.enter(SeatNo(*seat), player),
        Step::Fact(Fact::Freed { player }) => {
            standings.forget(player);
            past.forget(player);
        }
        Step::Fact(Fact::Round { .. }) => standings.begin_round(),
        Step::Fact(Fact::Bye { player, round }) => drop(standings.grant_bye(*round, player)),
        Step::Fact(Fact::ByeRevoked { player, round }) => standings.revoke_bye(*round, player),
        Step::Fact(Fact::Withdrawn { player } | Fact::Removed { player, .. }) => standings.withdraw(player),
        Step::Fact(Fact::Returned { player }) => standings.readmit(player),
        Step::Fact(Fact::Corrected { game, result, .. }) => {
            if let Some(change) = past.swap(game, *result) {
                change.take_back(standings);
                change.count(standings);
            }
        }
        Step::Fact(_) => {}
        Step::Result(header, end, result) => {
            past.add(header, end.is_played(), result);
            let Some(names) = names(header) else { return };
            let (names, round) = (ByColor(names.0.each_ref()), header.round.unwrap_or_default());
            match end.is_played() {
                true => standings.record(round, names, result),
                false => standings.forfeit(round, names, result),
            }
        }
    }
}
