//! Players who come back get their seat back; those who do not forfeit.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use zeitnot_arena::Keys;
use zeitnot_pairing::Name;
use zeitnot_testing::until;

use crate::support::arena::{Board, By, TestArena, begin, results, word};

#[test]
async fn a_player_who_comes_back_gets_the_seat_for_the_next_game() {
    let arena = TestArena::start("players = 2").await;
    let mut board = arena.game().await;
    let first = word(&board.white.expect("YOUR_MOVE").await, 2).to_owned();
    drop(board.white);
    assert!(board.black.expect("GAME_OVER").await.ends_with("0-1 Resignation by disconnect"));

    let mut back = arena.join(By::WebSocket, &first).await;
    let mut other = board.black;
    let paired = begin(&mut back, &mut other).await;
    assert_eq!(word(&paired, 3), first, "colours change");
    let mut board = Board::new(paired, back, other);
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    assert_eq!(board.over().await, "0-1 Checkmate");
    assert_eq!(board.white.rest().await.pop().unwrap(), "INFO Tournament class is over");

    let (summary, _folder) = arena.end().await;
    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    let rows = tournament.standings.rows();
    let short: Vec<_> = rows.iter().map(|r| (r.score.points(), r.tally.games(), r.tally.forfeits)).collect();
    assert_eq!(short, [(1.0, 2, 0), (1.0, 2, 0)]);
}

#[test]
async fn an_absent_player_forfeits_the_rest_and_the_tournament_ends() {
    let arena = TestArena::start("players = 3\nabsent_after = '200ms'\ngames_per_pair = 1").await;
    let mut alice = arena.join(By::Tcp, "alice").await;
    let mut bob = arena.join(By::Tcp, "bob").await;
    let carol = arena.join(By::Tcp, "carol").await;
    drop(carol);
    let paired = loop {
        // Carol can be paired before she is seen to be away.
        let paired = alice.expect("GAME_PAIRED").await;
        if paired.contains("bob") {
            break paired;
        }
    };
    alice.ack(&paired).await;
    bob.ack(&paired).await;
    let mut board = Board::new(paired, alice, bob);
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    let (summary, folder) = arena.end().await;
    let csv = results(&folder.database(), &["class", "--csv"]);
    let out = |name: &str| csv.lines().find(|line| line.contains(name)).unwrap().rsplit(',').next().unwrap();
    assert_eq!(["out", "alice", "bob", "carol"].map(out), ["out", "", "", "Absence"], "{csv}");
    let rows = summary.tournaments[0].standings.rows();
    assert_eq!(rows[0].score.points(), 2.0);
    assert_eq!(rows[1].score.points(), 1.0);
    assert_eq!((rows[2].name.as_str(), rows[2].tally.forfeits, rows[2].tally.losses), ("carol", 2, 2));
}

#[test]
async fn leaving_before_the_first_pairing_frees_the_seat() {
    let arena = TestArena::start("players = 2\ngames_per_pair = 1").await;
    let mut typo = arena.join(By::Tcp, "alcie").await;
    typo.send("DISCONNECT").await;
    typo.rest().await;
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    let mut late = arena.join(By::Tcp, "late").await;
    let refusal = late.rest().await.pop().unwrap();
    assert!(
        refusal == "INFO Tournament class is full" || refusal == "INFO Tournament class is over",
        "{refusal}"
    );
    let (summary, _folder) = arena.end().await;
    assert_eq!(summary.tournaments[0].standings.rows().len(), 2);
}

#[test]
async fn a_name_is_kept_for_the_address_of_a_player_who_has_left() {
    let arena = TestArena::start("name_held = '1h'").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    drop(board.white);
    board.black.expect("GAME_OVER").await;
    // The arena has seen White leave before it told Black.
    let mut thief = arena.join_from([127, 0, 0, 2], "alice").await;
    let mut other = arena.join_from([127, 0, 0, 2], "bob").await;
    let refusals = [thief.rest().await.pop().unwrap(), other.rest().await.pop().unwrap()];
    assert!(
        refusals.iter().any(|line| line.contains("is kept for its player's address: try again in 3600 s")),
        "{refusals:?}"
    );
    assert!(refusals.iter().any(|line| line.contains("is already taken")), "{refusals:?}");
    let name = if refusals[0].contains("is kept") { "alice" } else { "bob" };
    let mut back = arena.join(By::Tcp, name).await;
    back.send(&format!("SAY {name} here")).await;
    back.expect(&format!("SAID {name} here")).await;
    arena.stop().await;
}

