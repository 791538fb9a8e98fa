//! One game on one socket: from our name to the last points.

use std::{
    fmt,
    future::pending,
    io,
    time::{Duration, Instant},
};

use tokio::{
    select,
    time::{sleep_until, timeout},
};
use tracing::{debug, info, warn};

use zeitnot_rules::{
    ByColor, Color, Game, GameKind, MoveText,
    tuc::{Move, Square, Tuc},
};
use zeitnot_seat::{Action, Clocks, Declined, Event, GameInfo, Lobby, Occasion, Seat, Turn};
use zeitnot_wire::{
    Message,
    tuc::{FromClient, FromServer, Points},
};

use super::{Config, Shutdown, Socket, seconds};

/// A player that takes no event for this long has hung.
const PLAYER_HANGS: Duration = Duration::from_secs(5);
/// Odd datagrams are reported so often; who sends more shall not fill a disk.
const LOUD: u32 = 10;

/// Why there is no game, or no longer one.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("no server there ({0}); trying until one answers")]
    NotThere(io::Error),
    #[error("no seat within {} of sending our name: another game may be running; trying again", seconds(*.0))]
    NoSeat(Duration),
    #[error("the server went away in the middle of the game ({0}); an illegal move, by whomever, ends it so")]
    Gone(io::Error),
    #[error(
        "nothing from the server for {}: the opponent thinks very long, a datagram was lost, or the game is dead; \
         giving it up", seconds(*.0)
    )]
    Silent(Duration),
    #[error("cannot play: {0}")]
    Declined(#[from] Declined),
    #[error("the player left the game")]
    PlayerGone,
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Lost {
        Lost::NotThere(error)
    }
}

/// How a game ended.
pub(super) struct Ending {
    side: Color,
    points: ByColor<u16>,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, theirs) = (self.points[self.side], self.points[!self.side]);
        let what = match ours.cmp(&theirs) {
            std::cmp::Ordering::Greater => "won",
            std::cmp::Ordering::Equal => "drawn",
            std::cmp::Ordering::Less => "lost",
        };
        write!(f, "{what} as {}, {ours} to {theirs}", self.side)
    }
}

/// The actor of one game.
pub(super) struct Session<'s> {
    config: &'s Config,
    lobby: &'s Lobby,
    socket: Socket,
    skipped: u32,
}

/// A game that runs.
struct Playing {
    side: Color,
    seat: Seat,
    board: Tuc,
    points: ByColor<u16>,
    turn: Turn,
    answer: Answer,
    last: Option<FromServer>,
}

/// What became of the last request for a move.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Answer {
    /// There is none.
    None,
    /// The player thinks.
    Owed,
    /// Sent; the server's word on it is due then, if it has not been missed already.
    Sent { mv: Move, due: Option<Instant> },
}

