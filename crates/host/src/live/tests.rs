//! Tests of the way from a game to its spectators.

use std::time::Duration;

use time::OffsetDateTime;
use tokio::{
    sync::mpsc,
    time::{Instant, advance},
};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use zeitnot_rules::{ByColor, Color, DynGame, GameKind, GameResult};

use super::{
    Event, Feed, Hub, LiveGame, SubscriberId, TournamentReport,
    view::{LiveMessage, Numbering, PairingRow, Score, Source, Thought, Topic},
};
use crate::{
    game_info::{GameInfo, TournamentGameInfo},
    jobs,
};
use zeitnot_referee::{Allowance, Referee, RefereeRules};

/// A game, its feed and the hub, moved by hand.
struct Bench {
    hub: Hub,
    feed: Feed,
    events: mpsc::Receiver<Event>,
}

struct Played {
    referee: Referee<DynGame>,
    live: LiveGame,
}

struct Spectator {
    id: SubscriberId,
    messages: mpsc::Receiver<Utf8Bytes>,
}

impl Bench {
    fn new() -> Bench {
        let (feed, events) = Feed::channel();
        Bench { hub: Hub::default(), feed, events }
    }

    fn begin(&self, id: &str) -> Played {
        let time_control = "60+1".parse().unwrap();
        let board = DynGame::begin(GameKind::Chess, None).unwrap();
        let now = Instant::now();
        let tournament = TournamentGameInfo {
            name: "class".to_owned(),
            stored: None,
            numbering: Numbering::Rounds,
            number: 1,
            opening: 0,
            repeats: None,
        };
        let info = GameInfo {
            id: id.into(),
            tournament: Some(tournament),
            time_control: Some(time_control),
            began: OffsetDateTime::UNIX_EPOCH,
            ..GameInfo::new(Source::Contest, &board, ByColor(["alice", "bob"]))
        };
        let allowances = ByColor::both(Allowance::Game(time_control));
        let mut referee = Referee::new(board, allowances, RefereeRules::default(), now);
        referee.await_move(now);
        let live = self.feed.begin(info.into(), &referee, now);
        Played { referee, live }
    }

    /// The hub takes in what was reported.
    fn settle(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.hub.apply(event);
        }
    }

    fn spectator(&mut self, room: usize, topic: Topic) -> Spectator {
        let (queue, messages) = mpsc::channel(room);
        let id = self.hub.subscribe(queue);
        self.hub.watch(id, topic);
        Spectator { id, messages }
    }
}

impl Played {
    fn play(&mut self, san: &str) {
        let now = Instant::now();
        self.referee.play(self.referee.turn(), san, now, None).unwrap();
        self.referee.await_move(now);
        self.live.moved(&self.referee, now);
    }
}

impl Spectator {
    fn heard(&mut self) -> Vec<LiveMessage> {
        let messages = std::iter::from_fn(|| self.messages.try_recv().ok());
        messages.map(|text| serde_json::from_str(&text).unwrap()).collect()
    }
}

fn game(id: &str) -> Topic {
    Topic::Game(id.to_owned())
}

