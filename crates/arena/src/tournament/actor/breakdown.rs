//! Panics: one in the pairing pauses the tournament, one in the view takes the tournament from the page.

use super::TournamentActor;
use zeitnot_host::{
    database::Fact,
    panic_guard::{self, Panic},
};

/// Name in the list of refusals, by which the organiser hears of it. No player's has a space.
const PROGRAM: &str = "the arena";

impl TournamentActor {
    /// Runs a step. After a panic the tournament is paused.
    pub(super) fn contain(&mut self, step: impl FnOnce(&mut Self)) {
        if let Err(panic) = panic_guard::contain(|| step(self)) {
            self.break_down(&panic);
        }
    }

    /// Runs a step of the end, when there is nothing to pause.
    pub(super) fn contain_last(&mut self, step: impl FnOnce(&mut Self)) {
        if let Err(panic) = panic_guard::contain(|| step(self)) {
            tracing::error!("{}: an internal error at the end: {panic}; please report it", self.config.name);
        }
    }

    /// Pauses the tournament after a panic. Its running games go on, and the organiser may resume it.
    pub(super) fn break_down(&mut self, panic: &Panic) {
        let name = &self.config.name;
        tracing::error!("{name}: an internal error pauses the tournament: {panic}; please report it");
        if self.progress.goes_on() {
            let told = "An internal error has paused the tournament; the log has the details";
            self.note_refusal(PROGRAM, &told);
            self.progress.apply(&Fact::Paused);
            self.journal.pause();
        } else {
            self.note_refusal(PROGRAM, &"There was an internal error, of which the log says more");
        }
        if panic_guard::contain(|| self.call_off_all(|_| true, "The tournament is paused")).is_err() {
            self.invitations.clear();
        }
        self.reports.note_change();
    }

    /// Shows the tournament on the page. It does without one after a panic.
    pub(super) fn show_on_page(&mut self, complete: bool) {
        if let Err(panic) = panic_guard::contain(|| self.publish(complete)) {
            let name = &self.config.name;
            tracing::error!("{name}: the page shows no more of the tournament: {panic}; please report it");
            self.reports.turn_off();
        }
    }
}
