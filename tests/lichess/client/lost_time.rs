//! Time for which a fault keeps the Lichess client from its game, with the time-outs that users have: each second of
//! that is on its clock.

use std::time::Duration;

use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use zeitnot_clients::lichess::{Config, Lichess};

use crate::support::{
    lichess_client::{Client, ID, Player, config, finish_seated, full, game_event, of_game, over, state},
    lichess_server::{Feed, Server},
};

const MILLISECOND: Duration = Duration::from_millis(1);
/// Between the empty lines of Lichess.
const KEEP_ALIVE: Duration = Duration::from_secs(7);

/// Moves after which the clocks run.
const OPENING: &str = "e2e4 e7e5";

/// A client in a game in which it has White and a minute, and the test as its player.
struct Game {
    server: Server,
    client: Client,
    stream: Option<Feed>,
    seat: Player,
    _ticker: JoinSet<()>,
}

/// The same message with a minute on the clocks.
fn minute(message: &str) -> String {
    message.replace("2000", "60000")
}

impl Game {
    async fn start() -> Game {
        Game::start_with("games = 1", 100 * MILLISECOND).await
    }

    async fn start_with(settings: &str, min_delay: Duration) -> Game {
        let mut ticker = JoinSet::new();
        // Paused time leaps to the next timer even while bytes are on their way, so there is always one soon.
        ticker.spawn(async {
            loop {
                sleep(10 * MILLISECOND).await;
            }
        });
        let mut server = Server::with(KEEP_ALIVE).await;
        let mut timeouts = Config::default().timeouts;
        timeouts.reconnect.min_delay = min_delay;
        let config = Config { timeouts, ..config(&server.url, "lip_hush", settings) };
        let mut client = Client::of::<Lichess>(config);
        server.online().await;
        let stream = Some(server.begin(&minute(&full(true, OPENING))).await);
        let seat = client.game().await;
        Game { server, client, stream, seat, _ticker: ticker }
    }

    /// Waits until the game's stream is opened again. Returns how long that took.
    async fn reopened(&mut self) -> Duration {
        let since = Instant::now();
        let stream = self.server.game().await;
        let took = since.elapsed();
        stream.line(&minute(&full(true, OPENING)));
        self.stream = Some(stream);
        took
    }

    /// Ends the game's stream.
    fn close(&mut self) {
        self.stream = None;
    }

    fn stream(&self) -> &Feed {
        self.stream.as_ref().unwrap()
    }

    async fn ends(self, moves: &str) {
        finish_seated(self.client, self.stream.unwrap(), self.seat, moves).await;
    }
}

#[test(start_paused = true)]
async fn a_closed_stream_is_open_again_after_three_tenths_of_a_second_each_time() {
    let mut game = Game::start().await;
    for _ in 0..5 {
        sleep(2000 * MILLISECOND).await;
        game.close();
        let took = game.reopened().await;
        assert!(took <= 300 * MILLISECOND, "{took:?}");
    }
    game.ends(OPENING).await;
}

#[test(start_paused = true)]
async fn a_half_open_stream_is_noticed_by_the_servers_own_keep_alive() {
    let mut game = Game::start().await;
    // Behind an empty line, so that nothing is due for long.
    sleep(5 * KEEP_ALIVE + 200 * MILLISECOND).await;
    game.stream().falls_silent();
    let took = game.reopened().await;
    assert!((KEEP_ALIVE..=8500 * MILLISECOND).contains(&took), "{took:?}");
    game.ends(OPENING).await;
}

#[test(start_paused = true)]
async fn a_stream_that_is_silent_from_its_beginning_is_noticed_as_soon() {
    let mut game = Game::start().await;
    game.stream().falls_silent();
    let took = game.reopened().await;
    assert!(took <= 8500 * MILLISECOND, "{took:?}");
    game.ends(OPENING).await;
}

#[test(start_paused = true)]
async fn an_unanswered_move_is_sent_on_a_new_connection_and_a_refusal_there_is_none() {
    let mut game = Game::start().await;
    let turn = game.seat.turn().await;
    game.seat.play(turn, "g1f3").await;
    let (first, unanswered) = game.server.hear_move().await;
    let sent = Instant::now();
    let connections = game.server.connections();
    let (second, beside) = game.server.hear_move().await;
    let took = sent.elapsed();
    assert!((1400 * MILLISECOND..=1700 * MILLISECOND).contains(&took), "{took:?}");
    assert_eq!(first, second);
    assert_eq!(game.server.connections(), connections + 1);
    // The first was played: the server refuses the second.
    beside.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
    sleep(500 * MILLISECOND).await;
    unanswered.ok();
    assert_eq!(game.seat.sent().await, turn);
    assert!(game.server.games.try_recv().is_err(), "nothing is in doubt");
    game.server.hears_nothing().await;
    game.ends("e2e4 e7e5 g1f3").await;
}