#[test(start_paused = true)]
async fn spectators_see_a_game_from_its_beginning_to_its_end() {
    let mut bench = Bench::new();
    let mut lists = bench.spectator(64, Topic::Games);
    let mut played = bench.begin("g");
    bench.settle();
    let mut spectator = bench.spectator(64, game("g"));
    advance(Duration::from_millis(1500)).await;
    played.play("e4");
    bench.settle();
    advance(Duration::from_secs(2)).await;
    let mut late = bench.spectator(64, game("g"));
    played.live.ended(
        Some(GameResult::Won(Color::White)),
        "Resignation".into(),
        "normal",
        &played.referee,
        Instant::now(),
    );
    bench.settle();

    let heard = lists.heard();
    let [
        LiveMessage::Games { games },
        LiveMessage::Begin { game },
        LiveMessage::Move { .. },
        LiveMessage::End { .. },
    ] = heard.as_slice()
    else {
        panic!("{heard:?}")
    };
    assert!(games.is_empty());
    assert_eq!((game.white.name.as_str(), game.clocks.unwrap().running), ("alice", Some(Color::White)));

    let heard = spectator.heard();
    let [
        LiveMessage::Game { .. },
        LiveMessage::Move { ply: 1, made, clocks, .. },
        LiveMessage::End { result, reason, .. },
    ] = heard.as_slice()
    else {
        panic!("{heard:?}")
    };
    assert_eq!((made.uci.as_str(), made.san.as_str(), made.spent_ms), ("e2e4", "e4", Some(1500)));
    assert_eq!((made.left_ms, clocks.unwrap().white_ms), (Some(59_500), 59_500));
    assert_eq!((result.as_str(), reason.as_str()), ("1-0", "Resignation"));

    let heard = late.heard();
    let LiveMessage::Game { game } = &heard[0] else { panic!("{heard:?}") };
    assert_eq!(game.summary.clocks.unwrap().black_ms, 58_000, "as of the sending");
    assert_eq!(game.plies.len(), 1);
    let row = bench.hub.games()[0].clone();
    assert_eq!((row.result.as_deref(), row.ply, row.chess960), (Some("1-0"), 1, false));
    assert_eq!((row.last_move.as_deref(), row.last_san.as_deref()), (Some("e2e4"), Some("e4")));
    assert!(bench.hub.pgn("g").unwrap().contains("1. e4"));
}

#[test(start_paused = true)]
async fn where_the_feed_is_full_the_next_event_is_the_whole_game() {
    let mut bench = Bench::new();
    let mut played = bench.begin("g");
    bench.settle();
    let mut others: Vec<Played> = Vec::new();
    while bench.events.len() < bench.events.max_capacity() {
        others.push(bench.begin(&others.len().to_string()));
    }
    played.play("e4");
    bench.settle();
    assert_eq!(bench.hub.game("g").unwrap().plies.len(), 0, "there was no room");
    played.play("e5");
    bench.settle();
    assert_eq!(bench.hub.game("g").unwrap().plies.len(), 2);
    // An end is found even if there is no room for it; so is a game that nobody has any more.
    while bench.events.len() < bench.events.max_capacity() {
        others.push(bench.begin(&others.len().to_string()));
    }
    played.play("Nf3");
    played.live.ended(None, "Aborted".into(), "abandoned", &played.referee, Instant::now());
    others.remove(0);
    bench.settle();
    bench.hub.tick();
    let ended = bench.hub.game("g").unwrap();
    assert_eq!((ended.summary.reason.as_deref(), ended.plies.len()), (Some("Aborted"), 3));
    assert_eq!(bench.hub.game("0").unwrap().summary.result.as_deref(), Some("*"));
}

#[test(start_paused = true)]
async fn who_does_not_read_is_left_out_and_gets_the_whole_game_later() {
    let mut bench = Bench::new();
    let mut played = bench.begin("g");
    bench.settle();
    let mut slow = bench.spectator(2, game("g"));
    let mut quick = bench.spectator(64, game("g"));
    for san in ["e4", "e5", "Nf3", "Nc6"] {
        played.play(san);
    }
    bench.settle();
    bench.hub.tick();
    assert_eq!(quick.heard().len(), 5);
    assert_eq!(slow.heard().len(), 2, "the game and the first move");
    played.play("Bb5");
    bench.settle();
    assert!(slow.heard().is_empty(), "a move with a gap before it is of no use");
    bench.hub.tick();
    let heard = slow.heard();
    let [LiveMessage::Game { game: whole }] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!(whole.plies.len(), 5);
    played.play("a6");
    bench.settle();
    assert!(matches!(slow.heard().as_slice(), [LiveMessage::Move { ply: 6, .. }]));
    bench.hub.unwatch(slow.id, &game("g"));
    played.play("Ba4");
    bench.settle();
    assert!(slow.heard().is_empty());
}

