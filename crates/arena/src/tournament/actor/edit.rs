//! Changes of the settings of a tournament before its first pairing, and its deletion.

use std::collections::BTreeSet;

use zeitnot_pairing::Name;

use super::{
    super::{admission::Admission, config::TournamentConfig, progress::Progress, starts::Starts},
    TournamentActor,
};
use zeitnot_host::{database::Fact, live::view::JoinLine};

/// Reason why a tournament keeps its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("play has begun: the settings can no longer be changed")]
    Begun,
    #[error("{0} players have already joined: set players to at least that")]
    TooFewSeats(usize),
    #[error("engines: a player called {0} has already joined: leave that engine out, or remove the player")]
    Taken(Name),
}

impl TournamentActor {
    /// Checks whether the tournament can have these settings.
    pub(in super::super) fn check_edit(&self, config: &TournamentConfig) -> Result<(), EditError> {
        let seats = self.players.len();
        if !self.is_untouched() {
            return Err(EditError::Begun);
        }
        if let Some(player) = self.namesake(config) {
            return Err(EditError::Taken(player.clone()));
        }
        if seats > config.max_players() { Err(EditError::TooFewSeats(seats)) } else { Ok(()) }
    }

    /// Returns a player under the name of an engine that is to play from now on, or under one that looks like it.
    fn namesake(&self, config: &TournamentConfig) -> Option<&Name> {
        let added = config.engines.iter().filter(|name| !self.config.engines.contains(name));
        let looks: BTreeSet<_> = added.map(Name::look).collect();
        self.players.iter().map(|(_, player)| &player.name).find(|name| looks.contains(&name.look()))
    }

    /// Returns whether nothing has been paired or counted.
    fn is_untouched(&self) -> bool {
        let is_new = |name| self.record.standings().games(name) == 0;
        let has_begun = self.progress.has_begun()
            || self.boards.next_number() > 1
            || !self.invitations.is_empty()
            || !self.journal.is_settled();
        !has_begun && self.players.iter().all(|(_, player)| is_new(&player.name))
    }

    /// Ends a tournament in which nothing has been paired, which is forgotten then. Returns whether it is such a one.
    pub(in super::super) fn delete(&mut self) -> bool {
        let is_untouched = self.is_untouched();
        if is_untouched {
            self.progress.delete();
        }
        is_untouched
    }

    /// Gives the tournament other settings. Whoever has joined stays.
    pub(in super::super) fn edit(
        &mut self,
        config: TournamentConfig,
        starts: Starts,
    ) -> Result<(), EditError> {
        self.check_edit(&config)?;
        self.boards.begin_from(starts);
        self.pairing = config.pairing_system();
        self.record.set_format(config.format());
        for (seat, player) in self.players.iter() {
            self.pairing.enter(seat, &player.name);
        }
        let mut progress = Progress::new(&config);
        if self.progress.is_paused() {
            progress.apply(&Fact::Paused);
        }
        // An order may have said otherwise, and a restart follows the last of both.
        if self.progress.lets_late_in() != config.late_entries {
            self.journal.note(Fact::LateEntries { allowed: config.late_entries });
        }
        progress.seated(self.players.len());
        self.progress = progress;
        self.config = config;
        self.show();
        Ok(())
    }

    /// Decides anew who may join. Whoever has joined stays.
    pub(in super::super) fn admit_by(&mut self, admission: Admission, joins: Vec<JoinLine>) {
        self.admission = admission;
        self.reports.set_joins(joins);
        self.show();
    }

    /// Shows the change at once: whoever hears of it finds it on the page.
    fn show(&mut self) {
        self.reports.hurry();
        self.publish(false);
    }
}
