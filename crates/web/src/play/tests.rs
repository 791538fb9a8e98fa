//! Tables in simulated time, without sockets; against a bot by a script.

use std::{net::IpAddr, sync::Arc, time::Duration};

use proptest::prelude::*;
use serde_json::Value;
use tokio::{sync::watch, time::advance};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{jobs::Handle, live::Feed, origin::Origin};

use super::{
    action::{Action, Heard, Word},
    refusal::{BadAction, NoTable},
    search::Scripted,
    tables::{SeatRef, Tables},
    view::SeatView,
};

/// Tables, and the task that runs them.
struct House {
    tables: Handle<Tables>,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

/// A player who has opened a link.
struct Player {
    tables: Handle<Tables>,
    seat: SeatRef,
    view: watch::Receiver<SeatView>,
}

impl House {
    fn open() -> House {
        let (tables, actor) = Tables::channel(Arc::new(Scripted), Feed::default());
        let stop = CancellationToken::new();
        let running = tokio::spawn(actor.run(stop.clone()));
        House { tables, stop, running }
    }

    async fn try_create(&self, request: &str, from: u8) -> Result<(String, Option<String>), NoTable> {
        let request = serde_json::from_str(request).unwrap();
        let from = Origin::from(IpAddr::from([10, 0, 0, from]));
        let created = self.tables.call(move |tables| tables.create(request, from)).await.unwrap();
        created.map(|created| (created.seat, created.invitation))
    }

    async fn create(&self, request: &str) -> (String, Option<String>) {
        self.try_create(request, 1).await.unwrap()
    }

    async fn try_join(&self, token: &str) -> Result<Player, BadAction> {
        let token = token.to_owned();
        let (seat, view) = self.tables.call(move |tables| tables.join(&token)).await.unwrap()?;
        Ok(Player { tables: self.tables.clone(), seat, view })
    }

    async fn join(&self, token: &str) -> Player {
        self.try_join(token).await.unwrap()
    }

    /// A table for two, its host with White, and both there.
    async fn pair(&self, fields: &str) -> [Player; 2] {
        let request = format!(r#"{{"opponent":"human","color":"white",{fields}}}"#);
        let (seat, invitation) = self.create(&request).await;
        [self.join(&seat).await, self.join(&invitation.unwrap()).await]
    }

    async fn close(self) {
        self.stop.cancel();
        drop(self.tables);
        self.running.await.unwrap();
    }
}

impl Player {
    /// The present state.
    fn sees(&mut self) -> Value {
        serde_json::from_str(&self.view.borrow_and_update().state).unwrap()
    }

    /// Waits until the state is as wanted.
    async fn awaits(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let state = self.sees();
            if is_it(&state) {
                return state;
            }
            self.view.changed().await.unwrap();
        }
    }

    async fn act(&self, action: Action) -> Result<(), BadAction> {
        let (seat, at) = (self.seat, tokio::time::Instant::now());
        self.tables.call(move |tables| tables.act(seat, action, at)).await.unwrap()
    }

    async fn play(&mut self, text: &str) -> Result<(), BadAction> {
        let ply = self.sees()["game"]["ply"].as_u64().unwrap() as usize;
        self.act(Action::Move { text: text.into(), ply }).await
    }

    async fn leave(self) {
        let Player { tables, seat, view } = self;
        drop(view);
        tables.call(move |tables| tables.leave(seat)).await.unwrap();
    }
}

fn text<'v>(state: &'v Value, path: &str) -> &'v str {
    state.pointer(path).and_then(Value::as_str).unwrap_or("null")
}

const CHESS: &str = r#""kind":"chess""#;
const BLITZ: &str = r#""kind":"chess","time_control":"60+1""#;

async fn play_all([white, black]: &mut [Player; 2], moves: &str) {
    for (at, mv) in moves.split(' ').enumerate() {
        let player = if at % 2 == 0 { &mut *white } else { &mut *black };
        player.play(mv).await.unwrap_or_else(|error| panic!("{mv}: {error}"));
    }
}

