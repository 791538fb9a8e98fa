//! The player at its seat, in simulated time: what it answers, and when at the latest.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::{Instant, timeout};
use zeitnot_bot::{
    Config,
    policy::{Draw, Resign},
};
use zeitnot_engine::Kind;
use zeitnot_external as external;
use zeitnot_external::OnEngineFailure;
use zeitnot_rules::{Color, Game, MoveText, chess::Chess};
use zeitnot_seat::{Action, Declined, Event, Turn};
use zeitnot_testing::soon;

use crate::support::bot::{answer, ask, clocks, house, house_with, info, moved, tell};

#[test(start_paused = true)]
async fn the_answer_leaves_at_the_hard_limit_whatever_the_search_does() {
    // With the clock paused the search gets next to no real time: the limits come before it is done.
    let house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    for (turn, left) in [200, 1_000, 60_000, 3 * 3_600_000].map(Duration::from_millis).into_iter().enumerate()
    {
        let began = Instant::now();
        let mv = ask(&mut seat, turn as u32, Some(clocks(left))).await;
        assert!(Chess::start().read(&mv).is_ok());
        assert!(began.elapsed() <= left / 2 + Duration::from_millis(1), "{left:?}: {:?}", began.elapsed());
    }
}

#[test(start_paused = true)]
async fn the_last_millisecond_still_gets_an_answer() {
    let house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    for left in [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(30)] {
        let mv = timeout(Duration::from_millis(10), ask(&mut seat, 1, Some(clocks(left)))).await.unwrap();
        assert!(Chess::start().read(&mv).is_ok());
    }
}

#[test(start_paused = true)]
async fn without_a_clock_a_move_takes_its_configured_time() {
    let house =
        house(Kind::Search, Config { untimed_move_time: Duration::from_secs(7), ..Config::default() });
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let began = Instant::now();
    ask(&mut seat, 1, None).await;
    assert!(began.elapsed() <= Duration::from_secs(8));
}

#[test]
async fn follows_the_game_and_finds_the_mate() {
    let mut house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::Black, None)).await.unwrap();
    for text in ["f2f3", "e7e5", "g2g4"] {
        seat.events.send(Event::Moved(MoveText::new(text).unwrap())).await.unwrap();
    }
    assert_eq!(ask(&mut seat, 9, Some(clocks(Duration::from_secs(60)))).await, "d8h4");
    seat.events.send(Event::Moved(MoveText::new("d8-h4").unwrap())).await.unwrap();
    seat.events.send(Event::Ended { result: "0-1 Checkmate".into(), outcome: None }).await.unwrap();
    let last = loop {
        let status = house.status.recv().await.unwrap();
        if status.result.is_some() {
            break status;
        }
    };
    assert_eq!(last.last_move.as_deref(), Some("Qh4#"));
    assert_eq!((last.ply, last.to_move), (4, Color::White));
    assert!(last.eval.unwrap().0.is_mate());
    assert!(seat.actions.recv().await.is_none(), "the player has left");
}