#[test]
async fn a_name_is_free_for_others_when_its_player_has_been_away() {
    let arena = TestArena::start("name_held = '0s'").await;
    let mut board = arena.game().await;
    board.white.expect("YOUR_MOVE").await;
    let name = board.white.name.clone();
    drop(board.white);
    board.black.expect("GAME_OVER").await;
    let mut heir = arena.join_from([127, 0, 0, 2], &name).await;
    heir.send(&format!("SAY {name} here")).await;
    heir.expect(&format!("SAID {name} here")).await;
    arena.stop().await;
}

#[test]
async fn keys_and_passwords_decide_who_joins() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("class.keys");
    Keys::add(&keys, &[Name::try_from("alice").unwrap()]).unwrap();
    let text = std::fs::read_to_string(&keys).unwrap();
    let key = text.lines().last().unwrap().strip_prefix("alice ").unwrap();
    let arena = TestArena::start(&format!("keys = '{}'\npassword = 'sesame'", keys.display())).await;
    let missing =
        "INFO Tournament class requires a key: ask the organiser for yours, and write it after the name";
    for (player, refusal) in [
        ("alice", missing),
        ("alice sesame", "INFO That is not the key for alice"),
        ("bob", missing),
        ("bob open", "INFO That is not the key for bob"),
    ] {
        assert_eq!(arena.join(By::Tcp, player).await.rest().await, [refusal]);
    }
    let mut alice = arena.join(By::WebSocket, &format!("alice {key}")).await;
    let _bob = arena.join(By::Tcp, "bob sesame").await;
    alice.expect("INFO Player bob joined").await;
    arena.stop().await;
    let arena = TestArena::start(&format!("keys = '{}'", keys.display())).await;
    let hint = "INFO Alice is not on the list of players, but alice is: upper and lower case differ";
    for (player, refusal) in [("Alice", hint), ("bob", "INFO bob is not on the list of players")] {
        assert_eq!(arena.join(By::Tcp, player).await.rest().await, [refusal]);
    }
    arena.stop().await;
}

#[test]
async fn passwords_cannot_be_guessed_and_those_who_know_them_join_meanwhile() {
    let arena = TestArena::start("password = 'sesame'").await;
    let guess = async |address, word: &str| {
        let refusal = arena.join_from(address, &format!("mallory {word}")).await.rest().await.concat();
        refusal.contains("too many wrong keys")
    };
    let known = [127, 0, 0, 1];
    let unknown = [127, 0, 0, 2];
    let began = Instant::now();
    let mut alice = arena.join(By::Tcp, "alice sesame").await;
    alice.expect("INFO You joined").await;
    for address in [known, unknown] {
        let mut guesses = 0;
        while !guess(address, &guesses.to_string()).await {
            guesses += 1;
        }
        assert!(guesses >= 10, "{guesses}");
    }
    let answer = arena.join_from(unknown, "mallory sesame").await.next().await.unwrap_or_default();
    // A slow machine has earned another guess meanwhile.
    let is_slow = began.elapsed() > Duration::from_secs(6);
    assert!(answer.contains("too many wrong keys") || is_slow, "it is not compared: {answer}");
    let mut bob = arena.join(By::Tcp, "bob sesame").await;
    bob.expect("INFO You joined").await;
    arena.stop().await;
}

#[test]
async fn names_that_were_thrown_away_do_not_fill_an_open_tournament() {
    let arena = TestArena::with("max_connections_per_address = 2", "").await;
    for round in 0..3 {
        let mut players = Vec::new();
        for name in ["a", "b"].map(|name| format!("{name}-{round}")) {
            let found = Cell::new(None);
            // The arena may still see the last round's connections.
            until("a free place", async || {
                let mut player = arena.join(By::Tcp, &name).await;
                let _ = player.writer.send(&format!("SAY {name} here")).await;
                let joined = player.next().await.is_some_and(|line| !line.contains("from your address"));
                found.set(joined.then_some(player));
                joined
            })
            .await;
            players.extend(found.take());
        }
        let [mut alice, mut bob] = <[_; 2]>::try_from(players).ok().unwrap();
        let paired = begin(&mut alice, &mut bob).await;
        alice.expect("GAME_STARTED").await;
        alice.send(&format!("RESIGN {}", word(&paired, 1))).await;
        for player in [&mut alice, &mut bob] {
            player.expect("GAME_OVER").await;
        }
    }
    arena.stop().await;
}