#[test(start_paused = true)]
async fn two_people_promote_and_a_flag_falls() {
    let house = House::open();
    let fen = r#""kind":"chess","time_control":"60+1","fen":"7k/P7/8/8/8/8/8/K7 w - - 0 1""#;
    let mut players = house.pair(fen).await;
    let state = players[0].sees();
    assert_eq!((text(&state, "/you"), text(&state, "/game/state")), ("white", "running"));
    assert_eq!(state["game"]["clocks"]["white_ms"], 60_000);
    assert!(state["legal"].as_array().unwrap().iter().any(|legal| legal["uci"] == "a7a8n"));
    assert_eq!(players[1].sees()["legal"], Value::Array(vec![]));
    play_all(&mut players, "a8=R+ Kg7").await;
    advance(Duration::from_secs(10)).await;
    play_all(&mut players, "a8b8").await;
    let state = players[1].sees();
    assert_eq!(text(&state, "/game/plies/0/uci"), "a7a8r");
    assert_eq!(text(&state, "/game/plies/2/san"), "Rb8");
    assert_eq!(state["game"]["plies"][2]["spent_ms"], 10_000);
    assert_eq!(state["game"]["plies"][2]["left_ms"], 51_000);
    assert_eq!(text(&state, "/game/clocks/running"), "black");
    let state = players[0].awaits(|state| state["game"]["state"] == "ended").await;
    assert_eq!((text(&state, "/game/result"), text(&state, "/game/reason")), ("1-0", "Out of time"));
    assert_eq!(state["game"]["clocks"]["black_ms"], 0);
    assert!(matches!(players[1].play("Kf7").await, Err(BadAction::Over)));
    house.close().await;
}

