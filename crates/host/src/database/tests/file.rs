//! SQLite files: a disk that fails, and files that are none of ours.

use std::{fs, path::Path};

use sqlx::{Connection, Executor, SqliteConnection};

use super::*;

const FILE: &str = "zeitnot.db";

#[test]
async fn what_a_failing_disk_does_not_take_is_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (requests, queue) = mpsc::channel(QUEUE);
    let mut writer = Writer::open(path.clone().into(), queue).await.unwrap();
    let database = Database::of(requests, path.clone().into());
    let id = writer.open_tournament(&opening("class")).await.unwrap().history.tournament.id;
    // A disk without room for more.
    writer.connection().execute("PRAGMA max_page_count = 1").await.unwrap();
    let long = vec!["e2e4"; 2000];
    let playing = async {
        // Its result is told although it is not on the disk.
        database.commit(vec![game("a", id, &long, Some(0))]).await;
        database.note(vec![seated(id, 1, "alice")]);
        assert!(history(&path.clone().into()).await.games.is_empty());
        drop(database);
    };
    tokio::join!(writer.run(), playing);

    let (requests, queue) = mpsc::channel(QUEUE);
    let mut writer = Writer::open(path.clone().into(), queue).await.unwrap();
    let database = Database::of(requests, path.clone().into());
    writer.connection().execute("PRAGMA max_page_count = 1").await.unwrap();
    database.note(vec![game("b", id, &long, Some(0))]);
    writer.once().await;
    assert!(history(&path.clone().into()).await.games.is_empty());
    writer.connection().execute("PRAGMA max_page_count = 10000").await.unwrap();
    database.note(vec![seated(id, 1, "alice"), seated(id, 2, "bob")]);
    writer.once().await;
    let history = history(&path.into()).await;
    assert_eq!((history.games.len(), history.steps().len()), (1, 3));
}

async fn connect(path: &Path) -> SqliteConnection {
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap()
}

async fn refused(path: &Path) -> String {
    Database::open(path.to_owned().into(), || ()).await.map(drop).unwrap_err().to_string()
}

#[test]
async fn files_that_cannot_be_used_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (database, writer) = Database::open(path.clone().into(), || ()).await.unwrap();
    assert!(refused(&path).await.contains("another arena uses it; stop that one"));
    drop(database);
    writer.join().await;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    let other = folder.path().join("other");
    let text = "my diary, which is longer than a page\n".repeat(1000);
    fs::write(&other, &text).unwrap();
    assert!(refused(&other).await.contains("not the database of an arena"), "{}", refused(&other).await);
    assert_eq!(fs::read_to_string(&other).unwrap(), text);
    assert!(matches!(Reader::open(&other.clone().into()).await.unwrap_err(), DatabaseError::Foreign));
    assert!(matches!(
        Reader::open(&folder.path().join("none").into()).await.unwrap_err(),
        DatabaseError::Missing
    ));

    // A copy that failed.
    let cut = folder.path().join("cut");
    fs::write(&cut, "").unwrap();
    let told = "it has 0 bytes: what was in it is lost; put a copy in its place, or delete it to begin anew";
    assert!(refused(&cut).await.ends_with(told), "{}", refused(&cut).await);
    assert_eq!(fs::metadata(&cut).unwrap().len(), 0);
    assert!(matches!(Reader::open(&cut.into()).await.unwrap_err(), DatabaseError::NoBytes));

    // A database of another program.
    let theirs = folder.path().join("theirs");
    let mut connection = connect(&theirs).await;
    connection.execute("CREATE TABLE moves (mv TEXT)").await.unwrap();
    connection.close().await.unwrap();
    assert!(refused(&theirs).await.contains("not the database of an arena"));

    // A page in the middle that is another's.
    let damaged = folder.path().join("damaged");
    let mut bytes = fs::read(&path).unwrap();
    bytes[2 * 4096..3 * 4096].fill(0xff);
    fs::write(&damaged, bytes).unwrap();
    assert!(refused(&damaged).await.contains("it is damaged"), "{}", refused(&damaged).await);

    // A schema that is not known yet.
    let mut connection = connect(&path).await;
    connection
        .execute("INSERT INTO _sqlx_migrations VALUES (99, 'later', CURRENT_TIMESTAMP, TRUE, x'00', 1)")
        .await
        .unwrap();
    connection.close().await.unwrap();
    assert!(refused(&path).await.contains("a newer zeitnot has written it"), "{}", refused(&path).await);
    assert!(matches!(Reader::open(&path.clone().into()).await.unwrap_err(), DatabaseError::Newer));
}

/// Rows that another program has changed: each is one clear line, not a panic nor points that are gone.
#[test]
async fn rows_that_make_no_tournament_are_refused() {
    for (change, told) in [
        ("UPDATE event SET seat = 9223372036854775807 WHERE place = 0", "alice has seat 9223372036854775807"),
        ("UPDATE event SET seat = 1024 WHERE place = 0", "alice has seat 1024, and the last is 1023"),
        ("UPDATE event SET seat = -1 WHERE place = 0", "the column seat cannot be read"),
        ("UPDATE event SET seat = 1 WHERE place = 0", "alice and bob both have seat 1"),
        (
            "UPDATE event SET player = 'alicia' WHERE place = 0",
            "game a has the player \"alice\", who has no seat",
        ),
        (
            "UPDATE event SET player = '..' WHERE place = 0",
            "an invalid name ('..' is not a name: in the address",
        ),
        (
            "UPDATE game SET black = 'b\nob' WHERE id = 'a'",
            r#"game a has the player "b\nob", who has no seat"#,
        ),
        ("UPDATE game SET place = 9223372036854775807", "a place beyond all others"),
        (
            "INSERT INTO event (tournament_id, place, at, kind, player) \
             SELECT id, 9, '', 'withdrawn', 'eve' FROM tournament",
            "an event has the player \"eve\", who has no seat",
        ),
        (
            "INSERT INTO event (tournament_id, place, at, kind, game_id, result, note) \
             SELECT id, 9, '', 'corrected', 'z', '1-0', 'why' FROM tournament",
            "game z is corrected, and it is not there",
        ),
        (
            "UPDATE game SET round = 4294967295; UPDATE tournament SET pairing = 'swiss'",
            "game a is of round 4294967295",
        ),
        ("UPDATE tournament SET rounds = 4294967295", "the column rounds cannot be read"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        interrupted(&path.clone().into()).await;
        let mut connection = connect(&path).await;
        connection.execute(change).await.unwrap();
        connection.close().await.unwrap();
        let mut reader = Reader::open(&path.clone().into()).await.unwrap();
        let read = async {
            let latest = reader.tournaments().await?.swap_remove(0);
            reader.history(latest).await
        };
        let error = read.await.unwrap_err().to_string();
        assert!(error.contains(told) && error.lines().count() == 1, "{change}: {error}");
    }
}

#[test]
async fn rows_of_the_lichess_api_that_an_earlier_arena_left_are_passed_over() {
    let storage = Storage::file();
    let (database, writer) = Database::open(storage.location(), || ()).await.unwrap();
    let mut connection = connect(Path::new(&storage.database())).await;
    connection.execute("INSERT INTO lichess VALUES ('record', 'a', '1. e4 *')").await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(database.lichess().await.unwrap(), []);
    drop(database);
    writer.join().await;
}
