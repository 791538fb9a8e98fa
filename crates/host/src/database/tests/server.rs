//! PostgreSQL servers: several arenas on one database, a server that is away, and databases that are none of ours.

use std::time::Instant;

use zeitnot_testing::send_signal;

use super::{
    support::storage::postgres::{PASSWORD, PostgresServer, USER},
    *,
};
use crate::database::{open, writer::Writer};

/// A database of the shared server.
struct Shared {
    server: &'static PostgresServer,
    name: String,
    location: DatabaseLocation,
}

impl Shared {
    fn new() -> Option<Shared> {
        let server = PostgresServer::shared()?;
        let name = server.create();
        let location = server.url(&name).parse().unwrap();
        Some(Shared { server, name, location })
    }

    async fn open(&self) -> (Database, WriterThread) {
        Database::open(self.location.clone(), || ()).await.unwrap()
    }

    /// A writer that writes when it is told to.
    async fn writer(&self) -> (Database, Writer) {
        let (requests, queue) = mpsc::channel(QUEUE);
        let writer = Writer::open(self.location.clone(), queue).await.unwrap();
        (Database::of(requests, self.location.clone()), writer)
    }

    /// Cuts off whoever is connected.
    fn cut_off(&self) {
        self.server.sql(
            "postgres",
            &format!(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{}'",
                self.name
            ),
        );
    }
}

async fn refusal(database: &Database, tournament: &str) -> String {
    database.open_tournament(opening(tournament)).await.unwrap_err().to_string()
}

#[test]
async fn each_arena_has_its_own_tournaments() {
    let Some(shared) = Shared::new() else { return };
    // Both make the schema at once.
    let ((one, first), (other, second)) = tokio::join!(shared.open(), shared.open());
    let class = one.open_tournament(opening("class")).await.unwrap().history.tournament;
    let club = other.open_tournament(opening("club")).await.unwrap().history.tournament;
    assert_ne!(class.id, club.id);
    one.commit(vec![seated(class.id, 0, "alice"), seated(class.id, 1, "bob")]).await;
    one.commit(vec![game("a", class.id, &["e2e4"], None)]).await;
    other.commit(vec![seated(club.id, 0, "bob")]).await;
    let told = refusal(&other, "class").await;
    let expected = "another arena on this database runs the tournament 'class'; stop that one, or give this one another name";
    assert!(told.ends_with(expected) && told.lines().count() == 1, "{told}");
    // Nor may a further edition be created beside it.
    let created = Opening { created: Some(SettingsText("{}".into())), ..opening("class") };
    assert!(other.open_tournament(created).await.unwrap_err().is_taken());

    assert_eq!(one.lichess().await.unwrap(), []);
    let told = other.lichess().await.unwrap_err().to_string();
    assert!(
        told.contains("another arena on this database runs the Lichess API; stop that one, or set"),
        "{told}"
    );
    let row = |id: &str, value: Option<&str>| {
        Change::Lichess(LichessRow {
            kind: LichessKind::Game,
            id: id.into(),
            value: value.map(str::to_owned),
        })
    };
    one.commit(vec![row("a", Some("{}"))]).await;
    other.commit(vec![row("a", None)]).await;
    assert_eq!(one.lichess().await.unwrap().len(), 1);
    // The list of refused joins is kept for one of them; the other does without.
    assert_eq!((one.refusals().await.unwrap(), other.refusals().await.unwrap()), (vec![], vec![]));

    // A third one breaks off no game of those that are alive.
    let (third, last) = shared.open().await;
    let mut reader = Reader::open(&shared.location).await.unwrap();
    assert!(reader.game("a").await.unwrap().unwrap().0.end.is_none());
    drop(one);
    first.join().await;
    let history = third.open_tournament(opening("class")).await.unwrap().history;
    assert_eq!((history.tournament.id, history.steps().len()), (class.id, 2));
    let [broken] = history.games.as_slice() else { panic!("{:?}", history.games) };
    assert_eq!((&*broken.header.id, broken.end.as_ref().unwrap().result), ("a", None));
    drop((other, third));
    second.join().await;
    last.join().await;
}

#[test]
async fn an_arena_that_was_cut_off_takes_its_own_back() {
    let Some(shared) = Shared::new() else { return };
    let (database, mut writer) = shared.writer().await;
    let id = writer.open_tournament(&opening("class")).await.unwrap().history.tournament.id;
    shared.cut_off();
    database.note(vec![seated(id, 0, "alice")]);
    // The first attempt finds the connection lost.
    writer.once().await;
    writer.once().await;
    assert_eq!(history(&shared.location).await.steps().len(), 1);
    let (other, second) = shared.open().await;
    assert!(refusal(&other, "class").await.contains("another arena"));
    drop(other);
    second.join().await;
}

