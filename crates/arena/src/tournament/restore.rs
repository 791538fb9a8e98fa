//! A tournament as its history leaves it, for an arena that goes on with it and for whoever asks for its results.

use std::collections::{BTreeMap, BTreeSet};

use zeitnot_pairing::{Bye, Name, Pairing, PairingSystem, SeatNo, standings::Standings};
use zeitnot_rules::{ByColor, GameResult};

use super::{
    config::TournamentConfig,
    players::{Players, SeatLimits},
    progress::Progress,
    record::Record,
};
use zeitnot_host::database::{Fact, GameEnd, GameRow, History, Step};

/// Games of a tournament that tell whether it is one of Chess960.
pub(crate) const SAMPLE: u32 = 10;

/// A tournament that goes on, or begins.
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) progress: Progress,
    pub(super) players: Players,
    pub(super) pairing: Box<dyn PairingSystem>,
    pub(super) record: Record,
    /// Byes, and ends of byes, that the last arena did not come to write down.
    pub(super) lost_byes: Vec<Fact>,
}

impl Restored {
    pub(super) fn new(config: &TournamentConfig, limits: SeatLimits) -> Restored {
        Restored {
            progress: Progress::new(config),
            players: Players::new(limits),
            pairing: config.pairing_system(),
            record: Record::new(config.format()),
            lost_byes: Vec::new(),
        }
    }

    /// Takes in what has happened so far. All players are away from now on.
    pub(super) fn replay(&mut self, history: &History) {
        for step in history.steps() {
            self.pair(step);
            self.record.apply(step);
            self.grant_byes();
        }
    }

    /// Counts the byes of the rounds that the pairing has begun, unless the history had them.
    fn grant_byes(&mut self) {
        for bye in self.pairing.take_byes() {
            let Some(player) = self.players.get(bye.seat) else { continue };
            let fact = bye_fact(&bye, &player.name);
            if self.record.apply_fact(&fact).is_some() {
                self.lost_byes.push(fact);
            }
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
                self.progress.seated(self.players.len());
                self.pairing.enter(SeatNo(*seat), player);
            }
            Step::Fact(Fact::Freed { player }) => {
                if let Some(seat) = self.players.seat_of(player.as_str()) {
                    self.players.vacate(seat);
                    self.pairing.forget(seat);
                    self.progress.freed(self.players.len());
                }
            }
            Step::Fact(Fact::Withdrawn { player }) => {
                let Some(seat) = self.players.seat_of(player.as_str()) else { return };
                self.pairing.withdraw(seat, &self.players.seats());
                self.players.withdraw(seat);
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
            // The history has it: it is not lost.
            Step::Fact(bye @ (Fact::Bye { .. } | Fact::ByeRevoked { .. })) => {
                if let Some(at) = self.lost_byes.iter().position(|lost| lost == bye) {
                    self.lost_byes.remove(at);
                }
            }
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
                if let Err(error) = self.record.correct(game, *result, pairing, &self.players, &[]) {
                    tracing::warn!("the correction of game {game} changes no pairing: {error}");
                }
            }
            Step::Fact(_) => {}
            Step::Result(header, end, result) => {
                let [white, black] = header.players.0.each_ref().map(|player| player.name.as_str());
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

    fn seats(&self, names: [&str; 2]) -> Option<ByColor<SeatNo>> {
        let [white, black] = names.map(|name| self.players.seat_of(name));
        Some(ByColor([white?, black?]))
    }
}

/// Returns what a bye, or its end, is in the history.
pub(super) fn bye_fact(Bye { round, is_revoked, .. }: &Bye, player: &Name) -> Fact {
    let (player, round) = (player.clone(), *round);
    if *is_revoked { Fact::ByeRevoked { player, round } } else { Fact::Bye { player, round } }
}

/// Returns whether a tournament with these games is one of Chess960, as the starts of the first ones tell.
pub(crate) fn is_chess960(games: &[GameRow]) -> bool {
    let played = games.iter().filter(|game| game.end.as_ref().is_none_or(GameEnd::is_played));
    played.take(SAMPLE as usize).any(|game| game.header.is_chess960())
}

/// Returns the players that the arena provided, each with its rating, as the games tell.
pub(super) fn engines(history: &History) -> BTreeMap<Name, Option<i32>> {
    let players = history.games.iter().flat_map(|game| &game.header.players.0);
    let bots = players.filter(|player| player.bot == Some(true));
    bots.filter_map(|bot| Some((Name::try_from(bot.name.as_str()).ok()?, bot.rating))).collect()
}

/// Returns the standings that a history leads to.
pub(crate) fn standings(history: &History) -> Standings {
    let corrected = history.facts().filter_map(|fact| match fact {
        Fact::Corrected { game, .. } => Some(&**game),
        _ => None,
    });
    let corrected: BTreeSet<&str> = corrected.collect();
    let mut record = Record::new(history.tournament.format.clone());
    for step in history.steps() {
        match step {
            // Others are not looked at again.
            Step::Result(header, end, result) if !corrected.contains(&*header.id) => {
                record.count(header, end, result);
            }
            step => drop(record.apply(step)),
        }
    }
    record.into_standings()
}

/// Returns the players who are out, each with the reason.
pub(crate) fn out(history: &History) -> BTreeMap<Name, String> {
    let (mut out, mut steps) = (BTreeMap::new(), history.steps().into_iter().peekable());
    while let Some(step) = steps.next() {
        let Step::Fact(fact) = step else { continue };
        match fact {
            Fact::Withdrawn { player } => {
                let reason = steps.peek().and_then(|next| reason_of_withdrawal(player, next));
                out.insert(player.clone(), reason.unwrap_or("Withdrawn").to_owned());
            }
            Fact::Removed { player, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(": {note}"));
                out.insert(player.clone(), format!("Removed by the organiser{note}"));
            }
            Fact::Returned { player } | Fact::Freed { player } => drop(out.remove(player)),
            _ => {}
        }
    }
    out
}

/// Returns the reason of the games that a player forfeits with a withdrawal. They follow it, and were not paired.
fn reason_of_withdrawal<'h>(player: &Name, next: &Step<'h>) -> Option<&'h str> {
    let Step::Result(header, end, GameResult::Won(winner)) = next else { return None };
    let is_it =
        !end.is_played() && header.opening.is_none() && header.players[!*winner].name == player.as_str();
    is_it.then_some(end.reason.as_str())
}
