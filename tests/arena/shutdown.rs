//! A stop in the middle of everything: games are kept, and nothing stays behind.

use std::{path::PathBuf, time::Duration};

use time::OffsetDateTime;
use tokio::{runtime::Handle, time::sleep};
use zeitnot_host::database::{
    Change, Database, DatabaseLocation, GameEnd, GameHeader, GameRow, MoveList, Opening, Person, Source,
    TournamentState,
};
use zeitnot_pairing::{Name, format::Format};
use zeitnot_rules::{ByColor, GameKind};
use zeitnot_testing::soon;

use crate::support::{
    arena::{By, TestArena, record_files},
    lichess_arena::Bot,
    log::Log,
    storage::{Storage, on_both_databases},
};

#[test]
async fn a_stop_amid_a_game_leaves_a_pgn_and_no_task() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("e2-e4 e7-e5").await;
    board.white.expect("YOUR_MOVE").await;
    let mut carol = arena.join(By::WebSocket, "carol").await;
    let mut watcher = arena.connect(By::Tcp).await;
    watcher.send(&format!("WATCH {}", board.game)).await;
    watcher.expect("GAME_STATE").await;
    // Neither of these sends anything.
    let silent = arena.connect(By::WebSocket).await;
    let raw = arena.raw(By::Tcp).await;

    let (summary, folder) = arena.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
    drop((silent, raw));

    for player in [&mut board.white, &mut board.black] {
        let lines = player.rest().await;
        let goodbye = ["GAME_ABORTED The arena is shutting down", "INFO The arena is shutting down"];
        assert_eq!(lines[lines.len() - 2..], goodbye);
    }
    assert_eq!(watcher.rest().await.pop().unwrap(), "GAME_ABORTED The arena is shutting down");
    assert_eq!(carol.rest().await.pop().unwrap(), "INFO The arena is shutting down");

    let tournament = &summary.tournaments[0];
    assert!(!tournament.complete);
    assert!(tournament.standings.rows().iter().all(|row| row.tally.games() == 0));
    let path = tournament.pgn.as_ref().unwrap();
    assert!(path.starts_with(folder.path()));
    let pgn = std::fs::read_to_string(path).unwrap();
    assert!(pgn.contains("[Result \"*\"]") && pgn.contains("[Termination \"abandoned\"]"), "{pgn}");
    assert!(pgn.contains("1. e4") && pgn.contains("1... e5") && pgn.trim_end().ends_with(" *"), "{pgn}");
}

#[test]
async fn a_stop_without_a_game_leaves_no_file() {
    let arena = TestArena::start("").await;
    let (mut alice, _bob, _) = arena.paired().await;
    let (summary, _folder) = arena.stop().await;
    assert_eq!(alice.expect("GAME_ABORTED").await, "GAME_ABORTED The arena is shutting down");
    assert_eq!(summary.tournaments[0].pgn, None);

    let (summary, folder) = TestArena::start("").await.stop().await;
    assert_eq!(summary.tournaments[0].pgn, None);
    assert_eq!(record_files(folder.path()).count(), 0);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn a_game_broken_off_by_a_stop_does_not_count_as_over() {
    let arena = TestArena::start("").await;
    let mut board = arena.game().await;
    board.play("e2-e4").await;
    let (_, folder) = arena.stop().await;
    let log = Log::capture();
    TestArena::tournament(folder, "", "").await.stop().await;
    assert_eq!(log.count("class goes on: games over: 0, broken off: 1"), 1, "{}", log.text());
}

on_both_databases!(the_last_games_of_a_tournament_are_written_at_the_next_start);

/// The folder of games was full when a tournament ended.
async fn the_last_games_of_a_tournament_are_written_at_the_next_start(folder: Storage) {
    std::fs::create_dir(folder.path().join("games")).unwrap();
    leave_a_game(folder.database().parse().unwrap()).await;
    // Once is enough.
    let (_, folder) = TestArena::tournament(folder, "", "").await.stop().await;
    let (_, folder) = TestArena::tournament(folder, "", "").await.stop().await;
    let [file] = record_files(folder.path()).collect::<Vec<_>>().try_into().unwrap();
    let pgn = std::fs::read_to_string(file).unwrap();
    assert_eq!(pgn.matches("[GameId \"late\"]").count(), 1, "{pgn}");
}

/// An arena of the Lichess API alone, whose folder of games is away for a while.
#[test]
async fn the_last_games_of_a_tournament_are_written_as_long_as_the_arena_runs() {
    let folder = tempfile::tempdir().unwrap();
    leave_a_game(folder.path().join("arena.db").into()).await;
    let config =
        "games = '{folder}/games'\ndatabase = '{folder}/arena.db'\n[lichess]\nlisten = '127.0.0.1:0'";
    let arena = TestArena::open(folder, config).await;
    // It has not begun to run: nothing was awaited since.
    let games = arena.folder.path().join("games");
    std::fs::rename(&games, games.with_extension("away")).unwrap();
    std::fs::write(&games, "").unwrap();
    let client = Bot::new(arena.lichess.unwrap(), "");
    for _ in 0..20 {
        client.get("/api/account").await;
    }
    std::fs::remove_file(&games).unwrap();
    std::fs::create_dir_all(&games).unwrap();
    let is_late = |file: PathBuf| std::fs::read_to_string(file).unwrap().contains("[GameId \"late\"]");
    soon("the last game is in a file", async {
        while !record_files(arena.folder.path()).any(is_late) {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    arena.stop().await;
}

/// Makes a database with a complete tournament, whose game is in no file.
async fn leave_a_game(location: DatabaseLocation) {
    let (database, writer) = Database::open(location, || ()).await.unwrap();
    let (name, kind, time_control) =
        (Name::try_from("ended").unwrap(), GameKind::Chess, "3".parse().unwrap());
    let opening = Opening { name, kind, time_control, format: Format::default(), created: None };
    let id = database.open_tournament(opening).await.unwrap().history.tournament.id;
    let began = OffsetDateTime::UNIX_EPOCH;
    let header = GameHeader {
        id: "late".into(),
        source: Source::Contest,
        kind,
        tournament: Some(id),
        round: Some(1),
        opening: Some(0),
        players: ByColor(["alice", "bob"].map(Person::named)),
        time_control: None,
        start: None,
        repeats: None,
        began,
    };
    let end = GameEnd {
        result: None,
        reason: "Aborted".into(),
        termination: "abandoned".into(),
        place: None,
        at: began,
        note: None,
        corrected: None,
    };
    let game = GameRow { header: header.into(), moves: MoveList::default(), end: Some(end) };
    let complete = Change::State(id, TournamentState::Complete);
    database.commit(vec![Change::Game(game), complete]).await;
    drop(database);
    writer.join().await;
}
