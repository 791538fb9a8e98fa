//! Tournaments of all pairing systems, from the first pairing to the last result.

use tokio::task::JoinSet;
use zeitnot_arena::{Event, TournamentSummary};
use zeitnot_pairing::{
    Name, SeatNo,
    format::{Format, PairingKind},
};
use zeitnot_rules::{Color, GameResult};
use zeitnot_testing::soon;

use crate::support::arena::{By, Player, TestArena, records, results, tags, word};

/// Resigns each game with White, until the arena closes.
async fn lose_with_white(mut player: Player) {
    while let Some(line) = player.next().await {
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" => player.send(&format!("RESIGN {}", word(&line, 1))).await,
            _ => {}
        }
    }
}

/// Pairs each round of a report file anew from the results before it.
#[track_caller]
fn assert_paired_by_the_rules(report: &str, rounds: u32) {
    let players: Vec<_> = report.lines().filter(|line| line.starts_with("001")).collect();
    let format = Format { pairing: PairingKind::Swiss, rounds: Some(rounds), ..Format::default() };
    let mut system = zeitnot_pairing::system(&format, 1, &[]);
    for (seat, player) in (0..).map(SeatNo).zip(&players) {
        system.enter(seat, &Name::try_from(player[14..47].trim()).unwrap());
    }
    for round in 1..=rounds {
        // Opponent, colour and result.
        let cell = |seat: SeatNo| players[seat.0][91 + 10 * (round as usize - 1)..][..8].trim();
        assert_eq!(system.begin_round(), Some(round));
        for bye in system.take_byes() {
            assert_eq!(cell(bye.seat), "0000 - U", "round {round}");
        }
        for pairing in system.open().unwrap().pairings {
            let [white, black] = pairing.seats.0;
            assert_eq!(cell(white), format!("{} w 0", black.0 + 1), "round {round}");
            assert!(system.played(pairing, GameResult::Won(Color::Black)));
        }
    }
}

/// Plays a tournament to its end; returns its summary and the White and Black of each game.
async fn play(settings: &str, players: &[&str]) -> (TournamentSummary, Vec<[String; 2]>) {
    let mut arena = TestArena::start(&format!("players = {}\n{settings}", players.len())).await;
    let mut playing = JoinSet::new();
    for (at, name) in players.iter().enumerate() {
        let by = if at % 2 == 0 { By::Tcp } else { By::WebSocket };
        playing.spawn(lose_with_white(arena.join(by, name).await));
        // Seats are given in this order.
        let joined = async { while !matches!(arena.news.recv().await.unwrap().event, Event::Joined(_)) {} };
        soon("the player has a seat", joined).await;
    }
    let (mut summary, folder) = arena.end().await;
    playing.join_all().await;
    let pgn = records(folder.path());
    let names = tags(&pgn, "White").into_iter().zip(tags(&pgn, "Black"));
    let games = names.map(|(white, black)| [white.to_owned(), black.to_owned()]).collect();
    (summary.tournaments.remove(0), games)
}

/// Pairs that met, in alphabetical order.
fn meetings(games: &[[String; 2]]) -> Vec<[&str; 2]> {
    let mut met: Vec<_> = games.iter().map(|game| game.each_ref().map(String::as_str)).collect();
    met.iter_mut().for_each(|names| names.sort_unstable());
    met.sort_unstable();
    met
}

#[test]
async fn a_swiss_of_six_over_tcp_and_websocket() {
    let players = ["alice", "bob", "carol", "dave", "erin", "frank"];
    let (summary, games) = play("pairing = 'swiss'\nrounds = 3", &players).await;
    assert!(summary.complete);
    assert_eq!(games.len(), 9);
    let mut met = meetings(&games);
    met.dedup();
    assert_eq!(met.len(), 9, "nobody meets twice: {met:?}");
    let rows = summary.standings.rows();
    assert!(rows.iter().all(|row| row.tally.games() == 3), "{rows:?}");
    // The first board of the first round, by the handbook.
    assert!(games[..3].contains(&["alice".to_owned(), "dave".to_owned()]));
}