#[test(start_paused = true)]
async fn thoughts_come_at_a_bounded_rate_and_stay_with_their_moves() {
    let mut bench = Bench::new();
    let mut played = bench.begin("g");
    bench.settle();
    let mut spectator = bench.spectator(64, game("g"));
    let thought = |depth| Thought {
        score: Score::Cp(30),
        depth,
        nodes: Some(1000),
        nps: None,
        pv: vec!["e2e4".to_owned()],
        origin: "search".to_owned(),
    };
    for depth in 1..50 {
        bench.feed.thoughts().report("g".to_owned(), 0, Color::White, thought(depth));
    }
    bench.settle();
    bench.hub.tick();
    bench.hub.tick();
    let heard = spectator.heard();
    assert!(
        matches!(heard.as_slice(), [LiveMessage::Game { .. }, LiveMessage::Thought { ply: 0, thought, .. }] if thought.depth == 49),
        "{heard:?}"
    );
    played.play("e4");
    bench.settle();
    let heard = spectator.heard();
    assert!(
        matches!(heard.as_slice(), [LiveMessage::Move { made, .. }] if made.thought == Some(thought(49)))
    );
}

#[test(start_paused = true)]
async fn the_list_is_sent_again_after_a_change_that_was_not_told() {
    let mut bench = Bench::new();
    let mut lists = bench.spectator(4, Topic::Games);
    let mut played = bench.begin("g");
    played.play("e4");
    bench.settle();
    let kinds = |heard: Vec<LiveMessage>| -> Vec<_> {
        heard.iter().map(|message| matches!(message, LiveMessage::Games { .. })).collect()
    };
    assert_eq!(kinds(lists.heard()), [true, false, false]);
    assert_eq!(bench.hub.watch(lists.id, Topic::Games), 0);
    // A takeback.
    played.live.changed(&played.referee, Instant::now());
    bench.settle();
    assert!(bench.hub.watch(lists.id, Topic::Games) > 100);
    assert_eq!(kinds(lists.heard()), [true]);
    for san in ["e5", "d4", "d5", "Nf3", "Nf6"] {
        played.play(san);
    }
    bench.settle();
    assert_eq!(lists.heard().len(), 4, "there was no room for more");
    assert!(bench.hub.watch(lists.id, Topic::Games) > 100);
    assert_eq!(kinds(lists.heard()), [true]);
}

#[test(start_paused = true)]
async fn what_does_not_exist_cannot_be_watched_and_not_too_much_at_once() {
    let mut bench = Bench::new();
    let mut nobody = bench.spectator(512, game("g"));
    assert!(
        matches!(nobody.heard().as_slice(), [LiveMessage::Error { error }] if error == "there is no game g")
    );
    let games: Vec<_> = (0..100).map(|number| bench.begin(&number.to_string())).collect();
    bench.settle();
    for number in 0..games.len() {
        bench.hub.watch(nobody.id, game(&number.to_string()));
    }
    let errors = nobody.heard().iter().filter(|it| matches!(it, LiveMessage::Error { .. })).count();
    assert_eq!(errors, 100 - 64);
    bench.hub.unsubscribe(nobody.id);
}

#[test(start_paused = true)]
async fn a_game_that_is_over_before_the_hub_hears_of_it_is_shown() {
    let mut bench = Bench::new();
    let mut lists = bench.spectator(64, Topic::Games);
    let mut played = bench.begin("g");
    played.play("e4");
    played.live.ended(Some(GameResult::Draw), "agreed".to_owned(), "normal", &played.referee, Instant::now());
    bench.settle();
    bench.hub.tick();
    let shown: Vec<_> = bench.hub.games().into_iter().map(|game| (game.result, game.ply)).collect();
    assert_eq!(shown, [(Some("1/2-1/2".to_owned()), 1)]);
    let heard = lists.heard();
    let [_, LiveMessage::Begin { .. }, LiveMessage::Move { .. }, LiveMessage::End { .. }] = heard.as_slice()
    else {
        panic!("{heard:?}")
    };
}

