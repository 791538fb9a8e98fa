//! The bot: a player for each game that a protocol brings, always before the deadline.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Deserializer, de::Error};
use tokio::{
    select,
    sync::{Semaphore, mpsc},
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use zeitnot_engine::{EngineFactory, PlayVisitor, Playable, Score, book, with_game};
use zeitnot_rules::{ByColor, Color, GameError};
use zeitnot_seat::{Clocks, Declined, GameInfo, Lobby, OpenSeat, Seat};

pub mod cache;
pub mod choice;
pub mod lag;
mod load;
pub mod online;
mod player;
pub mod policy;
mod ponder;
mod request;
pub mod sources;
mod thought;

use cache::Cache;
use choice::Roster;
use lag::Lags;
use load::Load;
use player::Player;
use sources::{Library, Order};
use zeitnot_engine::time::{Budget, Clock};

/// The `[bot]` table of the configuration.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
// `remote` makes of the derived code a plain function, which the checking one below calls.
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct Config {
    /// Games at once; more are declined.
    pub max_games: usize,
    /// Time kept in hand for the way to the server and back, as long as nothing is measured.
    #[serde(with = "humantime_serde")]
    pub move_overhead: Duration,
    /// Never less is kept in hand than this.
    #[serde(with = "humantime_serde")]
    pub lag_floor: Duration,
    /// Never more is kept in hand than this, however bad the network.
    #[serde(with = "humantime_serde")]
    pub lag_ceiling: Duration,
    /// No move takes longer than this, whatever the clock says: for games with days for a move.
    #[serde(with = "humantime_serde")]
    pub longest_move: Duration,
    /// The time for a move in a game without clocks.
    #[serde(with = "humantime_serde")]
    pub untimed_move: Duration,
    /// The part of each clock that is used: below 1 it is a handicap.
    pub time_share: TimeShare,
    /// Cores that may think on the opponents' time, one a game; 0: none.
    pub ponder: usize,
    /// Where moves may come from before they are searched for.
    pub sources: Order,
    /// Opening books.
    pub book: book::BookConfig,
    /// Who is asked how endgames end.
    pub tablebase: online::Tablebase,
    /// Who is asked for what other people's engines found.
    pub cloud: online::Cloud,
    /// Who is asked for what people have played.
    pub explorer: online::Explorer,
    /// When a draw is offered and agreed to.
    pub draw: policy::Draw,
    /// When a game is given up.
    pub resign: policy::Resign,
    /// Who plays which game: the first rule that fits counts; where none does, `[engine]` plays.
    pub choose: Vec<choice::Rule>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            max_games: 8,
            move_overhead: Duration::from_millis(50),
            lag_floor: Duration::from_millis(2),
            lag_ceiling: Duration::from_secs(2),
            longest_move: Duration::from_secs(300),
            untimed_move: Duration::from_secs(5),
            time_share: TimeShare::default(),
            ponder: 0,
            sources: Order::default(),
            book: book::BookConfig::default(),
            tablebase: online::Tablebase::default(),
            cloud: online::Cloud::default(),
            explorer: online::Explorer::default(),
            draw: policy::Draw::default(),
            resign: policy::Resign::default(),
            choose: Vec::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        let config = Config::deserialize(table)?;
        let (floor, ceiling) = (config.lag_floor, config.lag_ceiling);
        if floor > ceiling {
            let wrong =
                format!("lag_floor ({floor:?}) is above lag_ceiling ({ceiling:?}): swap or change them");
            return Err(D::Error::custom(wrong));
        }
        Ok(config)
    }
}

impl Config {
    fn untimed(&self) -> Budget {
        Budget::exactly(self.untimed_move)
    }

    fn lag(&self) -> lag::Config {
        lag::Config { initial: self.move_overhead, floor: self.lag_floor, ceiling: self.lag_ceiling }
    }
}

/// A part of the clock: above 0 and at most 1.
#[derive(Copy, Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct TimeShare(f64);

/// A number that is no [`TimeShare`].
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0} is no part of the clock: expected a number above 0, and at most 1")]
pub struct BadTimeShare(f64);

impl Default for TimeShare {
    fn default() -> Self {
        TimeShare(1.0)
    }
}

impl TryFrom<f64> for TimeShare {
    type Error = BadTimeShare;
    fn try_from(share: f64) -> Result<Self, BadTimeShare> {
        if share > 0.0 && share <= 1.0 { Ok(TimeShare(share)) } else { Err(BadTimeShare(share)) }
    }
}

impl TimeShare {
    /// The clock as a player with this handicap sees it.
    fn of(self, clock: Clock) -> Clock {
        Clock { left: clock.left.mul_f64(self.0), increment: clock.increment.mul_f64(self.0), ..clock }
    }
}

/// How one of our games stands, for those who watch. Sent with `try_send`: who is slow misses some.
#[derive(Clone, Debug)]
pub struct News {
    /// The server's name for the game.
    pub game: String,
    /// The side we play.
    pub side: Color,
    /// The names of both players.
    pub names: ByColor<String>,
    /// The clocks as last heard of.
    pub clocks: Option<Clocks>,
    /// Whose clock runs.
    pub to_move: Color,
    /// Plies played.
    pub ply: usize,
    /// The last move, as game records write it.
    pub last_move: Option<String>,
    /// Our score (for us) and depth, once we have thought.
    pub eval: Option<(Score, u16)>,
    /// Where our last move came from.
    pub how: Option<How>,
    /// The server's words, once the game is over.
    pub result: Option<String>,
}