#[test]
async fn a_tournament_that_another_arena_took_is_not_written_to() {
    let Some(shared) = Shared::new() else { return };
    let (database, mut writer) = shared.writer().await;
    let id = writer.open_tournament(&opening("class")).await.unwrap().history.tournament.id;
    let club = writer.open_tournament(&opening("club")).await.unwrap().history.tournament.id;
    shared.cut_off();
    let (other, second) = shared.open().await;
    assert_eq!(other.open_tournament(opening("class")).await.unwrap().history.tournament.id, id);
    other.commit(vec![seated(id, 0, "bob")]).await;
    // Not even when the other one has ended.
    drop(other);
    second.join().await;
    database.note(vec![seated(id, 0, "alice"), seated(id, 1, "carol"), seated(club, 0, "dave")]);
    writer.once().await;
    writer.once().await;
    database.note(vec![seated(id, 2, "eve")]);
    writer.once().await;
    let mut reader = Reader::open(&shared.location).await.unwrap();
    let mut seats = Vec::new();
    for tournament in reader.tournaments().await.unwrap() {
        let history = reader.history(tournament).await.unwrap();
        seats.extend(history.facts().cloned().map(|fact| match fact {
            Fact::Seated { player, .. } => player.to_string(),
            fact => panic!("{fact:?}"),
        }));
    }
    assert_eq!(seats, ["dave", "bob"]);
}

#[test]
async fn while_the_server_is_away_changes_are_kept() {
    let Some(server) = PostgresServer::start() else { return };
    let location: DatabaseLocation = server.url(&server.create()).parse().unwrap();
    let (database, writer) = Database::open(location.clone(), || ()).await.unwrap();
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    server.order("stop");
    let began = Instant::now();
    for place in 0..4 {
        database.commit(vec![seated(id, place, "alice")]).await;
    }
    assert!(began.elapsed() < MAX_WAIT, "nobody waits for a server that is away");
    assert!(matches!(Reader::open(&location).await, Err(DatabaseError::Away(_))));
    let told = Database::open(location.clone(), || ()).await.unwrap_err();
    assert!(told.why.is_outage() && told.to_string().ends_with("; is PostgreSQL running there?"), "{told}");
    server.order("start");
    // The writer ends once it has written everything.
    while history(&location).await.steps().len() < 4 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(
        refusal(&Database::open(location, || ()).await.unwrap().0, "class").await.contains("another arena")
    );
    drop(database);
    writer.join().await;
}

#[test]
async fn a_server_that_hangs_is_left_and_found_again() {
    let Some(shared) = Shared::new() else { return };
    let (database, writer) = shared.open().await;
    let id = database.open_tournament(opening("class")).await.unwrap().history.tournament.id;
    let sessions = format!("SELECT pid FROM pg_stat_activity WHERE datname = '{}'", shared.name);
    let session = shared.server.sql("postgres", &sessions);
    send_signal("STOP", &session);
    let began = Instant::now();
    database.commit(vec![seated(id, 0, "alice")]).await;
    assert!(began.elapsed() < MAX_WAIT * 2, "nobody waits for ever");
    assert!(history(&shared.location).await.steps().is_empty());
    // The server ends the session that hangs, so that the arena takes back what it had.
    send_signal("CONT", &session);
    while history(&shared.location).await.steps().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!shared.server.sql("postgres", &sessions).lines().any(|pid| pid == session));
    drop(database);
    writer.join().await;
}

async fn told(url: String) -> String {
    let location: DatabaseLocation = url.parse().unwrap();
    let error = Database::open(location.clone(), || ()).await.map(drop).unwrap_err().to_string();
    let read = Reader::open(&location).await.map(drop).unwrap_err().to_string();
    assert!(error.ends_with(&read) || read.contains("older"), "{error}\n{read}");
    assert!(error.lines().count() == 1 && !error.contains(PASSWORD), "{error}");
    error
}