impl<'s> Session<'s> {
    pub fn new(config: &'s Config, lobby: &'s Lobby, socket: Socket) -> Session<'s> {
        Session { config, lobby, socket, skipped: 0 }
    }

    /// Plays; `None`: we were told to stop before the game began.
    pub async fn run(mut self, shutdown: &Shutdown) -> Result<Option<Ending>, Lost> {
        let began = shutdown.soon.clone();
        let Some(seated) = began.run_until_cancelled(self.sit_down()).await else { return Ok(None) };
        let side = seated?;
        info!("seated as {side}; waiting for the game to begin");
        let Some(begun) = began.run_until_cancelled(self.wait_for_the_game()).await else { return Ok(None) };
        begun?;
        let game = self.open(side).await?;
        self.play(game).await.map(Some)
    }

    /// Sends our name once, and waits for a seat. Twice would take both.
    async fn sit_down(&mut self) -> Result<Color, Lost> {
        self.socket.send(&FromClient::Name(self.config.player.to_string()).to_line()).await?;
        let patience = self.config.patience.seat;
        let seated = async {
            loop {
                match self.hear().await? {
                    Some((FromServer::Seat(side), _)) => return Ok(side),
                    other => self.skip_message(other.map(|(message, _)| message)),
                }
            }
        };
        timeout(patience, seated).await.unwrap_or(Err(Lost::NoSeat(patience)))
    }

    /// An opponent may come late, or never.
    async fn wait_for_the_game(&mut self) -> Result<(), Lost> {
        loop {
            match self.hear().await? {
                Some((FromServer::Begins, _)) => return Ok(()),
                Some((FromServer::Seat(_), _)) => debug!("seated once more"),
                other => self.skip_message(other.map(|(message, _)| message)),
            }
        }
    }

    async fn open(&self, side: Color) -> Result<Playing, Lost> {
        let board = Tuc::start_by(self.config.rules);
        let mut names = ByColor(["opponent".to_owned(), "opponent".to_owned()]);
        names[side] = self.config.player.to_string();
        let info = GameInfo {
            id: format!("tuc-{:08x}", fastrand::u32(..)),
            server: format!("udp://{}", self.config.address),
            game: GameKind::Tuc,
            start: Some(board.print()),
            side,
            names,
            time_control: None,
            occasion: Occasion::default(),
        };
        let seat = self.lobby.open(info).await?;
        let (turn, answer, points) = (Turn::default(), Answer::None, ByColor([0; 2]));
        Ok(Playing { side, seat, board, points, turn, answer, last: None })
    }

    async fn play(&mut self, mut game: Playing) -> Result<Ending, Lost> {
        if game.side == Color::White {
            self.ask(&mut game, Instant::now()).await?;
        }
        let mut heard = Instant::now();
        loop {
            let (due, silence) = (game.due(), heard + self.config.patience.silence);
            select! {
                biased;
                datagram = self.hear() => {
                    heard = Instant::now();
                    let heard = datagram.map_err(in_the_game)?;
                    if let Some((message, read_at)) = heard
                        && let Some(result) = self.message(&mut game, message, read_at).await?
                    {
                        return Ok(result);
                    }
                }
                action = game.seat.actions.recv() => match action {
                    Some(Action::Play { turn, mv, .. }) => self.answer(&mut game, turn, mv).await?,
                    Some(Action::Resign { .. }) | None => return Err(Lost::PlayerGone),
                },
                () = maybe(due) => self.unconfirmed(&mut game).await?,
                () = sleep_until(silence.into()) => return Err(Lost::Silent(self.config.patience.silence)),
            }
        }
    }

    /// The next message and when it was read; `None`: it was none. Cancel safe.
    async fn hear(&mut self) -> Result<Option<(FromServer, Instant)>, Lost> {
        let datagram = self.socket.receive().await?;
        let read_at = Instant::now();
        let text = String::from_utf8_lossy(&datagram);
        debug!("< {text:?}");
        match FromServer::parse(&text) {
            Ok(message) => Ok(Some((message, read_at))),
            Err(error) => {
                self.skip(&error.to_string());
                Ok(None)
            }
        }
    }

    /// Takes a message of a running game; the result, if it is the last.
    async fn message(
        &mut self,
        game: &mut Playing,
        message: FromServer,
        read_at: Instant,
    ) -> Result<Option<Ending>, Lost> {
        // The same move cannot come twice in a row: a datagram was doubled.
        if game.last.as_ref() == Some(&message) {
            return Ok(None);
        }
        match message {
            FromServer::Moved { to_move, mv, prize, points } => {
                game.last = Some(message);
                game.moved(mv, to_move, prize, points).await?;
                if to_move == game.side {
                    self.ask(game, read_at).await?;
                }
            }
            FromServer::Over { points } => {
                let points = points.after(game.points);
                let result = Ending { side: game.side, points };
                game.tell(Event::Ended { result: result.to_string() }).await?;
                return Ok(Some(result));
            }
            FromServer::Seat(_) | FromServer::Begins => debug!("said once more"),
        }
        Ok(None)
    }

    async fn ask(&self, game: &mut Playing, read_at: Instant) -> Result<(), Lost> {
        game.turn = game.turn.next();
        game.answer = Answer::Owed;
        let clocks = Clocks {
            left: ByColor([self.config.move_time; 2]),
            increment: Duration::ZERO,
            moves_to_go: Some(1),
            resolution: Duration::from_millis(1),
            read_at,
        };
        let turn = game.turn;
        game.tell(Event::YourTurn { turn, clocks: Some(clocks) }).await
    }

    async fn answer(&self, game: &mut Playing, turn: Turn, text: MoveText) -> Result<(), Lost> {
        let Some(mv) = Move::parse(text.as_str()).filter(|_| game.is_open(turn)) else {
            debug!("{text} came too late for turn {}", turn.0);
            return Ok(());
        };
        self.send(mv).await?;
        let at = Instant::now();
        game.answer = Answer::Sent { mv, due: Some(at + self.config.patience.confirmation) };
        game.tell(Event::Sent { turn, at }).await
    }

    async fn send(&self, mv: Move) -> Result<(), Lost> {
        debug!("> {mv}");
        self.socket.send(&FromClient::Move(mv).to_line()).await.map_err(Lost::Gone)
    }

    /// Nobody has said that our move was played.
    async fn unconfirmed(&self, game: &mut Playing) -> Result<(), Lost> {
        let Answer::Sent { mv, .. } = game.answer else { return Ok(()) };
        let waited = seconds(self.config.patience.confirmation);
        if self.config.resend {
            warn!("our move {mv} was not confirmed within {waited}; sending it again");
            self.send(mv).await?;
            game.answer = Answer::Sent { mv, due: Some(Instant::now() + self.config.patience.confirmation) };
        } else {
            warn!(
                "our move {mv} was not confirmed within {waited}; waiting (resend = true would send it again)"
            );
            game.answer = Answer::Sent { mv, due: None };
        }
        Ok(())
    }

    fn skip_message(&mut self, message: Option<FromServer>) {
        if let Some(message) = message {
            self.skip(&format!("not expected here: {}", message.to_line()));
        }
    }

    fn skip(&mut self, why: &str) {
        self.skipped = self.skipped.saturating_add(1);
        if self.skipped <= LOUD {
            warn!("skipped a datagram: {why:?}");
        } else {
            debug!("skipped a datagram: {why:?}");
        }
    }
}