/// How a move of ours came about and when it left, for those who measure. Sent with `try_send`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The server's name for the game.
    pub game: String,
    /// The side we play in it.
    pub side: Color,
    /// Plies that were played before it.
    pub ply: usize,
    /// How it came about.
    pub how: How,
    /// When the request was read.
    pub asked_at: Instant,
    /// The limits it was given, counted from then.
    pub budget: Budget,
    /// What our clock showed then; `None`: there is no clock.
    pub left: Option<Duration>,
    /// When it was handed to the socket.
    pub sent_at: Instant,
}

/// What made us answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// The search was content.
    Searched,
    /// The hard limit was there.
    HardLimit,
    /// It was thought out on the opponent's time.
    Pondered,
    /// There is only one legal move.
    Forced,
    /// There was no time to think.
    Instant,
    /// The cache knew.
    Cached,
    /// A book knew.
    Book,
    /// Somebody knew who was asked over the network.
    Online(online::Source),
    /// The thinker panicked, or could not even begin.
    Failed,
}

impl How {
    /// Who knew the move, if it is not from a search of ours, now or before.
    pub fn source(self) -> Option<&'static str> {
        match self {
            How::Book => Some("book"),
            How::Online(source) => Some(source.name()),
            _ => None,
        }
    }
}

/// What all players of a bot share.
#[derive(Clone)]
pub struct Equipment {
    /// How to play.
    pub config: Config,
    /// Where thinkers come from.
    pub factory: EngineFactory,
    /// What is known of positions.
    pub cache: Cache,
    /// What else is known of them.
    pub library: Library,
    /// What is known of lags.
    pub lags: Lags,
    /// For those who watch.
    pub news: mpsc::Sender<News>,
    /// For those who measure.
    pub answers: Option<mpsc::Sender<Answer>>,
    roster: Roster,
    load: Load,
    /// The cores that may think on the opponents' time.
    ponder: Arc<Semaphore>,
}

impl Equipment {
    /// Without a cache or a book, asking nobody, and with nothing measured yet.
    pub fn new(config: Config, factory: EngineFactory, news: mpsc::Sender<News>) -> Self {
        let (lags, load) = (Lags::new(config.lag()), Load::default());
        let ponder = Arc::new(Semaphore::new(config.ponder.min(Semaphore::MAX_PERMITS)));
        Equipment {
            config,
            factory,
            cache: Cache::off(),
            library: Library::default(),
            lags,
            news,
            answers: None,
            roster: Roster::default(),
            load,
            ponder,
        }
    }

    /// The engines that the rules of `config` choose from, by name. A rule whose engine is not among them is passed
    /// over.
    pub fn engage(&mut self, engines: &BTreeMap<String, EngineFactory>) {
        self.roster = Roster::new(&self.config.choose, engines, &self.load);
    }

    /// For one game, with the engine that is chosen for it.
    fn chosen<G: Playable>(&self, info: &GameInfo, start: &G) -> Equipment {
        let mut equipment = self.clone();
        if let Some(choice) = self.roster.choose(info, start) {
            equipment.factory = choice.factory.clone();
            equipment.cache = self.cache.seen_by(choice.factory.fingerprint());
            equipment.load = choice.load.clone();
        }
        equipment
    }
}

/// The actor behind a [`Lobby`]: gives each game a player.
pub struct Bot {
    games: mpsc::Receiver<OpenSeat>,
    players: TaskTracker,
    equipment: Equipment,
}

/// Games that may wait to be seated.
const WAITING_GAMES: usize = 16;
/// Events that a player may be behind; a game brings one or two a second.
const WAITING_EVENTS: usize = 64;
/// A player has one answer at a time.
const WAITING_ACTIONS: usize = 4;

impl Bot {
    /// A bot whose players share this equipment.
    pub fn channel(equipment: Equipment) -> (Lobby, Bot) {
        let (lobby, games) = Lobby::channel(WAITING_GAMES);
        (lobby, Bot { games, players: TaskTracker::new(), equipment })
    }

    /// Seats players until the lobby is gone or `shutdown` is asked for; ends when the last game does.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let _watch = AbortOnDropHandle::new(tokio::spawn(self.equipment.lags.clone().watch()));
        loop {
            let asked = select! {
                () = shutdown.cancelled() => break,
                asked = self.games.recv() => asked,
            };
            let Some(OpenSeat { info, reply }) = asked else { break };
            let seat = self.open(info);
            if let Err(declined) = &seat {
                tracing::warn!("{declined}");
            }
            let _ = reply.send(seat);
        }
        self.games.close();
        self.players.close();
        self.players.wait().await;
    }

    fn open(&self, info: GameInfo) -> Result<Seat, Declined> {
        if self.players.len() >= self.equipment.config.max_games {
            return Err(Declined(format!("{} games are running already", self.players.len())));
        }
        let opening = Opening { info, bot: self };
        with_game(opening.info.game, opening).map_err(|error| Declined(error.to_string()))
    }
}

/// Opens a seat for a game of any kind: the one place where the bot meets a game's type.
struct Opening<'b> {
    info: GameInfo,
    bot: &'b Bot,
}

impl PlayVisitor for Opening<'_> {
    type Out = Result<Seat, GameError>;

    fn visit<G: Playable>(self, start: G) -> Self::Out {
        let root = match &self.info.start {
            Some(text) => start.parse_position(text)?,
            None => start,
        };
        let (events, from_protocol) = mpsc::channel(WAITING_EVENTS);
        let (to_protocol, actions) = mpsc::channel(WAITING_ACTIONS);
        let equipment = self.bot.equipment.chosen(&self.info, &root);
        let engine = equipment.factory.name();
        tracing::debug!(game = %self.info.id, engine, "seated");
        let player = Player::new(self.info, root, equipment, to_protocol);
        self.bot.players.spawn(player.run(from_protocol));
        Ok(Seat { engine, events, actions })
    }
}