#[test]
async fn databases_that_cannot_be_used_are_left_alone() {
    let Some(Shared { server, name, .. }) = Shared::new() else { return };
    let tcp = |user: &str, database: &str| {
        format!("postgres://{user}:{PASSWORD}@127.0.0.1:{}/{database}", server.port)
    };
    let user_less = tcp(USER, &name).replace(PASSWORD, "open");
    let error = told(user_less).await;
    assert!(error.contains(&format!("cannot use the database postgres://{USER}@127.0.0.1:")), "{error}");
    assert!(error.contains("password authentication failed") && error.contains("mend the URL"), "{error}");
    assert!(told(tcp(USER, "nowhere")).await.contains("\"nowhere\" does not exist; create it: createdb"));

    // Tables and views of an extension are nobody's.
    server.sql(&name, "CREATE EXTENSION pg_stat_statements");
    let (database, writer) = Database::open(server.url(&name).parse().unwrap(), || ()).await.unwrap();
    drop(database);
    writer.join().await;
    let name = server.create();

    // Tables of another program, and of one that uses sqlx as well.
    server.sql(&name, "CREATE TABLE moves (mv TEXT)");
    assert!(told(server.url(&name)).await.contains("it is not the database of an arena"));
    server.sql(
        &name,
        "CREATE TABLE _sqlx_migrations AS SELECT 1::bigint AS version, '\\x00'::bytea AS checksum",
    );
    server.sql(&name, "GRANT SELECT ON _sqlx_migrations TO PUBLIC");
    assert!(told(server.url(&name)).await.contains("it is not the database of an arena"));
    assert_eq!(server.sql(&name, "SELECT COUNT(*) FROM _sqlx_migrations"), "1");

    // A user who may look, and make nothing.
    let closed = server.create();
    server.sql("postgres", "CREATE ROLE guest LOGIN PASSWORD 'sesame'");
    let location: DatabaseLocation =
        server.url(&closed).replace(&format!("{USER}@"), "guest@").parse().unwrap();
    let error = Database::open(location.clone(), || ()).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("permission denied for schema public; make the user the owner"), "{error}");
    assert!(matches!(Reader::open(&location).await.unwrap_err(), DatabaseError::Empty));
}

#[test]
async fn an_older_schema_is_brought_up_to_date_and_a_newer_one_refused() {
    let Some(shared) = Shared::new() else { return };
    let mut connection =
        open::connect(&shared.location, crate::database::location::Mode::Write).await.unwrap();
    open::migrator().run_to(6, &mut connection).await.unwrap();
    shared.server.sql(
        &shared.name,
        "SET ROLE arena; INSERT INTO tournament (id, name, edition, kind, time_control, state, opened)
         VALUES (1, 'class', 1, 'chess', '3+0.05', 'running', '1970-01-01T00:00:00Z')",
    );
    assert!(matches!(Reader::open(&shared.location).await.unwrap_err(), DatabaseError::Older));
    let (database, writer) = shared.open().await;
    assert_eq!(database.open_tournament(opening("class")).await.unwrap().history.tournament.edition, 1);
    drop(database);
    writer.join().await;
    shared.server.sql(
        &shared.name,
        "INSERT INTO _sqlx_migrations VALUES (99, 'later', CURRENT_TIMESTAMP, TRUE, '\\x00', 1)",
    );
    assert!(told(shared.server.url(&shared.name)).await.contains("a newer zeitnot has written it"));
}

#[test]
async fn connections_are_encrypted() {
    let Some(Shared { server, name, .. }) = Shared::new() else { return };
    let certificate = server.folder.join("certificate.pem").display().to_string().replace('/', "%2F");
    let url = format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{name}", server.port);
    let location: DatabaseLocation =
        format!("{url}?sslmode=verify-full&sslrootcert={certificate}").parse().unwrap();
    let (database, writer) = Database::open(location, || ()).await.unwrap();
    let encrypted =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = '";
    assert_eq!(server.sql("postgres", &format!("{encrypted}{name}'")), "t");
    drop(database);
    writer.join().await;
    // A certificate that nobody vouches for.
    let error = told(format!("{url}?sslmode=verify-full")).await;
    assert!(
        error.contains("certificate") && error.ends_with("mend sslmode or sslrootcert in the URL"),
        "{error}"
    );
}

#[test]
async fn a_history_leaves_no_transaction_open() {
    let Some(shared) = Shared::new() else { return };
    let (database, writer) = shared.open().await;
    let tournament = database.open_tournament(opening("class")).await.unwrap().history.tournament;
    let mut reader = Reader::open(&shared.location).await.unwrap();
    let stored = reader.tournament(&tournament.name, None).await.unwrap().unwrap();
    let open = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND state LIKE 'idle in transaction%'",
        shared.name
    );
    reader.history(stored.clone()).await.unwrap();
    assert_eq!(shared.server.sql("postgres", &open), "0");
    shared.server.sql(&shared.name, "ALTER TABLE event RENAME TO lost");
    reader.history(stored).await.unwrap_err();
    assert_eq!(shared.server.sql("postgres", &open), "0");
    reader.close().await;
    drop(database);
    writer.join().await;
}
