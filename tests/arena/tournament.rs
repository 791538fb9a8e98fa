//! A whole tournament of random movers, and what is left of it.

use zeitnot_arena::Event;
use zeitnot_pairing::Name;
use zeitnot_rules::{Game, chess};

use crate::support::arena::{By, Player, TestArena, records, tags, word};

/// Plays random legal moves, whatever comes, until the arena closes.
pub(super) async fn play_randomly(mut player: Player) {
    while let Some(line) = player.next().await {
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" => {
                let fen = line.splitn(7, ' ').last().unwrap();
                let position = chess::Chess::parse(fen).unwrap();
                let moves = position.moves();
                let mv = moves[fastrand::usize(..moves.len())];
                player.send(&format!("MOVE {} {}", word(&line, 1), position.write(mv))).await;
            }
            _ => {}
        }
    }
}

#[test]
async fn four_random_movers_play_a_double_round_robin() {
    let mut arena = TestArena::start("players = 4\ngames_per_pair = 2").await;
    let mut players = tokio::task::JoinSet::new();
    for (i, name) in ["alice", "bob", "carol", "dave"].into_iter().enumerate() {
        let by = if i % 2 == 0 { By::Tcp } else { By::WebSocket };
        players.spawn(play_randomly(arena.join(by, name).await));
    }
    let mut news = std::mem::replace(&mut arena.news, tokio::sync::broadcast::Sender::new(1).subscribe());
    let (summary, folder) = arena.end().await;
    players.join_all().await;

    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    let rows = tournament.standings.rows();
    assert!(rows.iter().all(|row| row.tally.games() == 6 && row.tally.forfeits == 0));
    assert_eq!(rows.iter().map(|row| row.score.points()).sum::<f64>(), 12.0);
    assert!(rows.is_sorted_by(|a, b| a.score >= b.score));

    let pgn = records(folder.path());
    let white = tags(&pgn, "White");
    let black = tags(&pgn, "Black");
    let results = tags(&pgn, "Result");
    assert_eq!(results.len(), 12);
    for row in &rows {
        let games = |names: &[&str]| names.iter().filter(|name| **name == row.name.as_str()).count();
        assert_eq!((games(&white), games(&black)), (3, 3));
    }
    assert!(tags(&pgn, "Termination").iter().all(|end| *end == "normal"));
    // Only a mate decides a game.
    let decided = results.iter().filter(|result| **result != "1/2-1/2").count();
    assert_eq!(pgn.matches('#').count(), decided);

    let mut started = 0;
    let mut ended = 0;
    let mut last = None;
    while let Ok(item) = news.try_recv() {
        assert_eq!(item.tournament, Name::try_from("class").unwrap());
        match item.event {
            Event::GameStarted { .. } => started += 1,
            Event::GameEnded { .. } => ended += 1,
            Event::Over(standings) => last = Some(standings),
            _ => {}
        }
    }
    assert_eq!((started, ended), (12, 12));
    assert_eq!(*last.unwrap(), tournament.standings);
}

#[test]
async fn whoever_has_played_everybody_is_told_once_and_after_joining_again() {
    let told = "INFO You have played all your games here; the next one starts when another player joins";
    let arena = TestArena::start("games_per_pair = 1").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    board.white.send(&format!("RESIGN {}", board.game)).await;
    board.white.expect(told).await;
    board.black.expect(told).await;
    let (mut white, mut black) = (board.white, board.black);
    white.send("DISCONNECT").await;
    white.rest().await;
    let mut back = arena.join(By::Tcp, &white.name).await;
    assert_eq!(back.next().await.unwrap(), "INFO You joined tournament class (2 active players)");
    assert_eq!(back.next().await.unwrap(), told);
    let mut carol = arena.join(By::Tcp, "carol").await;
    let heard = black.until("INFO Player carol joined").await;
    assert!(!heard.iter().any(|line| line == told), "{heard:?}");
    let paired = carol.expect("GAME_PAIRED").await;
    let opponent = if paired.contains(&format!(" {} ", black.name)) { &mut black } else { &mut back };
    opponent.ack(&paired).await;
    carol.ack(&paired).await;
    carol.expect("GAME_STARTED").await;
    carol.send(&format!("RESIGN {}", word(&paired, 1))).await;
    opponent.expect("GAME_OVER").await;
    opponent.expect(told).await;
    arena.stop().await;
}
