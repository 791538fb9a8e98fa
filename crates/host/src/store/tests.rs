//! Files of games under full disks, kills and disks that hang.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use sqlx::{Connection, Executor, SqliteConnection};
use time::OffsetDateTime;
use zeitnot_pairing::format::Format;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::{
    export::{Exporter, Next},
    *,
};
use crate::{
    database::{
        Change, Fact, GameEnd, GameHeader, GameRow, MoveList, Opened, Opening, Person, Reader, Source,
        TournamentId, TournamentState, WriterThread,
    },
    pgn,
};

fn file(folder: &Path) -> GameFile {
    GameFile::create(folder, "class", "pgn", OffsetDateTime::UNIX_EPOCH).unwrap()
}

/// Texts of the files in the folder.
fn texts(folder: &Path) -> String {
    let is_pgn = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "pgn");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).filter(is_pgn);
    files.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
async fn a_queue_is_written_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let (store, actor) = Store::channel(file(folder.path()));
    for game in ["one\n", "two\n"] {
        store.write(move || game.to_owned());
    }
    let thread = actor.spawn(|| ());
    drop(store);
    let path = thread.join().await.unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), "one\ntwo\n");
    let (_, empty) = Store::channel(file(folder.path()));
    assert_eq!(empty.spawn(|| ()).join().await, None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// An arena with a tournament.
struct Bench {
    database: Database,
    writer: WriterThread,
    id: TournamentId,
}

impl Bench {
    async fn open(folder: &Path) -> Bench {
        let (database, writer) = Database::open(folder.join("zeitnot.db").into(), || ()).await.unwrap();
        let Opened { history, .. } = database.open_tournament(opening()).await.unwrap();
        let (id, at) = (history.tournament.id, OffsetDateTime::UNIX_EPOCH);
        let seated = |seat: usize, player: &str| {
            let fact = Fact::Seated { player: Name::try_from(player).unwrap(), seat, holder: None };
            Change::Event { tournament: id, place: seat as u64, at, fact }
        };
        database.commit(vec![seated(0, "alice"), seated(1, "bob")]).await;
        Bench { database, writer, id }
    }

    async fn close(self) {
        drop(self.database);
        self.writer.join().await;
    }

    async fn sql(&self, statement: &'static str) {
        let file = format!("sqlite://{}", self.database.location());
        let mut connection = SqliteConnection::connect(&file).await.unwrap();
        connection.execute(statement).await.unwrap();
        connection.close().await.unwrap();
    }

    fn store(&self, file: GameFile) -> (Store, StoreActor) {
        Store::of_database(&self.database, Some(name()), file)
    }

    /// Writes all games that are not written yet.
    async fn export(&self, folder: &Path) -> Option<PathBuf> {
        let (store, actor) = self.store(file(folder));
        drop(store);
        actor.spawn(|| ()).join().await
    }

    async fn game(&self, id: &str) {
        self.games(&[id.to_owned()]).await;
    }

    async fn games(&self, ids: &[String]) {
        self.database.commit(ids.iter().map(|id| self.ended(id)).collect()).await;
    }

    fn ended(&self, id: &str) -> Change {
        let began = OffsetDateTime::UNIX_EPOCH;
        let header = GameHeader {
            id: id.into(),
            source: Source::Contest,
            kind: GameKind::Chess,
            tournament: Some(self.id),
            round: Some(1),
            opening: Some(0),
            players: ByColor(["alice", "bob"].map(Person::named)),
            time_control: None,
            start: None,
            repeats: None,
            began,
        };
        let end = GameEnd {
            result: Some(GameResult::Won(Color::White)),
            reason: "Resignation".into(),
            termination: "normal".into(),
            place: None,
            at: began,
            note: None,
            corrected: None,
        };
        Change::Game(GameRow { header: header.into(), moves: MoveList::default(), end: Some(end) })
    }
}

fn name() -> Name {
    Name::try_from("class").unwrap()
}

fn opening() -> Opening {
    let (kind, time_control, format) = (GameKind::Chess, "3".parse().unwrap(), Format::default());
    Opening { name: name(), kind, time_control, format, created: None }
}

fn count(text: &str, id: &str) -> usize {
    text.matches(&format!("[GameId \"{id}\"]")).count()
}

#[test]
async fn a_kill_neither_loses_a_game_nor_writes_it_twice() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.game("a").await;
    // Killed after the game was committed, and after another was appended and not marked yet.
    let first = bench.export(folder.path()).await.unwrap();
    bench.game("b").await;
    let reader = async { Reader::open(bench.database.location()).await.unwrap() };
    let unmarked = reader.await.unexported(Some(&name()), 9).await.unwrap();
    let [b] = unmarked.as_slice() else { panic!("{unmarked:?}") };
    let text = pgn::print_stored(Some("class".to_owned()), b.game.as_ref().unwrap()).unwrap();
    // And in the middle of a third.
    let torn = text.replace("\"b\"", "\"c\"");
    let edited = format!("{}{text}{}", fs::read_to_string(&first).unwrap(), &torn[..torn.len() - 5]);
    fs::write(&first, &edited).unwrap();
    bench.game("c").await;
    bench.close().await;

    let bench = Bench::open(folder.path()).await;
    let second = bench.export(folder.path()).await.unwrap();
    assert_ne!(first, second);
    let new = fs::read_to_string(&second).unwrap();
    assert_eq!(["a", "b", "c"].map(|id| count(&new, id)), [0, 0, 1], "{new}");
    assert_eq!(fs::read_to_string(&first).unwrap(), edited, "the files of earlier runs are their user's");
    bench.game("d").await;
    let third = bench.export(folder.path()).await.unwrap();
    let new = fs::read_to_string(&third).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(|id| count(&new, id)), [0, 0, 0, 1], "{new}");
    bench.close().await;
}

