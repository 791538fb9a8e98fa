//! The game in simulated time: no sockets, no waiting.

use tokio::{
    task::JoinHandle,
    time::{advance, sleep},
};

use zeitnot_rules::chess::Chess;

use super::*;
use crate::{client::Outbox, delay::Delay};

const MS: Duration = Duration::from_millis(1);

/// A game that runs, with both players' ears.
struct Table {
    game: GameStub,
    white: Outbox,
    black: Outbox,
    stop: CancellationToken,
    running: JoinHandle<Finished>,
}

impl Table {
    fn new(time_control: &str) -> Self {
        let (white_client, white) = Client::channel(CancellationToken::new(), Delay::default());
        let (black_client, black) = Client::channel(CancellationToken::new(), Delay::default());
        let (game, actor) = GameActor::channel(Setup {
            tag: GameTag(0xabc),
            names: ByColor(["alice", "bob"].map(|name| Name::try_from(name).unwrap())),
            clients: ByColor([white_client, black_client]),
            time_control: time_control.parse().unwrap(),
            start: Chess::start(),
        });
        let stop = CancellationToken::new();
        let running = tokio::spawn(actor.run(stop.clone()));
        Table { game, white, black, stop, running }
    }

    async fn play(&self, color: Color, text: &str, read_at: Instant) {
        self.game.tell(Order::Move { color, text: text.to_owned(), read_at }).await;
        // Gives the game its turn.
        sleep(MS).await;
    }

    async fn ending(self) -> (Option<String>, String, Outbox, Outbox) {
        let Ending { result, cause } = self.running.await.unwrap().record.ending;
        (result.map(|result| result.to_string()), cause.to_string(), self.white, self.black)
    }
}

/// The messages' names, in order.
fn actions(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.split(' ').next()).collect()
}

#[tokio::test(start_paused = true)]
async fn clocks_are_told_every_five_seconds_and_the_flag_ends_the_game() {
    let table = Table::new("12+1");
    let began = Instant::now();
    let (result, cause, mut white, mut black) = table.ending().await;
    assert_eq!((result.as_deref(), cause.as_str()), (Some("0-1"), "Out of time"));
    assert_eq!(began.elapsed(), Duration::from_secs(12) + TRANSIT);
    let lines = white.drain();
    let expected = ["GAME_STARTED", "YOUR_MOVE", "CLOCK_UPDATE", "CLOCK_UPDATE", "INFO", "GAME_OVER"];
    assert_eq!(actions(&lines), expected);
    assert!(lines[3].contains(" alice bob 2.00 12.00 rnbqkbnr/"), "{}", lines[3]);
    assert_eq!(lines[4], "INFO Game over: 0-1 Out of time");
    assert_eq!(lines[5], format!("GAME_OVER {} 0-1 Out of time", GameTag(0xabc)));
    assert_eq!(
        actions(&black.drain()),
        ["GAME_STARTED", "CLOCK_UPDATE", "CLOCK_UPDATE", "INFO", "GAME_OVER"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_move_that_was_read_in_time_counts_however_late_it_gets_here() {
    let table = Table::new("1+0.5");
    sleep(MS).await;
    let read_at = Instant::now() + 900 * MS;
    advance(1050 * MS).await;
    table.play(Color::White, "e2-e4", read_at).await;
    table.game.tell(Order::Resign(Color::White)).await;
    let (_, cause, mut white, _) = table.ending().await;
    assert_eq!(cause, "Resignation");
    let lines = white.drain();
    let moved = lines.iter().find(|line| line.starts_with("PLAYER_MOVED")).unwrap();
    assert!(moved.contains(" alice e2-e4 alice bob 0.59 1.00 "), "{moved}");
}

#[tokio::test(start_paused = true)]
async fn a_move_that_was_read_after_the_flag_loses_at_once() {
    let table = Table::new("1+0");
    sleep(1050 * MS).await;
    let (sent, began) = (Instant::now(), Instant::now());
    table.play(Color::White, "e2-e4", sent).await;
    let (result, cause, ..) = table.ending().await;
    assert_eq!((result.as_deref(), cause.as_str()), (Some("0-1"), "Out of time"));
    assert!(began.elapsed() < TRANSIT / 2);
}

#[tokio::test(start_paused = true)]
async fn an_illegal_move_is_asked_for_again_and_the_clock_runs_on() {
    let mut table = Table::new("10+0");
    sleep(2000 * MS).await;
    table.play(Color::White, "e2-e5", Instant::now()).await;
    table.play(Color::Black, "e7-e5", Instant::now()).await;
    let lines = table.white.drain();
    assert_eq!(lines[2], "INFO Move e2-e5 is not legal");
    assert!(lines[3].starts_with("YOUR_MOVE ") && lines[3].contains(" 8.00 10.00 "), "{}", lines[3]);
    assert_eq!(table.black.drain()[1], "INFO It is not your turn");
    assert!(!table.running.is_finished());
}

#[tokio::test(start_paused = true)]
async fn watchers_see_the_game_from_where_they_came() {
    let table = Table::new("10+0");
    let (watcher, mut seen) = Client::channel(CancellationToken::new(), Delay::default());
    for _ in 0..2 {
        table.game.tell(Order::Watch(watcher.clone())).await;
    }
    table.play(Color::White, "e4", Instant::now()).await;
    assert_eq!(actions(&seen.drain()), ["GAME_STATE", "GAME_STATE", "PLAYER_MOVED"]);
    table.game.tell(Order::Unwatch(watcher.clone())).await;
    table.play(Color::Black, "e5", Instant::now()).await;
    assert_eq!(seen.drain(), Vec::<String>::new());
    table.game.tell(Order::Watch(watcher)).await;
    table.game.tell(Order::Gone(Color::Black)).await;
    let (result, cause, ..) = table.ending().await;
    assert_eq!((result.as_deref(), cause.as_str()), (Some("1-0"), "Resignation by disconnect"));
    assert_eq!(actions(&seen.drain()), ["GAME_STATE", "GAME_OVER"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_breaks_the_game_off() {
    let table = Table::new("10+0");
    sleep(MS).await;
    table.stop.cancel();
    let (result, _, mut white, _) = table.ending().await;
    assert_eq!(result, None);
    assert_eq!(white.drain().pop().unwrap(), "GAME_ABORTED The arena is shutting down");
}