#[test(start_paused = true)]
async fn the_connection_that_brought_a_move_brings_the_next() {
    let mut game = Game::start().await;
    let turn = game.seat.turn().await;
    game.seat.play(turn, "g1f3").await;
    let (_, unanswered) = game.server.hear_move().await;
    let (_, beside) = game.server.hear_move().await;
    let connections = game.server.connections();
    beside.ok();
    assert_eq!(game.seat.sent().await, turn);
    game.stream().line(&minute(&state("e2e4 e7e5 g1f3 b8c6", "")));
    let turn = game.seat.turn().await;
    game.seat.play(turn, "f1b5").await;
    let (mv, post) = game.server.hear_move().await;
    assert_eq!((mv.as_str(), game.server.connections()), ("f1b5", connections));
    post.ok();
    drop(unanswered);
    game.ends("e2e4 e7e5 g1f3 b8c6 f1b5").await;
}

#[test(start_paused = true)]
async fn three_server_errors_cost_two_seconds() {
    let mut game = Game::start().await;
    let turn = game.seat.turn().await;
    game.seat.play(turn, "g1f3").await;
    let begun = Instant::now();
    for _ in 0..3 {
        game.server.hear_move().await.1.answer(500, "<html>");
    }
    game.server.hear_move().await.1.ok();
    let took = begun.elapsed();
    assert!(took <= 2500 * MILLISECOND, "{took:?}");
    game.ends("e2e4 e7e5 g1f3").await;
}

#[test(start_paused = true)]
async fn a_limited_move_waits_as_told_or_by_the_clock() {
    for (told, min, max) in [(Some(3), 3000, 3100), (Some(40), 100, 2000), (None, 100, 2000)] {
        let mut game = Game::start().await;
        let turn = game.seat.turn().await;
        game.seat.play(turn, "g1f3").await;
        let post = game.server.hear_move().await.1;
        let begun = Instant::now();
        match told {
            Some(seconds) => post.limit(Duration::from_secs(seconds)),
            None => post.answer(429, r#"{"error":"Too many requests"}"#),
        }
        game.server.hear_move().await.1.ok();
        let took = begun.elapsed();
        assert!((min * MILLISECOND..=max * MILLISECOND).contains(&took), "{told:?}: {took:?}");
        game.ends("e2e4 e7e5 g1f3").await;
    }
}

#[test(start_paused = true)]
async fn a_limited_stream_is_opened_again_by_the_clock() {
    let mut game = Game::start().await;
    let path = game.stream().path.clone();
    game.server.answer_once(&path, 429, r#"{"error":"Too many requests"}"#);
    game.close();
    let took = game.reopened().await;
    assert!(took <= 4500 * MILLISECOND, "{took:?}");
    game.ends(OPENING).await;
}

#[test(start_paused = true)]
async fn the_end_of_a_game_holds_back_no_stream_of_another() {
    let mut game = Game::start_with("games = 2", Duration::from_secs(10)).await;
    game.stream().line(&over(OPENING));
    game.close();
    game.seat.ended().await;
    let told = Instant::now();
    game.server.tell(&of_game("another1", &game_event("gameStart")));
    let stream = game.server.game().await;
    assert!(told.elapsed() <= 500 * MILLISECOND, "{:?}", told.elapsed());
    stream.line(&of_game("another1", &over(OPENING)));
    game.client.ends_now().await;
}

#[test(start_paused = true)]
async fn a_game_whose_stream_is_refused_holds_back_no_stream_of_another() {
    let mut game = Game::start_with("", 100 * MILLISECOND).await;
    game.server.lists([ID, "another1"].map(|id| format!(r#"{{"gameId":"{id}","color":"white"}}"#)));
    game.server.answer("/api/bot/game/stream/another1", 403, "<html>Forbidden</html>");
    game.server.tell(&of_game("another1", &game_event("gameStart")));
    for _ in 0..5 {
        sleep(4000 * MILLISECOND).await;
        game.close();
        let took = game.reopened().await;
        assert!(took <= 300 * MILLISECOND, "{took:?}");
    }
    game.client.ends_now().await;
}