#[test]
async fn a_game_that_cannot_be_read_stops_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.games(&["a", "b"].map(str::to_owned)).await;
    bench.sql("UPDATE game SET kind = 'ludo' WHERE id = 'a'").await;
    bench.export(folder.path()).await.unwrap();
    let all = texts(folder.path());
    assert_eq!(["a", "b"].map(|id| count(&all, id)), [0, 1], "{all}");
    assert!(
        all.contains("; game a cannot be shown: it is damaged (the column kind cannot be read)"),
        "{all}"
    );
    assert_eq!(bench.export(folder.path()).await, None, "it is told once");
    bench.close().await;
}

#[test]
async fn games_of_tournaments_that_no_arena_runs_are_written_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.game("a").await;
    bench.database.commit(vec![Change::State(bench.id, TournamentState::Complete)]).await;
    let games = folder.path().join("games");
    let catch_up = async |running: &[Name]| {
        let running = running.iter().cloned().collect();
        let (store, thread) = StoreThread::catch_up(&bench.database, running, games.clone(), || ());
        (store, thread.join().await)
    };
    let _running = catch_up(&[name()]).await;
    assert!(!games.exists(), "its own arena writes them");
    // A tournament whose name cannot be read stops no other.
    let other = Opening { name: Name::try_from("other").unwrap(), ..opening() };
    let id = bench.database.open_tournament(other).await.unwrap().history.tournament.id;
    let bench = Bench { id, ..bench };
    bench.game("b").await;
    bench.sql("UPDATE tournament SET name = 'no name' WHERE name = 'other'").await;
    // The folder cannot be made at first.
    fs::write(&games, "").unwrap();
    let (store, thread) = StoreThread::catch_up(&bench.database, BTreeSet::new(), games.clone(), || ());
    let Store::Database(wake) = &store else { unreachable!() };
    // There is room for the second once the first attempt has failed.
    wake.send(()).await.unwrap();
    wake.send(()).await.unwrap();
    fs::remove_file(&games).unwrap();
    // The next attempt, unless the second was in time.
    let _ = wake.send(()).await;
    thread.join().await;
    assert_eq!(["a", "b"].map(|id| count(&texts(&games), id)), [1, 0]);
    drop(store);
    // It does not ask again what cannot be answered.
    bench.sql("ALTER TABLE game RENAME COLUMN exported TO lost").await;
    let (store, thread) = StoreThread::catch_up(&bench.database, BTreeSet::new(), games, || ());
    thread.done.await.unwrap();
    drop((store, thread._database));
    bench.close().await;
}

#[test]
async fn a_tournament_that_is_opened_again_waits_for_the_file_of_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.game("a").await;
    let weak = bench.database.downgrade();
    let turn = weak.export_turn(Some(&name())).unwrap();
    assert_eq!(bench.export(folder.path()).await, None, "another one writes");
    let (store, actor) = bench.store(file(folder.path()));
    let thread = actor.spawn(|| ());
    let Store::Database(wake) = &store else { unreachable!() };
    // It takes the first before the second, and waits again.
    wake.send(()).await.unwrap();
    wake.send(()).await.unwrap();
    assert_eq!(count(&texts(folder.path()), "a"), 0);
    drop(turn);
    wake.send(()).await.unwrap();
    wake.send(()).await.unwrap();
    drop(store);
    thread.join().await.unwrap();
    assert_eq!(count(&texts(folder.path()), "a"), 1);
    bench.close().await;
}

/// Another arena on the database has created a tournament of the same name.
#[test]
async fn the_last_exporter_to_take_over_is_the_one_that_writes() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let exporter = || Exporter::new(bench.database.downgrade(), Some(name()), file(folder.path()));
    let (mut first, mut second) = (exporter(), exporter());
    bench.game("a").await;
    assert_eq!(first.export().await, Next::Game);
    assert_eq!(second.export().await, Next::Game);
    bench.game("b").await;
    assert_eq!((first.export().await, second.export().await), (Next::Over, Next::Game));
    assert_eq!(["a", "b"].map(|id| count(&texts(folder.path()), id)), [1, 1]);
    drop((first, second));
    bench.close().await;
}