#[test]
async fn takes_over_the_servers_board_when_its_own_is_another() {
    let house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    seat.events.send(Event::Moved(MoveText::new("e7e5").unwrap())).await.unwrap(); // never legal here
    seat.events.send(Event::Board("rubbish".into())).await.unwrap();
    seat.events.send(Event::Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1".into())).await.unwrap();
    assert_eq!(ask(&mut seat, 1, Some(clocks(Duration::from_secs(60)))).await, "a1a8");
}

#[test]
async fn a_refused_move_is_not_sent_again() {
    let house = house(Kind::Search, Config::default());
    // Three legal moves.
    let mut seat = house.lobby.open(info(Color::White, Some("k7/8/8/8/8/8/8/7K w - - 0 1"))).await.unwrap();
    let mut seen = Vec::new();
    for turn in 1..=3 {
        let mv = ask(&mut seat, turn, Some(clocks(Duration::from_secs(1)))).await;
        assert!(!seen.contains(&mv), "{mv} again");
        seen.push(mv);
        seat.events.send(Event::Refused { turn: Turn(turn), why: "not legal".into() }).await.unwrap();
    }
    // The server has refused everything: there is nothing left but to give up.
    seat.events.send(Event::YourTurn { turn: Turn(4), clocks: None }).await.unwrap();
    assert_eq!(seat.actions.recv().await, Some(Action::Resign { turn: Turn(4) }));
    seat.events.send(Event::Ended { result: "0-1 Out of time".into(), outcome: None }).await.unwrap();
    assert!(seat.actions.recv().await.is_none());
}

#[test(start_paused = true)]
async fn a_new_request_replaces_the_old_one_and_a_move_cancels_it() {
    let house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let your_turn =
        |turn| Event::YourTurn { turn: Turn(turn), clocks: Some(clocks(Duration::from_secs(600))) };
    seat.events.send(your_turn(1)).await.unwrap();
    seat.events.send(your_turn(2)).await.unwrap();
    answer(&mut seat, 2).await;
    seat.events.send(your_turn(3)).await.unwrap();
    seat.events.send(Event::Moved(MoveText::new("e2e4").unwrap())).await.unwrap();
    assert!(
        timeout(Duration::from_secs(600), seat.actions.recv()).await.is_err(),
        "nothing is owed any more"
    );
}

#[test]
async fn declines_what_it_cannot_play() {
    let house = house(Kind::Random, Config { max_games: 1, ..Config::default() });
    let bad = house.lobby.open(info(Color::White, Some("no position"))).await.unwrap_err();
    assert!(bad.0.contains("no position"), "{bad}");
    let first = house.lobby.open(info(Color::White, None)).await.unwrap();
    let full = house.lobby.open(info(Color::White, None)).await.unwrap_err();
    assert_eq!(full, Declined("1 games are running already".into()));
    // The seat is free again once its protocol has left it.
    drop(first);
    soon("it ends", async {
        while house.lobby.open(info(Color::White, None)).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[test]
async fn a_reserved_game_is_played_though_fewer_are_allowed_since() {
    let house = house(Kind::Random, Config { max_games: 1, ..Config::default() });
    house.lobby.seats().set_max(2);
    let _running = house.lobby.open(info(Color::White, None)).await.unwrap();
    let reservation = house.lobby.reserve().unwrap();
    house.lobby.seats().set_max(1);
    house.lobby.open_reserved(info(Color::White, None), reservation).await.unwrap();
}

#[test]
async fn ends_when_asked_and_the_games_are_over() {
    let house = house(Kind::Random, Config::default());
    let seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    house.shutdown.cancel();
    tokio::task::yield_now().await;
    assert!(house.lobby.open(info(Color::White, None)).await.is_err());
    assert!(!house.bot.is_finished(), "a game is running");
    drop(seat);
    soon("it ends", house.bot).await.unwrap();
}

/// Kings and a pawn each that nobody can win.
const DEAD_DRAWN: &str = "8/8/4k3/3p4/3P4/4K3/8/8 w - - 0 1";

#[test]
async fn offers_a_draw_with_its_move_and_agrees_to_one() {
    let draw = Draw { score: 60, moves: 2, min_game_length: 1, max_pieces: 4, ..Draw::default() };
    let house = house(
        Kind::Search,
        Config { draw, untimed_move_time: Duration::from_millis(300), ..Config::default() },
    );
    let mut seat = house.lobby.open(info(Color::White, Some(DEAD_DRAWN))).await.unwrap();
    let mut offers = Vec::new();
    for (turn, reply) in ["e6d6", "d6e6", "e6d6", "d6e6"].into_iter().enumerate() {
        if turn == 3 {
            tell(&seat, Event::DrawOffered).await;
        }
        tell(&seat, Event::YourTurn { turn: Turn(turn as u32), clocks: None }).await;
        let Some(Action::Play { offers_draw, eval, .. }) = seat.actions.recv().await else { panic!() };
        assert!(eval.is_some_and(|eval| eval.depth > 0));
        offers.push(offers_draw);
        // Whatever it was, the kings go to and fro.
        moved(&seat, if turn % 2 == 0 { "e3d3" } else { "d3e3" }).await;
        moved(&seat, reply).await;
    }
    assert_eq!(offers, [false, true, false, true]);
}

#[test]
async fn gives_up_what_is_lost_and_only_if_it_is_told_to() {
    let lost = "7k/8/8/8/8/8/qq5P/7K w - - 0 1";
    for (moves, gives_up) in [(0, false), (1, true)] {
        let resign = Resign { moves, score: 500, ..Resign::default() };
        let house = house(
            Kind::Search,
            Config { resign, untimed_move_time: Duration::from_millis(50), ..Config::default() },
        );
        let mut seat = house.lobby.open(info(Color::White, Some(lost))).await.unwrap();
        tell(&seat, Event::YourTurn { turn: Turn(1), clocks: None }).await;
        let action = seat.actions.recv().await.unwrap();
        assert_eq!(action == Action::Resign { turn: Turn(1) }, gives_up, "{action:?}");
    }
}

#[test]
async fn what_is_taken_back_is_thought_about_anew_and_what_was_before_is_known() {
    let house = house(Kind::Search, Config::default());
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    for text in ["f2f3", "e7e5", "g2g4", "d7d6"] {
        seat.events.send(Event::Moved(MoveText::new(text).unwrap())).await.unwrap();
    }
    seat.events.send(Event::TakenBack { plies: 2 }).await.unwrap();
    let mv = ask(&mut seat, 1, Some(clocks(Duration::from_secs(1)))).await;
    let mut board = Chess::start();
    for text in ["f2f3", "e7e5"] {
        board.play(board.read(text).unwrap());
    }
    assert!(board.read(&mv).is_ok(), "{mv}");
    // More than there was is the beginning.
    seat.events.send(Event::TakenBack { plies: 9 }).await.unwrap();
    let mv = ask(&mut seat, 2, Some(clocks(Duration::from_secs(1)))).await;
    assert!(Chess::start().read(&mv).is_ok(), "{mv}");
}

/// Neither the fallback move nor a search of ours replaces an engine that fails, unless the configuration says so.
#[test]
async fn the_game_is_left_if_its_engine_fails() {
    let script = r#"while read -r line; do case "$line" in
        uci) echo uciok;; isready) echo readyok;; *startpos) game=;; *moves*) game=1;;
        go*) [ "$game" ] && exit; echo 'info depth 1 score cp 5 pv e2e4'; echo bestmove e2e4;;
    esac; done"#;
    for policy in [OnEngineFailure::Restart, OnEngineFailure::Resign, OnEngineFailure::Own] {
        let args = vec!["-c".into(), script.into()];
        let config = external::Config { args, on_engine_failure: policy, ..external::Config::new("/bin/sh") };
        let program = external::Program::open("mortal", &config).unwrap().program;
        let rules: Config = toml::from_str("[[choose]]\nengine = 'mortal'").unwrap();
        let house = house_with(Kind::Search, rules, |context| {
            let factory = program.factory().unwrap();
            context.set_engines(&BTreeMap::from([("mortal".to_owned(), factory)]));
        });
        let mut seat = house.lobby.open(info(Color::Black, None)).await.unwrap();
        moved(&seat, "e2e4").await;
        tell(&seat, Event::YourTurn { turn: Turn(1), clocks: Some(clocks(Duration::from_secs(60))) }).await;
        let action = soon("an action", seat.actions.recv()).await;
        if policy == OnEngineFailure::Own {
            assert!(matches!(action, Some(Action::Play { turn: Turn(1), .. })), "{action:?}");
        } else {
            assert_eq!(action, Some(Action::Leave { turn: Turn(1) }), "{policy:?}");
        }
    }
}

/// A server may ask again and again before the answers are read; only the last one counts.
#[test]
async fn a_burst_of_requests_does_not_lose_the_last_answer() {
    const REQUESTS: u32 = 50;
    let house = house(Kind::Random, Config::default());
    // One move is legal, which needs no search.
    let start = "k7/8/8/8/8/8/r7/7K w - - 0 1";
    let mut seat = house.lobby.open(info(Color::White, Some(start))).await.unwrap();
    for turn in 1..=REQUESTS {
        seat.events.try_send(Event::YourTurn { turn: Turn(turn), clocks: None }).unwrap();
    }
    let mut answered = Turn(0);
    while answered != Turn(REQUESTS) {
        let Some(Action::Play { turn, .. }) = soon("an answer", seat.actions.recv()).await else { panic!() };
        answered = turn;
    }
}