#[test(start_paused = true)]
async fn a_game_that_is_begun_again_is_not_shown_as_broken_off() {
    for (has_ticked, is_over) in [(false, false), (true, false), (true, true)] {
        let mut bench = Bench::new();
        let forgotten = bench.begin("g");
        bench.settle();
        drop(forgotten);
        if has_ticked {
            bench.hub.tick();
        }
        let mut played = bench.begin("g");
        played.play("e4");
        let result = is_over.then_some("1/2-1/2".to_owned());
        if is_over {
            let now = Instant::now();
            played.live.ended(Some(GameResult::Draw), "agreed".to_owned(), "normal", &played.referee, now);
        }
        bench.settle();
        bench.hub.tick();
        let shown: Vec<_> = bench.hub.games().into_iter().map(|game| (game.result, game.ply)).collect();
        assert_eq!(shown, [(result, 1)], "{has_ticked} {is_over}");
    }
}

#[test(start_paused = true)]
async fn a_correction_stands_in_the_view_of_the_game() {
    let mut bench = Bench::new();
    let mut played = bench.begin("g");
    played.play("e4");
    bench.settle();
    let now = Instant::now();
    played.live.ended(Some(GameResult::Draw), "agreed".to_owned(), "normal", &played.referee, now);
    bench.settle();
    let mut lists = bench.spectator(64, Topic::Games);
    let mut spectator = bench.spectator(64, game("g"));
    let row = |result: &str, note: Option<&str>| PairingRow {
        round: 1,
        white: "alice".to_owned(),
        black: Some("bob".to_owned()),
        game: Some("g".to_owned()),
        result: Some(result.to_owned()),
        forfeit: false,
        note: note.map(str::to_owned),
    };
    let report = |rows: Vec<PairingRow>| {
        let summary = serde_json::from_value(serde_json::json!({
            "name": "class", "edition": 1, "kind": "chess", "time_control": "60+1", "pairing": "swiss", "rounds": 1,
            "numbering": "rounds", "state": "complete", "players": [], "joins": [], "start": "full",
            "seats": null, "late_entries": false, "editable": false, "correctable": true,
        }));
        let summary = summary.unwrap();
        Event::Tournament(Box::new(TournamentReport {
            summary,
            ended: rows,
            open: Vec::new(),
            is_first: false,
        }))
    };
    drop((lists.heard(), spectator.heard()));
    bench.hub.apply(report(vec![row("1/2-1/2", None), row("1-0", Some("a false move"))]));
    // Told twice, it is no news.
    bench.hub.apply(report(vec![row("1-0", Some("a false move"))]));
    let [LiveMessage::End { result, reason, .. }] = &lists.heard()[..] else { panic!() };
    assert_eq!((result.as_str(), reason.as_str()), ("1-0", "agreed"));
    let [LiveMessage::Game { game }] = &spectator.heard()[..] else { panic!() };
    assert_eq!(game.summary.result.as_deref(), Some("1-0"));
    assert_eq!(game.result_at_board.as_deref(), Some("1/2-1/2"));
    assert_eq!(game.note.as_deref(), Some("a false move"));
    let pgn = bench.hub.pgn("g").unwrap();
    assert!(pgn.contains("[ResultAtBoard \"1/2-1/2\"]\n[Note \"a false move\"]\n"), "{pgn}");
    assert!(pgn.trim_end().ends_with("1-0"), "{pgn}");
}

#[test]
async fn a_panic_costs_the_page_one_game_and_no_more() {
    let mut bench = Bench::new();
    let _games = ["bad", "good"].map(|id| bench.begin(id));
    let (queue, events) = mpsc::channel(8);
    let Ok(Event::Whole { game, plies, clocks }) = bench.events.try_recv() else { panic!() };
    queue.send(Event::Whole { game: game.clone(), plies, clocks }).await.unwrap();
    queue.send(bench.events.try_recv().unwrap()).await.unwrap();
    queue.send(Event::Bug(game)).await.unwrap();
    let (hub, jobs) = jobs::channel();
    let stop = CancellationToken::new();
    let running = tokio::spawn(Hub::default().run(events, jobs, stop.clone()));
    assert!(hub.call(|_| -> () { panic!("a bug in a request") }).await.is_none());
    let shown = hub.call(|hub| hub.games()).await.unwrap();
    assert_eq!(shown.iter().map(|game| game.id.as_str()).collect::<Vec<_>>(), ["good"]);
    stop.cancel();
    running.await.unwrap();
}
