//! A bot, and a test in the place of its protocol.

use std::time::Duration;

use tokio::{sync::mpsc, task::JoinHandle, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_bot::{Answer, Bot, BotContext, Config, GameStatus};
use zeitnot_engine as engine;
use zeitnot_engine::{EngineFactory, Kind};
use zeitnot_rules::{ByColor, Color, GameKind, MoveText};
use zeitnot_seat::{Action, Clocks, Event, GameInfo, Lobby, Seat, Turn};

pub struct House {
    pub lobby: Lobby,
    pub status: mpsc::Receiver<GameStatus>,
    pub answers: mpsc::Receiver<Answer>,
    pub bot: JoinHandle<()>,
    pub shutdown: CancellationToken,
}

pub fn house(kind: Kind, config: Config) -> House {
    house_with(kind, config, |_| {})
}

/// The same, with changes to the context.
pub fn house_with(kind: Kind, config: Config, change: impl FnOnce(&mut BotContext)) -> House {
    let small = engine::Config { kind, hash_mib: 1.try_into().unwrap(), ..Default::default() };
    let (tell, status) = mpsc::channel(64);
    let (tell_answers, answers) = mpsc::channel(1024);
    let mut context = BotContext::new(config, EngineFactory::new(&small).unwrap(), tell);
    context.answers = Some(tell_answers);
    change(&mut context);
    let (lobby, bot) = Bot::channel(context);
    let shutdown = CancellationToken::new();
    House { lobby, status, answers, bot: tokio::spawn(bot.run(shutdown.clone())), shutdown }
}

/// A bot that plays until it is told to stop, for the clients that bring it games.
pub fn lobby(kind: Kind, config: Config, stop: &CancellationToken, tasks: &TaskTracker) -> Lobby {
    let factory = EngineFactory::new(&engine::Config { kind, ..Default::default() }).unwrap();
    let (status, _) = mpsc::channel(1);
    let (lobby, bot) = Bot::channel(BotContext::new(config, factory, status));
    tasks.spawn(bot.run(stop.clone()));
    lobby
}

pub fn info(side: Color, start: Option<&str>) -> GameInfo {
    GameInfo {
        id: "g".into(),
        server: "test".into(),
        game: GameKind::Chess,
        start: start.map(str::to_owned),
        side,
        names: ByColor(["we".into(), "they".into()]),
        time_control: None,
        details: Default::default(),
    }
}

/// Read just now, by the clock of the test.
pub fn clocks(left: Duration) -> Clocks {
    Clocks {
        left: ByColor::both(left),
        increment: Duration::ZERO,
        moves_to_go: None,
        resolution: Duration::ZERO,
        read_at: Instant::now().into_std(),
    }
}

pub async fn tell(seat: &Seat, event: Event) {
    seat.events.send(event).await.unwrap();
}

pub async fn moved(seat: &Seat, text: &str) {
    tell(seat, Event::Moved(MoveText::new(text).unwrap())).await;
}

pub async fn ask(seat: &mut Seat, turn: u32, clocks: Option<Clocks>) -> String {
    tell(seat, Event::YourTurn { turn: Turn(turn), clocks }).await;
    answer(seat, turn).await
}

/// The next answer, which leaves at once.
pub async fn answer(seat: &mut Seat, turn: u32) -> String {
    let Some(Action::Play { turn: answered, mv, .. }) = seat.actions.recv().await else {
        panic!("no answer")
    };
    assert_eq!(answered, Turn(turn));
    tell(seat, Event::Sent { turn: answered, at: Instant::now().into_std() }).await;
    mv.to_string()
}
