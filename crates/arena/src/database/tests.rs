//! The writer and the file: what is written is read back, whatever happens in between.

use std::{fs, path::Path};

use sqlx::{Connection, Executor, SqliteConnection};
use time::OffsetDateTime;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::*;
use crate::{name::Name, places::Origin, tournament::format::Format};

const FILE: &str = "zeitnot.db";

fn name(text: &str) -> Name {
    Name::try_from(text).unwrap()
}

fn opening(tournament: &str) -> Opening {
    let (name, time_control) = (name(tournament), "3+0.05".parse().unwrap());
    Opening { name, kind: GameKind::Chess, time_control, format: Format::default(), created: None }
}

fn game(id: &str, tournament: TournamentId, moves: &[&str], place: Option<Place>) -> Change {
    let began = OffsetDateTime::UNIX_EPOCH;
    let header = GameHeader {
        id: id.into(),
        source: Source::Contest,
        kind: GameKind::Chess,
        tournament: Some(tournament),
        round: Some(1),
        opening: Some(0),
        names: ByColor(["alice", "bob"].map(str::to_owned)),
        time_control: Some("3+0.05".into()),
        start: None,
        repeats: None,
        began,
    };
    let mut list = MoveList::default();
    moves.iter().for_each(|mv| list.push(mv, Some(Duration::from_millis(1500))));
    let end = place.map(|place| GameEnd {
        result: Some(GameResult::Won(Color::White)),
        reason: "Checkmate".into(),
        termination: "normal".into(),
        place: Some(place),
        at: began,
        note: None,
        corrected: None,
    });
    Change::Game(GameState { header: header.into(), moves: list, end })
}

fn seated(tournament: TournamentId, place: Place, player: &str) -> Change {
    let fact = Fact::Seated { player: name(player), seat: place as usize, holder: Origin::read("10.0.0.1") };
    Change::Event { tournament, place, at: OffsetDateTime::UNIX_EPOCH, fact }
}

async fn history(path: &Path) -> History {
    let mut reader = Reader::open(path).await.unwrap();
    let latest = reader.tournaments().await.unwrap().swap_remove(0);
    reader.history(latest).await.unwrap()
}

/// An arena with a tournament of two players and a game that ran when it ended.
async fn interrupted(path: &Path) -> TournamentId {
    let (database, writer) = Database::open(path.to_owned()).await.unwrap();
    let Opened { history, interrupted, .. } = database.open_tournament(opening("class")).await.unwrap();
    let id = history.tournament.id;
    assert!(history.steps().is_empty() && interrupted.is_empty());
    database.note(vec![seated(id, 0, "alice"), seated(id, 1, "bob")]);
    database.note(vec![game("a", id, &["e2e4"], None)]);
    database.commit(vec![game("a", id, &["e2e4", "e7e5"], Some(2))]).await;
    database.note(vec![game("b", id, &["d2d4"], None)]);
    drop(database);
    writer.join().await;
    id
}

#[tokio::test]
async fn a_tournament_goes_on_and_its_running_game_is_broken_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let id = interrupted(&path).await;
    let (database, writer) = Database::open(path.clone()).await.unwrap();
    let Opened { history, interrupted, .. } = database.open_tournament(opening("class")).await.unwrap();
    assert_eq!((history.tournament.id, history.tournament.edition, history.next_place()), (id, 1, 3));
    assert_eq!(interrupted, ["b"]);
    let alice = Fact::Seated { player: name("alice"), seat: 0, holder: Origin::read("10.0.0.1") };
    assert!(matches!(history.steps()[0], Step::Fact(fact) if *fact == alice));
    assert!(matches!(history.steps()[2], Step::Result(header, ..) if &*header.id == "a"));
    let [over, broken] = history.games.as_slice() else { panic!("{:?}", history.games) };
    let Change::Game(expected) = game("a", id, &["e2e4", "e7e5"], Some(2)) else { unreachable!() };
    assert_eq!(over, &expected);
    let end = broken.end.as_ref().unwrap();
    assert_eq!((end.result, end.termination.as_str(), end.place), (None, "unterminated", None));
    assert_eq!(broken.moves.iter().count(), 1);

    // Once it is complete, another edition begins.
    database.commit(vec![Change::State(id, TournamentState::Complete)]).await;
    let next = database.open_tournament(opening("class")).await.unwrap().history;
    assert_eq!((next.tournament.edition, next.games.len(), next.next_place()), (2, 0, 0));
    assert_ne!(next.tournament.id, id);
    drop(database);
    writer.join().await;
}