#[test]
async fn the_arena_ends_when_the_last_games_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.game("a").await;
    let (store, actor) = bench.store(file(folder.path()));
    let thread = actor.spawn(|| ());
    let Bench { database, writer, .. } = bench;
    drop((store, database));
    thread.join().await.unwrap();
    writer.join().await;
    let bench = Bench::open(folder.path()).await;
    assert_eq!(bench.export(folder.path()).await, None);
    assert_eq!(count(&texts(folder.path()), "a"), 1);
    bench.close().await;
}

#[test]
async fn a_lichess_game_without_moves_is_left_out_and_one_that_goes_on_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let game = |id: &str, mv: Option<&str>| {
        let Change::Game(ended) = bench.ended(id) else { unreachable!() };
        let header = GameHeader { source: Source::Lichess, tournament: None, ..(*ended.header).clone() };
        let mut game = GameRow { header: header.into(), ..ended };
        mv.into_iter().for_each(|mv| game.moves.push(mv, (None, None)));
        game.moves.stop(Some(MAX_WAIT));
        game
    };
    let export = async || {
        let (store, actor) = Store::of_database(&bench.database, None, file(folder.path()));
        drop(store);
        actor.spawn(|| ()).join().await
    };
    bench.game("of the tournament").await;
    bench.database.commit(vec![Change::Game(game("a", None)), Change::Game(game("b", Some("e2e4")))]).await;
    assert!(export().await.is_some() && export().await.is_none());
    let all = texts(folder.path());
    assert_eq!(["a", "b", "of the tournament"].map(|id| count(&all, id)), [0, 1, 0], "{all}");
    // After a restart that had broken it off.
    bench.database.commit(vec![Change::Game(GameRow { end: None, ..game("b", Some("e2e4")) })]).await;
    assert_eq!(export().await, None);
    bench.database.commit(vec![Change::Game(game("b", Some("d2d4")))]).await;
    assert!(export().await.is_some() && texts(folder.path()).contains("1. d4"));
    bench.close().await;
}

#[test]
async fn many_games_are_exported_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let games = 2 * export::PAGE + 1;
    bench.games(&(0..games).map(|id| id.to_string()).collect::<Vec<_>>()).await;
    bench.export(folder.path()).await.unwrap();
    let all = texts(folder.path());
    assert!((0..games).all(|id| count(&all, &id.to_string()) == 1));
    assert_eq!(bench.export(folder.path()).await, None);
    bench.close().await;
}

#[test]
async fn games_that_a_full_disk_refuses_are_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let mut full = file(folder.path());
    // Open for reading only.
    full.replace(File::open(full.path()).unwrap());
    bench.game("a").await;
    let (store, actor) = bench.store(full);
    let thread = actor.spawn(|| ());
    store.write(|| unreachable!("it is in the database"));
    drop(store);
    assert_eq!(thread.join().await, None);
    assert_eq!(count(&texts(folder.path()), "a"), 0);
    bench.export(folder.path()).await.unwrap();
    assert_eq!(count(&texts(folder.path()), "a"), 1);
    bench.close().await;
}

/// A folder on a network that is away: nobody waits for it, and no game is lost.
#[cfg(unix)]
#[test]
async fn a_disk_that_hangs_delays_nobody() {
    use std::os::fd::OwnedFd;

    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let (mut away, pipe) = io::pipe().unwrap();
    let mut hanging = file(folder.path());
    hanging.replace(OwnedFd::from(pipe).into());
    let path = hanging.path().to_owned();
    let (store, actor) = bench.store(hanging);
    let (queue, queue_actor) = Store::channel(file(folder.path()));
    let thread = actor.spawn(|| ());
    // More than there is room for in the pipe, and in a queue that nobody empties.
    let ids: Vec<_> = (0..QUEUE + 300).map(|id| format!("hung{id}")).collect();
    bench.games(&ids).await;
    for _ in &ids {
        store.write(|| unreachable!("it is in the database"));
        queue.write(|| "lost beyond a thousand\n".to_owned());
    }
    drop((store, queue, queue_actor));
    // The thread has begun; soon the pipe is full.
    io::Read::read_exact(&mut away, &mut [0; 1000]).unwrap();
    // The arena can end once it waits no longer.
    let StoreThread { done, _database, .. } = thread;
    drop(_database);
    bench.close().await;
    drop(away);
    done.await.unwrap();
    fs::remove_file(path).unwrap();
    let bench = Bench::open(folder.path()).await;
    bench.export(folder.path()).await.unwrap();
    // In their order, it is the last.
    assert_eq!(count(&texts(folder.path()), "hung999"), 1);
    bench.close().await;
}
