//! Orders of the organiser, carried out. The state follows at once, in the order of the facts; the organiser, the players
//! and the page are told when the fact is on the disk.

use super::{
    super::{
        command::{Answer, CarriedOut, Command, CommandError},
        format::PairingKind,
    },
    TournamentActor,
};
use crate::{database::Fact, message::Notice};

impl TournamentActor {
    /// Carries out an order or refuses it.
    pub(in crate::tournament) fn command(&mut self, command: Command, answer: Answer) {
        let carried_out = match command {
            Command::Start => self.start(),
            Command::Pause => self.pause(),
            Command::Resume => self.resume(),
            Command::LateEntries(allowed) => self.let_late_in(allowed),
        };
        match carried_out {
            Ok((facts, told)) => {
                facts.iter().for_each(|fact| self.progress.apply(fact));
                self.journal.order(facts, CarriedOut { told, answer });
            }
            // An error means that the organiser waits no longer.
            Err(refusal) => drop(answer.send(Err(refusal))),
        }
    }

    /// Tells of an order that is on the disk.
    pub(super) fn confirm(&mut self, CarriedOut { told, answer }: CarriedOut) {
        tracing::info!("{}: {told}", self.config.name);
        self.players.clients().for_each(|client| client.tell_optional(Notice::Info(told.clone())));
        let _ = answer.send(Ok(()));
        self.publisher.note_change();
    }

    fn start(&mut self) -> Result<(Vec<Fact>, String), CommandError> {
        let name = self.config.name.clone();
        let here = self.players.seats.len();
        let named = self.players.seats.values().filter(|player| self.config.gauntlet.contains(&player.name));
        let named = named.count();
        match self.config.pairing {
            _ if !self.progress.is_waiting() => Err(CommandError::HasBegun(name)),
            _ if self.progress.is_paused() => Err(CommandError::IsPaused(name)),
            _ if here < 2 => Err(CommandError::TooFew { name, here }),
            PairingKind::Gauntlet if named == 0 || named == here => Err(CommandError::NoGauntlet(name)),
            _ => Ok((vec![Fact::Started], format!("Tournament {name} begins with {here} players"))),
        }
    }

    /// A game that is paired and has not begun waits for the end of the pause.
    fn pause(&mut self) -> Result<(Vec<Fact>, String), CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_paused() {
            return Err(CommandError::IsPaused(name));
        }
        for tag in self.invitations.keys().copied().collect::<Vec<_>>() {
            self.call_off(tag, "The tournament is paused");
        }
        Ok((vec![Fact::Paused], format!("Tournament {name} is paused: running games go on, others wait")))
    }

    /// Whoever is away has as much time to come as at the beginning.
    fn resume(&mut self) -> Result<(Vec<Fact>, String), CommandError> {
        let name = self.config.name.clone();
        if !self.progress.is_paused() {
            return Err(CommandError::NotPaused(name));
        }
        self.players.excuse_absence();
        Ok((vec![Fact::Resumed], format!("Tournament {name} goes on")))
    }

    fn let_late_in(&mut self, allowed: bool) -> Result<(Vec<Fact>, String), CommandError> {
        let name = self.config.name.clone();
        if self.progress.is_open() {
            return Err(CommandError::IsOpen(name));
        }
        if allowed && self.config.pairing == PairingKind::Knockout {
            return Err(CommandError::NoLateEntries(name));
        }
        let told = if allowed { "lets late ones in" } else { "lets nobody in after its beginning" };
        Ok((vec![Fact::LateEntries { allowed }], format!("Tournament {name} {told}")))
    }
}
