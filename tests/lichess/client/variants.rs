//! The variants on our own arena.

use serde_json::json;
use zeitnot_engine::Kind;
use zeitnot_rules::MoveText;
use zeitnot_testing::until;
use zeitnot_wire::lichess::{Variant, VariantKey};

use crate::support::{
    lichess_arena::{Lichess, play},
    lichess_client::{PATIENT, start_with},
};

const VARIANTS: [VariantKey; 7] = [
    VariantKey::Crazyhouse,
    VariantKey::Antichess,
    VariantKey::Atomic,
    VariantKey::Horde,
    VariantKey::KingOfTheHill,
    VariantKey::RacingKings,
    VariantKey::ThreeCheck,
];

#[test(workers = 2)]
async fn our_clients_play_each_variant_to_its_end() {
    let lichess = Lichess::start("[lichess.limits]\nmoves = 100000").await;
    let clients =
        ["lip_alice", "lip_bob"].map(|token| start_with(&lichess.url(), token, Kind::Random, PATIENT));
    let alice = lichess.bot("alice");
    for variant in VARIANTS {
        let form = format!("color=white&variant={variant}&clock.limit=180&clock.increment=0&rated=true");
        let challenge = alice.challenge("bob", &form).await;
        let id = challenge["id"].as_str().unwrap();
        // The game is there once it is accepted.
        let export = format!("/game/export/{id}");
        until("a game", async || alice.text("GET", &export, "", "").await.0 == 200).await;
        let lines = alice.watch(id).await.rest().await;
        let last = lines.last().unwrap();
        let state = if last["state"].is_object() { &last["state"] } else { last };
        let status = state["status"].as_str().unwrap();
        let moves = state["moves"].as_str().unwrap();

        // By the rules themselves it ended as the arena says.
        let mut line = variant.begin(None).unwrap();
        for mv in moves.split_ascii_whitespace() {
            assert!(!line.outcome().is_over(), "{variant}: {moves}");
            line.play(&MoveText::new(mv).unwrap())
                .unwrap_or_else(|why| panic!("{variant}: {why} in {moves}"));
        }
        let is_over = line.outcome().is_over() || line.moves().len() >= 600;
        assert!(
            is_over && ["mate", "stalemate", "draw", "variantEnd"].contains(&status),
            "{variant}: {status}"
        );
        let (_, pgn) = alice.text("GET", &format!("/game/export/{id}"), "", "").await;
        let name = Variant::from(variant.clone()).name;
        assert!(pgn.contains(&format!("[Variant \"{name}\"]")), "{pgn}");
        assert_eq!(pgn.contains("[FEN \""), ["Horde", "Racing Kings"].contains(&name.as_str()), "{pgn}");
    }
    for client in clients {
        client.ends_soon().await;
    }
    lichess.stop().await;
}

#[test]
async fn games_end_by_the_rules_of_their_variant() {
    let lichess = Lichess::start("").await;
    let alice = lichess.bot("alice");
    let bob = lichess.bot("bob");
    let mut events = alice.events().await;
    for (variant, moves) in [
        ("atomic", "g1f3 a7a6 f3e5 a6a5 e5f7"),
        ("kingOfTheHill", "e2e3 a7a6 e1e2 a6a5 e2f3 a5a4 f3e4"),
        ("threeCheck", "e2e4 d7d5 f1b5 c7c6 b5c6 b8d7 c6d7"),
    ] {
        let id = lichess.game(&format!("clock.limit=180&clock.increment=0&variant={variant}")).await;
        let mut board = alice.watch(&id).await;
        let full = board.next().await.unwrap();
        assert_eq!((&full["variant"]["key"], &full["initialFen"]), (&json!(variant), &json!("startpos")));
        play(&alice, &bob, &id, moves).await;
        let over = board.rest().await.pop().unwrap();
        assert_eq!((&over["status"], &over["winner"]), (&json!("variantEnd"), &json!("white")), "{variant}");
        let finish = events.expect("gameFinish").await;
        assert_eq!(finish["game"]["status"], json!({"id": 60, "name": "variantEnd"}));
        assert_eq!(finish["game"]["perf"], variant);
    }
    // Men are dropped, and what is no drop is refused.
    let id = lichess.game("clock.limit=180&clock.increment=0&variant=crazyhouse").await;
    play(&alice, &bob, &id, "e2e4 d7d5 e4d5 d8d5").await;
    let drop = |piece: &str| format!("/api/bot/game/{id}/move/{piece}@e4");
    assert_eq!(alice.refused(&drop("Q"), "").await.0, 400);
    alice.ok(&drop("P")).await;
    let (_, pgn) = alice.text("GET", &format!("/game/export/{id}"), "", "").await;
    assert!(pgn.contains("[Variant \"Crazyhouse\"]"), "{pgn}");
    bob.act(&id, "resign").await;
    let pgn = lichess.stop().await;
    assert!(pgn.contains("3. @e4"), "{pgn}");
}
