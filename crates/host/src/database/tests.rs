//! The writer and its database: what is written is read back, whatever happens in between.

use time::OffsetDateTime;
use zeitnot_pairing::{Name, format::Format};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::change::Corrected;
use super::*;
use crate::{note::Note, origin::Origin};

mod faults;
mod file;
#[cfg(feature = "postgres")]
mod server;
mod support;
use support::storage::{Storage, on_both_databases};

on_both_databases!(
    a_tournament_goes_on_and_its_running_game_is_broken_off,
    others_read_while_the_arena_writes,
    a_change_that_does_not_fit_costs_no_other,
    all_kinds_of_changes_are_read_back
);

impl Storage {
    fn location(&self) -> DatabaseLocation {
        self.database().parse().unwrap()
    }
}

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
        players: ByColor([
            Person { name: "alice".to_owned(), rating: Some(-7), bot: Some(true) },
            Person { bot: Some(false), ..Person::named("bob") },
        ]),
        time_control: Some("3+0.05".into()),
        start: None,
        repeats: None,
        began,
    };
    let mut list = MoveList::default();
    moves.iter().for_each(|mv| list.push(mv, (Some(Duration::from_millis(1500)), None)));
    let end = place.map(|place| GameEnd {
        result: Some(GameResult::Won(Color::White)),
        reason: "Checkmate".into(),
        termination: "normal".into(),
        place: Some(place),
        at: began,
        note: None,
        corrected: None,
    });
    Change::Game(GameRow { header: header.into(), moves: list, end })
}

fn seated(tournament: TournamentId, place: Place, player: &str) -> Change {
    let fact = Fact::Seated { player: name(player), seat: place as usize, holder: Origin::read("10.0.0.1") };
    Change::Event { tournament, place, at: OffsetDateTime::UNIX_EPOCH, fact }
}

async fn history(location: &DatabaseLocation) -> History {
    let mut reader = Reader::open(location).await.unwrap();
    let latest = reader.tournaments().await.unwrap().swap_remove(0);
    reader.history(latest).await.unwrap()
}

/// An arena with a tournament of two players and a game that ran when it ended.
async fn interrupted(location: &DatabaseLocation) -> TournamentId {
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let history = database.open_tournament(opening("class")).await.unwrap().history;
    let id = history.tournament.id;
    assert!(history.steps().is_empty() && history.games.is_empty());
    database.note(vec![seated(id, 0, "alice"), seated(id, 1, "bob")]);
    database.note(vec![game("a", id, &["e2e4"], None)]);
    database.commit(vec![game("a", id, &["e2e4", "e7e5"], Some(2))]).await;
    database.note(vec![game("b", id, &["d2d4"], None)]);
    drop(database);
    writer.join().await;
    id
}

async fn a_tournament_goes_on_and_its_running_game_is_broken_off(storage: Storage) {
    let location = storage.location();
    let id = interrupted(&location).await;
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let history = database.open_tournament(opening("class")).await.unwrap().history;
    assert_eq!((history.tournament.id, history.tournament.edition, history.next_place()), (id, 1, 3));
    let alice = Fact::Seated { player: name("alice"), seat: 0, holder: Origin::read("10.0.0.1") };
    assert!(matches!(history.steps()[0], Step::Fact(fact) if *fact == alice));
    assert!(matches!(history.steps()[2], Step::Result(header, ..) if &*header.id == "a"));
    let [over, broken] = history.games.as_slice() else { panic!("{:?}", history.games) };
    let Change::Game(expected) = game("a", id, &["e2e4", "e7e5"], Some(2)) else { unreachable!() };
    assert_eq!(over, &GameRow { moves: MoveList::default(), ..expected.clone() });
    assert_eq!(&*broken.header.id, "b");
    let end = broken.end.as_ref().unwrap();
    assert_eq!((end.result, end.termination.as_str(), end.place), (None, "unterminated", None));
    // Page by page, with their moves.
    let (mut reader, mut cursor) = (Reader::open(&location).await.unwrap(), GameCursor::start());
    let mut pages = Vec::new();
    for _ in 0..3 {
        pages.push(reader.game_page(id, &mut cursor, 1).await.unwrap());
    }
    assert_eq!(pages[0], [expected]);
    assert_eq!((&*pages[1][0].header.id, pages[1][0].moves.iter().count(), pages[2].len()), ("b", 1, 0));

    // Once it is complete, another edition begins.
    database.commit(vec![Change::State(id, TournamentState::Complete)]).await;
    let next = database.open_tournament(opening("class")).await.unwrap().history;
    assert_eq!((next.tournament.edition, next.games.len(), next.next_place()), (2, 0, 0));
    assert_ne!(next.tournament.id, id);
    drop(database);
    writer.join().await;
}

async fn others_read_while_the_arena_writes(storage: Storage) {
    let location = storage.location();
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    database.commit(vec![seated(id, 0, "alice")]).await;
    assert_eq!(history(&location).await.steps().len(), 1);
    database.commit(vec![seated(id, 1, "bob")]).await;
    assert_eq!(history(&location).await.steps().len(), 2);
    drop(database);
    writer.join().await;
}

async fn a_change_that_does_not_fit_costs_no_other(storage: Storage) {
    let location = storage.location();
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    database.commit(vec![seated(TournamentId(99), 0, "eve"), seated(id, 0, "alice")]).await;
    assert_eq!(history(&location).await.steps().len(), 1);
    drop(database);
    writer.join().await;
}

