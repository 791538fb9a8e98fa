//! Thinking on the opponent's time: what was thought about need not be thought about again.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers are tests, too

use std::time::{Duration, Instant};

use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use zeitnot::{
    bot::{Answer, Bot, Config, Equipment, How},
    engine::{self, Workshop},
    game::{BySide, GameId, MoveText, Side},
    seat::{Action, Clocks, Event, GameInfo, Seat, Turn},
};

/// A queen sacrifice that must be taken, and then a knight mates.
const SMOTHERED: &str = "r6k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1";

struct Table {
    seat: Seat,
    answers: mpsc::Receiver<Answer>,
}

impl Table {
    async fn new(ponder: usize) -> Table {
        let small = engine::Config { hash_mib: 1.try_into().unwrap(), ..engine::Config::default() };
        let (news, _) = mpsc::channel(1);
        let (tell, answers) = mpsc::channel(16);
        let config = Config { ponder, ..Config::default() };
        let mut equipment = Equipment::new(config, Workshop::new(&small).unwrap(), news);
        equipment.answers = Some(tell);
        let (lobby, bot) = Bot::channel(equipment);
        tokio::spawn(bot.run(CancellationToken::new()));
        let info = GameInfo {
            id: "g".into(),
            server: "test".into(),
            game: GameId::Chess,
            start: Some(SMOTHERED.into()),
            side: Side::First,
            names: BySide(["we".into(), "they".into()]),
            time_control: None,
        };
        Table { seat: lobby.open(info).await.unwrap(), answers }
    }

    async fn moved(&self, text: &str) {
        self.seat.events.send(Event::Moved(MoveText::new(text).unwrap())).await.unwrap();
    }

    /// Asks for a move, and tells it with how it came about.
    async fn ask(&mut self, turn: u32) -> (String, How) {
        let turn = Turn(turn);
        let clocks = Clocks {
            left: BySide::both(Duration::from_secs(4)),
            increment: Duration::ZERO,
            moves_to_go: None,
            resolution: Duration::ZERO,
            read_at: Instant::now(),
        };
        self.seat.events.send(Event::YourTurn { turn, clocks: Some(clocks) }).await.unwrap();
        let action = timeout(Duration::from_secs(20), self.seat.actions.recv()).await.unwrap();
        let Some(Action::Play { mv, .. }) = action else { panic!("no answer") };
        self.seat.events.send(Event::Sent { turn, at: Instant::now() }).await.unwrap();
        (mv.to_string(), self.answers.recv().await.unwrap().how)
    }

    /// Our sacrifice is taken, after a while.
    async fn sacrifice(&mut self) {
        assert_eq!(self.ask(1).await.0, "c4g8");
        self.moved("c4g8").await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        self.moved("a8g8").await;
    }
}

#[tokio::test]
async fn the_expected_reply_is_answered_from_the_thought_about_it() {
    let mut table = Table::new(1).await;
    table.sacrifice().await;
    assert_eq!(table.ask(2).await, ("h6f7".into(), How::Pondered));
}

#[tokio::test]
async fn without_a_core_for_it_nothing_is_thought_on_the_opponents_time() {
    let mut table = Table::new(0).await;
    table.sacrifice().await;
    assert_eq!(table.ask(2).await, ("h6f7".into(), How::Searched));
}