/// What is lost before the game is only not there yet.
fn in_the_game(lost: Lost) -> Lost {
    match lost {
        Lost::NotThere(error) => Lost::Gone(error),
        other => other,
    }
}

async fn maybe(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => pending().await,
    }
}

impl Playing {
    fn is_open(&self, turn: Turn) -> bool {
        self.turn == turn && self.answer == Answer::Owed
    }

    /// When the word on our move is due.
    fn due(&self) -> Option<Instant> {
        match self.answer {
            Answer::Sent { due, .. } => due,
            Answer::None | Answer::Owed => None,
        }
    }

    /// Follows a move as the server tells it.
    async fn moved(
        &mut self,
        mv: Move,
        to_move: Color,
        prize: Option<Square>,
        points: Points,
    ) -> Result<(), Lost> {
        if to_move == self.side && self.board.side() == self.side {
            self.make_up_for_ours();
        }
        self.points = points.after(self.points);
        self.answer = Answer::None;
        let is_known = self.board.moves().contains(&mv);
        if !self.board.hear(mv, to_move, prize, self.points) {
            warn!(
                "the server told {mv}, which does not fit our board: a datagram was lost; making the best of it"
            );
        }
        if is_known && let Some(text) = MoveText::new(&mv.to_string()) {
            self.tell(Event::Moved(text)).await?;
        }
        self.tell(Event::Board(self.board.print())).await
    }

    /// The word on our own move was lost, but it was played: the opponent has answered it.
    fn make_up_for_ours(&mut self) {
        if let Answer::Sent { mv, .. } = self.answer {
            self.board.play(mv);
        }
    }

    async fn tell(&self, event: Event) -> Result<(), Lost> {
        self.seat.events.send_timeout(event, PLAYER_HANGS).await.map_err(|_| Lost::PlayerGone)
    }
}