#[test]
async fn an_odd_swiss_gives_byes() {
    let (summary, games) =
        play("pairing = 'swiss'\nrounds = 3\nacceleration = 'baku'", &["a", "b", "c", "d", "e"]).await;
    assert!(summary.complete);
    assert_eq!(games.len(), 6);
    let rows = summary.standings.rows();
    assert_eq!(rows.iter().map(|row| row.score.points()).sum::<f64>(), 9.0, "six games and three byes");
    assert_eq!(rows.iter().map(|row| row.tally.byes).sum::<u32>(), 3);
}

#[test]
async fn a_knockout_of_five() {
    let (summary, games) = play("pairing = 'knockout'", &["a", "b", "c", "d", "e"]).await;
    assert!(summary.complete);
    // The better seed has White, and Black wins each game.
    let games: Vec<_> = games.iter().map(|[white, black]| format!("{white}-{black}")).collect();
    let mut first = games.clone();
    first[..3].sort();
    assert_eq!(first, ["a-e", "b-c", "d-e", "c-e"]);
    assert_eq!(summary.standings.rows()[0].name.as_str(), "e");
}

#[test]
async fn a_gauntlet_keeps_a_seat_for_its_champion() {
    let settings = "pairing = 'gauntlet'\ngauntlet = ['champion']\ngames_per_pair = 2";
    let (summary, games) = play(settings, &["a", "b", "champion"]).await;
    assert!(summary.complete);
    assert_eq!(
        meetings(&games),
        [["a", "champion"], ["a", "champion"], ["b", "champion"], ["b", "champion"]]
    );
}

#[test]
async fn a_swiss_goes_on_after_a_restart_in_the_middle_of_a_round() {
    let players = ["a", "b", "c", "d", "e"];
    let config = "tcp = '127.0.0.1:0'\ngames = '{folder}/games'\n[[tournament]]\nname = 'class'\ntime = '60'\n\
                  pause = '0s'\npairing_interval = '20ms'\nplayers = 5\npairing = 'swiss'\nrounds = 3";
    let mut arena = TestArena::open(tempfile::tempdir().unwrap(), config).await;
    let mut playing = JoinSet::new();
    for name in players {
        playing.spawn(lose_with_white(arena.join(By::Tcp, name).await));
    }
    // The first round has two games.
    let third = async {
        for _ in 0..3 {
            while !matches!(arena.news.recv().await.unwrap().event, Event::GameEnded { .. }) {}
        }
    };
    soon("three games are over", third).await;
    let (_, folder) = arena.stop().await;
    playing.join_all().await;

    let arena = TestArena::open(folder, config).await;
    let mut playing = JoinSet::new();
    for name in players {
        playing.spawn(lose_with_white(arena.join(By::Tcp, name).await));
    }
    let (summary, folder) = arena.end().await;
    playing.join_all().await;
    let summary = &summary.tournaments[0];
    let pgn = records(folder.path());
    assert!(summary.complete);
    let rows = summary.standings.rows();
    assert_eq!(rows.iter().map(|row| row.score.points()).sum::<f64>(), 9.0, "six games and three byes");
    let names = tags(&pgn, "White").into_iter().zip(tags(&pgn, "Black")).zip(tags(&pgn, "Result"));
    let counted = names.filter(|(_, result)| *result != "*");
    let games: Vec<_> = counted.map(|((white, black), _)| [white.to_owned(), black.to_owned()]).collect();
    let mut met = meetings(&games);
    met.dedup();
    assert_eq!((games.len(), met.len()), (6, 6), "{games:?}");

    // The report file is read back, and all rounds are as the rules pair them.
    assert_paired_by_the_rules(&results(&folder.database(), &["class", "--trf"]), 3);
}