/// The file of games of the Lichess API.
async fn exported(location: &DatabaseLocation) -> Option<ExportFile> {
    Reader::open(location).await.unwrap().export_file(None).await.unwrap()
}

async fn all_kinds_of_changes_are_read_back(storage: Storage) {
    let location = storage.location();
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let settings = SettingsText("{}".into());
    let created = Opening { created: Some(settings.clone()), ..opening("cup") };
    let id = database.open_tournament(created).await.unwrap().history.tournament.id;
    let (alice, bob, note) = (name("alice"), name("bob"), Note::try_from("agreed").unwrap());
    let facts = [
        Fact::Seated { player: alice.clone(), seat: 3, holder: None },
        Fact::Seated { player: bob.clone(), seat: 4, holder: None },
        Fact::Freed { player: alice.clone() },
        Fact::Withdrawn { player: alice.clone() },
        Fact::Returned { player: alice.clone() },
        Fact::Bye { player: alice.clone(), round: 2 },
        Fact::Started,
        Fact::Paused,
        Fact::Resumed,
        Fact::LateEntries { allowed: true },
        Fact::LateEntries { allowed: false },
        Fact::Round { round: 3 },
        Fact::ByeRevoked { player: alice.clone(), round: 2 },
        Fact::Removed { player: alice.clone(), note: Some(note.clone()) },
        Fact::PairedByHand { white: alice, black: bob },
        Fact::Corrected { game: "a".into(), result: None, note: note.clone() },
    ];
    let at = OffsetDateTime::UNIX_EPOCH;
    let event =
        |(fact, place): (&Fact, Place)| Change::Event { tournament: id, place, at, fact: fact.clone() };
    let mut changes: Vec<_> = facts.iter().zip(0..).map(event).collect();
    changes.push(game("a", id, &["e2e4"], Some(100)));
    changes.push(Change::Correction { tournament: id, game: "a".into(), result: None, note });
    let refusal = |number| {
        let (name, reason) = ("eve".to_owned(), "the wrong key".to_owned());
        RefusalRecord { slot: 0, number, at, name, reason }
    };
    changes.extend([Change::Refusal(Some(id), refusal(7)), Change::Refusal(None, refusal(8))]);
    let row = |id: &str| LichessRow { kind: LichessKind::Game, id: id.into(), value: Some("{}".into()) };
    changes.extend([Change::Lichess(row("a")), Change::Lichess(row("b"))]);
    let format = Format { rounds: Some(5), ..Format::default() };
    let new = SettingsText("{\"new\": 1}".into());
    changes.push(Change::Settings(id, GameKind::Atomic, "1+0".parse().unwrap(), format.clone(), new.clone()));
    changes.push(Change::State(id, TournamentState::Paused));
    let export = |file: &str, bytes| ExportFile { tournament: None, file: file.to_owned(), bytes };
    changes.push(Change::ExportFile(export("old.pgn", 0)));
    database.commit(changes).await;
    database.commit(vec![Change::ExportLength(export("old.pgn", 7))]).await;
    assert_eq!(exported(&location).await, Some(export("old.pgn", 7)));
    database.commit(vec![Change::ExportFile(export("new.pgn", 0))]).await;
    // Of one that has not heard of it yet.
    database.commit(vec![Change::ExportLength(export("old.pgn", 9))]).await;
    assert_eq!(exported(&location).await, Some(export("new.pgn", 0)));
    database.commit(vec![Change::Lichess(LichessRow { value: None, ..row("b") })]).await;

    assert_eq!(database.created().await.unwrap(), [(name("cup"), new)]);
    assert_eq!(database.refusals().await.unwrap(), [refusal(8)]);
    assert_eq!(database.lichess().await.unwrap(), [row("a")]);
    let History { tournament, games, .. } = history(&location).await;
    assert_eq!((tournament.state, tournament.time_control.as_str()), (TournamentState::Paused, "1+0"));
    assert_eq!(tournament.format, format);
    assert!(history(&location).await.facts().eq(&facts));
    assert_eq!(games[0].end.as_ref().unwrap().corrected, Some(Corrected(None)));
    let mut reader = Reader::open(&location).await.unwrap();
    let (found, event) = reader.game("a").await.unwrap().unwrap();
    assert_eq!(event.unwrap().0, "cup");
    assert_eq!(GameRow { moves: MoveList::default(), ..found }, games[0]);
    assert!(reader.game("b").await.unwrap().is_none());
    assert!(reader.games(Source::Imcs).await.unwrap().is_empty());

    // One without games is deleted.
    let club = database.open_tournament(opening("club")).await.unwrap();
    assert_eq!(club.refusals, []);
    let club = club.history.tournament.id;
    database.commit(vec![seated(club, 0, "alice"), Change::Refusal(Some(club), refusal(1))]).await;
    database.commit(vec![Change::Deletion(club)]).await;
    assert_eq!(reader.tournaments().await.unwrap().len(), 1);
    reader.close().await;
    drop(database);
    writer.join().await;
}

/// `cargo test -p zeitnot-host --lib -- --ignored --nocapture commit`, with a URL in `MEASURED_DATABASE` to
/// measure a server.
#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "measures the disk"]
async fn a_commit_takes() {
    const COMMITS: usize = 500;
    // Not in the memory that temporary folders may be.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let url = std::env::var("MEASURED_DATABASE");
    let location = url.map_or(folder.path().join("zeitnot.db").into(), |url| url.parse().unwrap());
    let (database, writer) = Database::open(location, || ()).await.unwrap();
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