#[test(start_paused = true)]
async fn what_is_wrong_is_said_and_changes_nothing() {
    let house = House::open();
    for token in ["", "nothere", "aaaaaaaaaaaaaaaa", "a b", &"x".repeat(1000)] {
        assert!(matches!(house.try_join(token).await, Err(BadAction::NoTable)), "{token}");
    }
    let (seat, invitation) =
        house.create(&format!(r#"{{{BLITZ},"opponent":"human","color":"white"}}"#)).await;
    let mut white = house.join(&seat).await;
    assert_eq!(white.sees()["opponent_here"], false);
    assert!(matches!(white.play("e4").await, Err(BadAction::NotBegun)));
    let mut black = house.join(&invitation.unwrap()).await;
    assert_eq!(white.sees()["opponent_here"], true);
    let before = white.sees();
    let moved = |text: &str, ply| Action::Move { text: text.into(), ply };
    for (action, why) in [
        (
            moved("e4", 1),
            "the move is for ply 1, and 0 are played: send it for the position that you see now",
        ),
        (moved("e2e5", 0), "'e2e5' is not a legal move here"),
        (moved("\u{202e}\n", 0), "'' is not a legal move here"),
        (Action::Draw(Word::Offer), "a draw cannot be offered now"),
        (Action::Draw(Word::Accept), "nothing is offered to you"),
        (Action::Takeback(Word::Offer), "there is no move of yours to take back, or you have asked already"),
        (Action::Takeback(Word::Decline), "nothing is offered to you"),
        (Action::Rematch, "the game goes on: a rematch comes after its end"),
    ] {
        assert_eq!(white.act(action).await.unwrap_err().to_string(), why);
    }
    assert!(matches!(black.play("e5").await, Err(BadAction::NotYourTurn)));
    assert_eq!(white.sees(), before);
    white.play("e4").await.unwrap();
    assert_eq!(black.sees()["game"]["ply"], 1);
    house.close().await;
}

#[test(start_paused = true)]
async fn draw_takeback_and_rematch_need_both() {
    let house = House::open();
    let mut players = house.pair(CHESS).await;
    assert_eq!(players[0].sees()["game"]["clocks"], Value::Null);
    play_all(&mut players, "e4 e5 Nf3").await;
    let [mut white, mut black] = players;
    white.act(Action::Takeback(Word::Offer)).await.unwrap();
    assert_eq!(text(&black.sees(), "/takeback_offer"), "white");
    black.act(Action::Takeback(Word::Decline)).await.unwrap();
    assert_eq!(black.sees()["takeback_offer"], Value::Null);
    white.act(Action::Takeback(Word::Offer)).await.unwrap();
    black.act(Action::Takeback(Word::Accept)).await.unwrap();
    let state = white.sees();
    assert_eq!((state["game"]["ply"].as_u64(), state["legal"].as_array().unwrap().len()), (Some(2), 29));
    white.play("Nc3").await.unwrap();
    black.act(Action::Draw(Word::Offer)).await.unwrap();
    let state = white.sees();
    assert_eq!((text(&state, "/draw_offer"), &state["can"]["draw"]), ("black", &Value::Bool(true)));
    assert_eq!(black.sees()["can"]["draw"], false);
    white.act(Action::Draw(Word::Accept)).await.unwrap();
    let state = black.sees();
    assert_eq!((text(&state, "/game/result"), &state["can"]["rematch"]), ("1/2-1/2", &Value::Bool(true)));
    white.act(Action::Rematch).await.unwrap();
    assert_eq!(text(&black.sees(), "/rematch_offer"), "white");
    assert!(black.view.borrow().rematch.is_none());
    black.act(Action::Rematch).await.unwrap();
    let mut sides = Vec::new();
    for player in [&mut white, &mut black] {
        let notice = player.view.borrow_and_update().rematch.clone().unwrap();
        let notice: Value = serde_json::from_str(&notice).unwrap();
        assert_eq!(text(&notice, "/type"), "rematch");
        let mut next = house.join(text(&notice, "/seat")).await;
        sides.push((text(&next.sees(), "/you").to_owned(), next));
    }
    assert_eq!([&sides[0].0, &sides[1].0], ["black", "white"]);
    sides[1].1.play("d4").await.unwrap();
    house.close().await;
}

#[test(start_paused = true)]
async fn who_is_gone_can_come_back_and_tables_do_not_stay_for_ever() {
    let house = House::open();
    let request = format!(r#"{{{BLITZ},"opponent":"human","color":"white"}}"#);
    let (seat, invitation) = house.create(&request).await;
    let (mut white, black) = (house.join(&seat).await, house.join(invitation.as_deref().unwrap()).await);
    white.play("e4").await.unwrap();
    black.leave().await;
    assert_eq!(white.awaits(|state| state["opponent_here"] == false).await["game"]["state"], "running");
    let mut black = house.join(invitation.as_deref().unwrap()).await;
    assert_eq!(black.sees()["game"]["plies"][0]["san"], "e4");
    // Nobody moves: the game is broken off, and later the table is cleared.
    let state = white.awaits(|state| state["game"]["state"] == "ended").await;
    assert_eq!((text(&state, "/game/result"), text(&state, "/game/reason")), ("*", "No move was made"));
    white.leave().await;
    black.leave().await;
    advance(Duration::from_secs(9 * 60)).await;
    house.join(&seat).await.leave().await;
    advance(Duration::from_secs(11 * 60)).await;
    assert!(matches!(house.try_join(&seat).await, Err(BadAction::NoTable)));
    house.close().await;
}

#[test(start_paused = true)]
async fn resigning_before_both_have_moved_aborts_and_later_loses() {
    let house = House::open();
    for (moves, result) in [("e4", "*"), ("e4 e5", "0-1")] {
        let mut players = house.pair(BLITZ).await;
        play_all(&mut players, moves).await;
        players[0].act(Action::Resign).await.unwrap();
        assert_eq!(text(&players[1].sees(), "/game/result"), result);
    }
    house.close().await;
}

#[test(start_paused = true)]
async fn tables_are_bounded_in_all_and_by_address() {
    let house = House::open();
    let request = format!(r#"{{{CHESS},"opponent":"human"}}"#);
    let mut made = Vec::new();
    let refused = loop {
        match house.try_create(&request, 1).await {
            Ok(table) => made.push(table),
            Err(NoTable::TooFast) => advance(Duration::from_secs(1)).await,
            Err(error) => break error,
        }
    };
    assert_eq!(
        (made.len(), refused.to_string().as_str()),
        (128, "your address has too many tables: end a game first")
    );
    // Another address has room, and a game that is over makes room.
    house.try_create(&request, 2).await.unwrap();
    let host = house.join(&made[5].0).await;
    host.act(Action::Resign).await.unwrap();
    host.leave().await;
    advance(Duration::from_secs(1)).await;
    house.try_create(&request, 1).await.unwrap();
    assert!(matches!(house.try_join(&made[5].0).await, Err(BadAction::NoTable)));
    house.close().await;
}

#[test(start_paused = true)]
async fn tables_without_a_move_make_room_first_and_after_two_minutes() {
    let house = House::open();
    let mut players = house.pair(CHESS).await;
    play_all(&mut players, "e4 e5").await;
    let over = house.pair(CHESS).await;
    over[0].act(Action::Resign).await.unwrap();
    for player in over {
        player.leave().await;
    }
    let request = format!(r#"{{{CHESS},"opponent":"human"}}"#);
    let mut made = Vec::new();
    for from in [1, 2].repeat(127).into_iter().chain([2]) {
        advance(Duration::from_millis(1)).await;
        while let Err(NoTable::TooFast) = house.try_create(&request, from).await.map(|it| made.push(it)) {
            advance(Duration::from_secs(1)).await;
        }
    }
    // The one that is over made room for the last of them.
    let first = house.join(&made[0].0).await;
    assert!(matches!(house.try_create(&request, 3).await, Err(NoTable::Full)));
    advance(Duration::from_secs(2 * 60)).await;
    for _ in 0..3 {
        house.try_create(&request, 3).await.unwrap();
    }
    assert!(first.view.borrow().is_closed, "it had a player, and no move");
    for (seat, _) in &made[..3] {
        assert!(matches!(house.try_join(seat).await, Err(BadAction::NoTable)));
    }
    house.try_join(&made[3].0).await.unwrap();
    play_all(&mut players, "Nf3 Nc6").await;
    house.close().await;
}

#[test]
async fn the_bot_is_mated_from_a_prepared_position() {
    let house = House::open();
    let fen = "6k1/5ppp/8/8/8/8/r4PPP/4R1K1 w - - 0 1";
    let request = format!(r#"{{{CHESS},"opponent":{{"bot":{{"level":8}}}},"color":"white","fen":"{fen}"}}"#);
    let (seat, invitation) = house.create(&request).await;
    assert_eq!(invitation, None);
    let mut human = house.join(&seat).await;
    human.play("Re8#").await.unwrap();
    let state = human.sees();
    assert_eq!((text(&state, "/game/result"), text(&state, "/game/reason")), ("1-0", "Checkmate"));
    assert_eq!(text(&state, "/game/black/name"), "zeitnot (level 8)");
    // The bot is always ready for another game, in which it has White now.
    human.act(Action::Rematch).await.unwrap();
    let notice = human.view.borrow_and_update().rematch.clone().unwrap();
    let notice: Value = serde_json::from_str(&notice).unwrap();
    let mut next = house.join(text(&notice, "/seat")).await;
    let state = next.awaits(|state| state["game"]["ply"] == 1).await;
    assert_eq!(text(&state, "/you"), "black");
    house.close().await;
}

#[test]
async fn the_bot_answers_takes_back_at_once_and_refuses_a_draw() {
    let house = House::open();
    let request = r#"{"kind":"chess","opponent":{"bot":{"level":6}},"color":"white","time_control":"60+0"}"#;
    let (seat, _) = house.create(request).await;
    let mut human = house.join(&seat).await;
    human.play("e4").await.unwrap();
    let state = human.awaits(|state| state["game"]["ply"] == 2).await;
    assert_eq!(text(&state, "/game/plies/1/thought/origin"), "search");
    assert!(matches!(human.act(Action::Draw(Word::Offer)).await, Err(BadAction::BotPlaysOn)));
    human.act(Action::Takeback(Word::Offer)).await.unwrap();
    let state = human.sees();
    assert_eq!((state["game"]["ply"].as_u64(), &state["can"]["takeback"]), (Some(0), &Value::Bool(false)));
    // While the bot thinks: its answer to the move that is taken back does not come.
    human.play("d4").await.unwrap();
    if human.act(Action::Takeback(Word::Offer)).await.is_ok() {
        assert_eq!(human.sees()["game"]["ply"], 0);
    }
    human.play("c4").await.unwrap();
    let state = human.awaits(|state| state["game"]["ply"] == 2).await;
    assert_eq!(text(&state, "/game/plies/0/san"), "c4");
    house.close().await;
}

#[test]
async fn every_game_is_played_against_the_bot() {
    let house = House::open();
    for kind in zeitnot_rules::GameKind::ALL {
        let request =
            format!(r#"{{"kind":"{}","opponent":{{"bot":{{"level":1}}}},"color":"white"}}"#, kind.name());
        let (seat, _) = house.create(&request).await;
        let mut human = house.join(&seat).await;
        let state = human.sees();
        assert_eq!(text(&state, "/game/kind"), kind.name());
        let first = text(&state, "/legal/0/uci").to_owned();
        human.play(&first).await.unwrap();
        let state = human.awaits(|state| state["game"]["ply"] == 2).await;
        assert!(!state["legal"].as_array().unwrap().is_empty());
    }
    house.close().await;
}

#[test(start_paused = true)]
async fn a_stop_ends_all_games_and_tells() {
    let house = House::open();
    let [mut white, _black] = house.pair(BLITZ).await;
    house.close().await;
    let state = white.sees();
    assert_eq!(text(&state, "/game/reason"), "The arena is shutting down");
    assert!(white.view.borrow().is_closed);
}

#[test(start_paused = true)]
async fn a_panic_ends_the_game_of_its_table_only() {
    let house = House::open();
    let [mut white, mut black] = house.pair(CHESS).await;
    let mut others = house.pair(CHESS).await;
    white.act(Action::Bug).await.unwrap();
    for player in [&mut white, &mut black] {
        let state = player.sees();
        assert_eq!(
            (text(&state, "/game/result"), text(&state, "/game/reason")),
            ("*", "The game broke down")
        );
    }
    assert!(matches!(white.play("e4").await, Err(BadAction::Over)));
    assert!(house.tables.call(|_| -> () { panic!("a bug in a request") }).await.is_none());
    play_all(&mut others, "e4 e5").await;
    house.close().await;
}

/// Messages of a player, and others.
fn message() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("offer"), Just("accept"), Just("decline")];
    let offer = (prop_oneof![Just("draw"), Just("takeback")], word);
    prop_oneof![
        8 => (0..40_usize, 0..6_usize).prop_map(|(nth, ply)| format!("{nth} {ply}")),
        4 => offer.prop_map(|(what, word)| format!(r#"{{"{what}":"{word}"}}"#)),
        1 => Just(r#"{"resign":true}"#.to_owned()),
        1 => Just(r#"{"rematch":true}"#.to_owned()),
        1 => "[ -~]{0,40}",
    ]
}

/// Plays messages, where `nth ply` is the nth legal move; whatever is refused changes nothing.
async fn storm(messages: &[(bool, String)]) {
    let house = House::open();
    let mut players = house.pair(BLITZ).await;
    for (is_white, text) in messages {
        let player = &mut players[usize::from(*is_white)];
        let before = player.sees();
        let numbers: Vec<usize> = text.split(' ').flat_map(str::parse).collect();
        let action = match numbers.as_slice() {
            &[nth, ply] => {
                let legal = text_of_nth(&before, nth);
                Ok(Action::Move { text: legal, ply })
            }
            _ => match Heard::parse(text) {
                Ok(Heard::Action(action)) => Ok(action),
                Ok(Heard::Ping(_)) => continue,
                Err(error) => Err(BadAction::from(error)),
            },
        };
        let done = match action {
            Ok(action) => player.act(action).await,
            Err(error) => Err(error),
        };
        let after = player.sees();
        if done.is_err() {
            assert_eq!(before, after, "{text}");
        }
        assert_eq!(
            after["game"]["plies"].as_array().unwrap().len() as u64,
            after["game"]["ply"].as_u64().unwrap()
        );
    }
    house.close().await;
}

fn text_of_nth(state: &Value, nth: usize) -> String {
    let legal = state["legal"].as_array().unwrap();
    let mv = legal.get(nth % legal.len().max(1)).map_or("a1a1", |legal| text(legal, "/uci"));
    mv.to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_refused_changes_nothing(messages in proptest::collection::vec((any::<bool>(), message()), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(storm(&messages));
    }

    #[test]
    fn no_message_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Heard::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_request_panics(
        kind in "[a-z0-9-]{0,20}|chess|tuc|minichess-2026|crazyhouse",
        fen in proptest::option::of("[ -~]{0,90}|[pnbrqkPNBRQK1-8/]{0,60} [wb] [KQkqA-Ha-h-]{0,4} - 0 1"),
        chess960: bool,
        time in proptest::option::of("[0-9.e+-]{0,12}"),
    ) {
        let json = serde_json::json!({
            "kind": kind, "fen": fen, "chess960": chess960, "time_control": time, "opponent": "human"
        });
        let request: super::request::TableRequest = serde_json::from_value(json).unwrap();
        if let Ok(setup) = request.check() {
            prop_assert!(!setup.board.game().legal_moves().is_empty());
        }
    }
}
