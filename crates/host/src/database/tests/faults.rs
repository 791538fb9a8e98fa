//! Writes that fail: each write of a tournament once, as in the tests of SQLite. Nothing that was acknowledged is lost, and
//! each failure is one line.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber,
};

use super::*;
use crate::database::writer::Fault;

/// Counts the errors in the log.
#[derive(Clone, Default)]
struct Errors(Arc<AtomicUsize>);

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Changes of a small tournament, one batch for each write.
fn tournament(id: TournamentId) -> Vec<Vec<Change>> {
    let corrected = Fact::Corrected {
        game: "a".into(),
        result: Some(GameResult::Draw),
        note: Note::try_from("agreed").unwrap(),
    };
    let Fact::Corrected { game: corrected_game, result, note } = corrected.clone() else { unreachable!() };
    let export = ExportFile { tournament: Some(name("class")), file: "class.pgn".to_owned(), bytes: 7 };
    let at = OffsetDateTime::UNIX_EPOCH;
    vec![
        vec![seated(id, 0, "alice"), seated(id, 1, "bob")],
        vec![game("a", id, &["e2e4"], None)],
        vec![game("a", id, &["e2e4", "e7e5"], Some(2)), game("b", id, &[], None)],
        vec![Change::ExportFile(ExportFile { bytes: 0, ..export.clone() })],
        vec![Change::Exported("a".into()), Change::ExportLength(export)],
        vec![
            Change::Event { tournament: id, place: 3, at, fact: corrected },
            Change::Correction { tournament: id, game: corrected_game, result, note },
        ],
        vec![game("b", id, &["d2d4"], Some(4))],
        vec![Change::State(id, TournamentState::Complete)],
    ]
}

/// Everything about the tournament that is on the disk.
async fn stored(location: &DatabaseLocation) -> String {
    let history = history(location).await;
    let mut reader = Reader::open(location).await.unwrap();
    let games = reader.game_page(history.tournament.id, &mut GameCursor::start(), 9).await.unwrap();
    let to_export = reader.unexported(Some(&name("class")), 9).await.unwrap();
    let file = reader.export_file(Some(&name("class"))).await.unwrap();
    let state = history.tournament.state;
    format!("{state}\n{:?}\n{games:?}\n{to_export:?}\n{file:?}", history.steps())
}

/// Plays the tournament, whose write of that number fails; returns what is on the disk at its end, and the number of
/// writes.
async fn play(failing: Option<usize>) -> (String, usize) {
    let folder = tempfile::tempdir().unwrap();
    let location: DatabaseLocation = folder.path().join("zeitnot.db").into();
    let (requests, queue) = mpsc::channel(QUEUE);
    let mut writer = Writer::open(location.clone(), queue).await.unwrap();
    let database = Database::of(requests, location.clone());
    let id = writer.open_tournament(&opening("class")).await.unwrap().history.tournament.id;
    writer.fault = Fault { failing, writes: 0 };
    for changes in tournament(id) {
        let is_before = writer.fault.has_failed();
        tokio::join!(database.commit(changes), writer.once());
        let has_failed = writer.fault.has_failed() && !is_before;
        // An acknowledged change is on the disk, or the failure is in the log and the change is kept.
        assert_eq!(writer.keeps_changes(), has_failed, "write {failing:?}");
    }
    writer.once().await;
    let writes = writer.fault.writes;
    drop(database);
    writer.run().await;
    (stored(&location).await, writes)
}

#[test]
async fn each_write_may_fail_once() {
    let errors = Errors::default();
    let _guard = subscriber::set_default(errors.clone());
    let (expected, writes) = play(None).await;
    assert!(writes > 20, "{writes}");
    for failing in 0..writes {
        assert_eq!(play(Some(failing)).await.0, expected, "write {failing}");
        assert_eq!(errors.0.load(Ordering::Relaxed), failing + 1, "one line for each failure");
    }
}
