//! Refusals of a tournament, or of those who named none: the latest, for the page and for the next start of the arena.

use std::collections::VecDeque;

use time::OffsetDateTime;
use zeitnot_net::{Rate, Ration};
use zeitnot_wire::printable;

use zeitnot_host::{
    database::{Change, Database, RefusalRecord, TournamentId, moment},
    live::{Feed, view::RefusalRow},
};

/// Refusals that are kept.
const MAX_KEPT: usize = 100;
/// Refusals that are noted; a flood of them fills neither the disk nor the page.
const RATE: Rate = Rate { burst: 20, interval: std::time::Duration::from_secs(1) };
/// Characters of a name and of a reason.
const MAX_NAME: usize = 50;
const MAX_REASON: usize = 200;

/// The latest refusals, each name and reason once.
#[derive(Debug)]
pub(crate) struct Refusals {
    database: Option<(Database, Option<TournamentId>)>,
    /// Name of the tournament, to show them there.
    shown: Option<(Feed, String)>,
    rows: VecDeque<RefusalRecord>,
    ration: Ration,
}

impl Refusals {
    /// Creates those that are not of a tournament.
    pub(super) fn of_strangers(database: Option<Database>, stored: Vec<RefusalRecord>) -> Refusals {
        let database = database.map(|database| (database, None));
        Refusals { database, shown: None, rows: stored.into(), ration: Ration::new(RATE) }
    }

    /// Creates those of a tournament, and shows them on the page.
    pub(super) fn of_tournament(
        name: String,
        live: Feed,
        database: Option<(Database, TournamentId)>,
        stored: Vec<RefusalRecord>,
    ) -> Refusals {
        let database = database.map(|(database, tournament)| (database, Some(tournament)));
        let shown = Some((live, name));
        let refusals = Refusals { database, shown, rows: stored.into(), ration: Ration::new(RATE) };
        refusals.show();
        refusals
    }

    /// Notes that somebody was refused, or thrown out.
    pub(super) fn note(&mut self, name: &str, reason: &impl ToString) {
        if !self.ration.take() {
            return;
        }
        let (name, reason) = (printable(name, MAX_NAME), printable(&reason.to_string(), MAX_REASON));
        let known = self.rows.iter().position(|row| row.name == name && row.reason == reason);
        let replaced = match known {
            Some(at) => self.rows.remove(at),
            None if self.rows.len() >= MAX_KEPT => self.rows.pop_front(),
            None => None,
        };
        let slot = replaced.map_or(self.rows.len(), |row| row.slot);
        let number = self.rows.back().map_or(0, |row| row.number.saturating_add(1));
        let row = RefusalRecord { slot, number, at: OffsetDateTime::now_utc(), name, reason };
        if let Some((database, tournament)) = &self.database {
            database.note(vec![Change::Refusal(*tournament, row.clone())]);
        }
        self.rows.push_back(row);
        self.show();
    }

    /// Returns them for the page, the latest last.
    pub(super) fn rows(&self) -> Vec<RefusalRow> {
        self.rows.iter().map(row).collect()
    }

    fn show(&self) {
        if let Some((live, tournament)) = &self.shown
            && live.is_on()
            && !self.rows.is_empty()
        {
            live.refusals(tournament.clone(), self.rows());
        }
    }
}

/// Returns a refusal for the page.
pub(super) fn row(row: &RefusalRecord) -> RefusalRow {
    RefusalRow { at: moment(row.at), name: row.name.clone(), reason: row.reason.clone() }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test(start_paused = true)]
    async fn the_latest_are_kept_each_once_and_a_flood_is_rationed() {
        let mut refusals = Refusals::of_strangers(None, Vec::new());
        refusals.note("alice", &"wrong key");
        refusals.note("bob", &"full");
        refusals.note("alice", &"wrong key");
        let names = |refusals: &Refusals| refusals.rows().into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(&refusals), ["bob", "alice"]);
        for n in 0..1000 {
            refusals.note(&format!("p{n}"), &"full\u{1b}[2J\n");
        }
        assert_eq!(refusals.rows.len(), RATE.burst as usize - 1);
        for n in 0..2 * MAX_KEPT {
            advance(RATE.interval).await;
            refusals.note(&format!("q{n}"), &"full\u{1b}[2J\n");
        }
        assert_eq!(refusals.rows.len(), MAX_KEPT);
        assert_eq!(refusals.rows().last().map(|row| row.reason.clone()), Some("full[2J".to_owned()));
        let slots: std::collections::BTreeSet<_> = refusals.rows.iter().map(|row| row.slot).collect();
        assert_eq!(slots, (0..MAX_KEPT).collect(), "each has a row of its own in the database");
    }
}