#[tokio::test]
async fn others_read_while_the_arena_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (database, writer) = Database::open(path.clone()).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    database.commit(vec![seated(id, 0, "alice")]).await;
    assert_eq!(history(&path).await.steps().len(), 1);
    database.commit(vec![seated(id, 1, "bob")]).await;
    assert_eq!(history(&path).await.steps().len(), 2);
    drop(database);
    writer.join().await;
}

#[tokio::test]
async fn what_a_failing_disk_does_not_take_is_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (requests, queue) = mpsc::channel(QUEUE);
    let mut writer = Writer::open(path.clone(), queue).await.unwrap();
    let database = Database { requests, path: Arc::new(path.clone()) };
    let id = writer.open_tournament(&opening("class")).await.unwrap().history.tournament.id;
    // A disk without room for more.
    writer.connection().execute("PRAGMA max_page_count = 1").await.unwrap();
    let long = vec!["e2e4"; 2000];
    let running = tokio::spawn(writer.run());
    // Its result is told although it is not on the disk.
    database.commit(vec![game("a", id, &long, Some(0))]).await;
    database.note(vec![seated(id, 1, "alice")]);
    assert!(history(&path).await.games.is_empty());
    drop(database);
    running.await.unwrap();

    let (requests, queue) = mpsc::channel(QUEUE);
    let mut writer = Writer::open(path.clone(), queue).await.unwrap();
    let database = Database { requests, path: Arc::new(path.clone()) };
    writer.connection().execute("PRAGMA max_page_count = 1").await.unwrap();
    database.note(vec![game("b", id, &long, Some(0))]);
    writer.once().await;
    assert!(history(&path).await.games.is_empty());
    writer.connection().execute("PRAGMA max_page_count = 10000").await.unwrap();
    database.note(vec![seated(id, 1, "alice")]);
    writer.once().await;
    let history = history(&path).await;
    assert_eq!((history.games.len(), history.steps().len()), (1, 2));
}

#[tokio::test]
async fn a_change_that_does_not_fit_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (database, writer) = Database::open(path.clone()).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    database.commit(vec![seated(TournamentId(99), 0, "eve"), seated(id, 0, "alice")]).await;
    assert_eq!(history(&path).await.steps().len(), 1);
    drop(database);
    writer.join().await;
}

async fn refused(path: &Path) -> String {
    Database::open(path.to_owned()).await.map(drop).unwrap_err().to_string()
}

#[tokio::test]
async fn files_that_cannot_be_used_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let (database, writer) = Database::open(path.clone()).await.unwrap();
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
    assert!(matches!(Reader::open(&other).await.unwrap_err(), DatabaseError::Foreign));
    assert!(matches!(Reader::open(&folder.path().join("none")).await.unwrap_err(), DatabaseError::Missing));

    // A database of another program.
    let theirs = folder.path().join("theirs");
    let connect = async |path: &Path| {
        fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap()
    };
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
    assert!(matches!(Reader::open(&path).await.unwrap_err(), DatabaseError::Newer));
}

/// `cargo test -p zeitnot -p zeitnot-arena --lib -- --ignored --nocapture commit`
#[tokio::test]
#[ignore = "measures the disk"]
async fn a_commit_takes() {
    const COMMITS: usize = 500;
    // Not in the memory that temporary folders may be.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (database, writer) = Database::open(folder.path().join(FILE)).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    let moves = vec!["e2e4"; 120];
    let mut took = Vec::new();
    for number in 0..COMMITS {
        let change = game(&number.to_string(), id, &moves, Some(number as Place));
        let began = std::time::Instant::now();
        database.commit(vec![change]).await;
        took.push(began.elapsed());
    }
    took.sort();
    println!(
        "median {:?}, p99 {:?}, longest {:?}",
        took[COMMITS / 2],
        took[COMMITS * 99 / 100],
        took[COMMITS - 1]
    );
    let began = std::time::Instant::now();
    (0..COMMITS).for_each(|number| database.note(vec![game(&number.to_string(), id, &moves, None)]));
    println!("{:?} for handing over the moves of a running game", began.elapsed() / COMMITS as u32);
    drop(database);
    writer.join().await;
}
