//! One game on one socket: from our name to the final points.

use std::{
    cmp::Ordering,
    fmt, io,
    time::{Duration, Instant},
};

use tokio::{
    select,
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use zeitnot_rules::{
    ByColor, Color, Game as _, GameKind, GameResult, MoveText,
    tuc::{Move, Square, Tuc},
};
use zeitnot_seat::{
    Action, Clocks, Declined, Event, GameDetails, GameInfo, Lobby, OpenRequest, PlayerGone, Seat, Turn,
};
use zeitnot_wire::{
    Message,
    tuc::{FromClient, FromServer, Points},
};

use super::{
    config::Config,
    local_server::{self, LocalServer},
    silence::Silence,
    socket::Socket,
};
use crate::{
    session::ConnectionLog,
    skipped::Skipped,
    wait::{now, until},
};

/// Time after the beginning of a game in which a duplicate of an earlier datagram may come.
const DUPLICATES: Duration = Duration::from_secs(10);

/// Error of a game, or of the attempt to begin one.
#[derive(Debug, thiserror::Error)]
pub(super) enum GameError {
    #[error("no server there ({0})")]
    NoServer(#[from] io::Error),
    #[error("no seat within {:.1} s of sending our name: another game may be running", .0.as_secs_f64())]
    NoSeat(Duration),
    #[error(
        "the server went away in the middle of the game ({0}): it was stopped, or an illegal move of either side ended it"
    )]
    ServerGone(io::Error),
    #[error(
        "nothing from the server for {:.1} s: the opponent thinks very long, a datagram was lost, or the game is dead; \
         giving it up", .0.as_secs_f64()
    )]
    Silent(Duration),
    #[error("the server has begun anew in the middle of the game, and has taken our move for a name")]
    Restarted(Color),
    #[error("cannot play: {0}")]
    Declined(#[from] Declined),
    #[error(transparent)]
    PlayerGone(#[from] PlayerGone),
}

pub(super) struct GameEnd {
    color: Color,
    points: ByColor<u16>,
}

impl GameEnd {
    fn outcome(&self) -> GameResult {
        let ByColor([white, black]) = self.points;
        match white.cmp(&black) {
            Ordering::Greater => GameResult::Won(Color::White),
            Ordering::Equal => GameResult::Draw,
            Ordering::Less => GameResult::Won(Color::Black),
        }
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ours = self.points[self.color];
        let theirs = self.points[!self.color];
        let what = match ours.cmp(&theirs) {
            Ordering::Greater => "won",
            Ordering::Equal => "drawn",
            Ordering::Less => "lost",
        };
        write!(f, "{what} as {}, {ours} to {theirs}", self.color)
    }
}

pub(super) struct Game<'a> {
    config: &'a Config,
    socket: Socket,
    skipped: Skipped,
    silence: Silence,
    /// The server, if it is on this machine, and when to look after it.
    local: Option<(LocalServer, Instant)>,
}

struct Playing {
    began: Instant,
    color: Color,
    seat: Seat,
    board: Tuc,
    points: ByColor<u16>,
    /// The last request for a move; our answer, and when its confirmation is due, unless it is overdue already.
    request: OpenRequest<(Move, Option<Instant>)>,
    last: Option<FromServer>,
}

impl<'a> Game<'a> {
    pub(super) fn new(config: &'a Config, socket: Socket) -> Game<'a> {
        Game { config, socket, skipped: Skipped::default(), silence: Silence::new(), local: None }
    }

    /// Plays. Returns `None` if it was stopped before the game began.
    pub(super) async fn run(
        mut self,
        lobby: &Lobby,
        stop: &CancellationToken,
        log: &mut ConnectionLog,
    ) -> Result<Option<GameEnd>, GameError> {
        let Some(seated) = stop.run_until_cancelled(self.take_seat()).await else { return Ok(None) };
        let mut color = seated?;
        log.connected();
        loop {
            info!("seated as {color}; waiting for the game to begin");
            let Some(begun) = stop.run_until_cancelled(self.wait_for_start()).await else { return Ok(None) };
            begun?;
            let game = self.open(lobby, color).await?;
            match self.play(game).await {
                Err(error @ GameError::Restarted(seat)) => {
                    warn!("{error}: the game is lost, and we have a seat in the next one");
                    color = seat;
                    self.find_local_server().await;
                }
                ended => return ended.map(Some),
            }
        }
    }

    /// Sends our name once and waits for a seat. Sending it twice would take both seats.
    async fn take_seat(&mut self) -> Result<Color, GameError> {
        self.socket.send(&FromClient::Name(self.config.player.to_string()).to_line()).await?;
        self.find_local_server().await;
        let limit = self.config.timeouts.seat;
        let seated = async {
            loop {
                match self.receive("waiting for a seat").await? {
                    Some((FromServer::Seat(color), _)) => return Ok(color),
                    other => self.skip_message(other.map(|(message, _)| message)),
                }
            }
        };
        timeout(limit, seated).await.unwrap_or(Err(GameError::NoSeat(limit)))
    }

    /// Waits without a limit: an opponent may come late, or never.
    async fn wait_for_start(&mut self) -> Result<(), GameError> {
        loop {
            match self.receive("waiting for an opponent").await? {
                Some((FromServer::Begins, _)) => return Ok(()),
                Some((FromServer::Seat(_), _)) => debug!("seated again"),
                other => self.skip_message(other.map(|(message, _)| message)),
            }
        }
    }

    async fn open(&self, lobby: &Lobby, color: Color) -> Result<Playing, GameError> {
        let board = Tuc::start_by(self.config.rules);
        let mut names = ByColor(["opponent".to_owned(), "opponent".to_owned()]);
        names[color] = self.config.player.to_string();
        let info = GameInfo {
            id: format!("tuc-{:08x}", fastrand::u32(..)),
            server: format!("udp://{}", self.config.address),
            game: GameKind::Tuc,
            start: Some(board.print()),
            side: color,
            names,
            time_control: None,
            details: GameDetails::default(),
        };
        let seat = lobby.open(info).await?;
        let request = OpenRequest::default();
        let points = ByColor([0; 2]);
        Ok(Playing { began: now(), color, seat, board, points, request, last: None })
    }

    async fn play(&mut self, mut game: Playing) -> Result<GameEnd, GameError> {
        if game.color == Color::White {
            self.ask(&mut game, Instant::now()).await?;
        }
        let limit = self.config.timeouts.silence;
        let waiting = format!(
            "a player thinks, or the server is gone, which it does not say; leaving the game after {} s",
            limit.as_secs()
        );
        loop {
            let due = game.request.sent().and_then(|(_, due)| *due);
            let silent_at = self.silence.ends(limit);
            select! {
                biased;
                received = self.receive(&waiting) => {
                    if let Some((message, read_at)) = received.map_err(during_game)?
                        && let Some(result) = self.message(&mut game, message, read_at).await?
                    {
                        return Ok(result);
                    }
                }
                action = game.seat.actions.recv() => match action {
                    Some(Action::Play { turn, mv, .. }) => {
                        self.silence = Silence::new();
                        self.answer(&mut game, turn, mv).await?;
                    }
                    Some(Action::Resign { .. } | Action::Leave { .. }) | None => {
                        return Err(GameError::PlayerGone(PlayerGone));
                    }
                },
                () = until(due) => self.unconfirmed(&mut game).await?,
                () = sleep_until(silent_at) => return Err(GameError::Silent(limit)),
            }
        }
    }

    /// Returns the next message and when it was read, or `None` for an unreadable one. Reports a long silence, with
    /// the reason why we are `waiting`. Cancel safe.
    async fn receive(&mut self, waiting: &str) -> Result<Option<(FromServer, Instant)>, GameError> {
        let datagram = loop {
            let look_at = self.local.as_ref().map(|(_, at)| *at);
            select! {
                biased;
                datagram = self.socket.receive() => break datagram?,
                () = until(look_at) => self.look_after_server().await?,
                () = sleep_until(self.silence.report_due()) => {
                    if let Some(seconds) = self.silence.report() {
                        warn!("nothing from the server for {seconds} s: {waiting}");
                    }
                }
            }
        };
        let read_at = Instant::now();
        self.silence = Silence::new();
        let text = String::from_utf8_lossy(&datagram);
        debug!("< {text:?}");
        match FromServer::parse(&text) {
            Ok(message) => Ok(Some((message, read_at))),
            Err(error) => {
                self.skipped.report(&error.to_string());
                Ok(None)
            }
        }
    }

    async fn find_local_server(&mut self) {
        self.local = match self.socket.local_server() {
            Some(address) => LocalServer::find(address).await,
            None => None,
        }
        .map(|server| (server, now() + local_server::INTERVAL));
    }

    /// Fails if the server is on this machine and its socket is closed. Cancel safe.
    async fn look_after_server(&mut self) -> Result<(), GameError> {
        let Some((server, at)) = &mut self.local else { return Ok(()) };
        *at = now() + local_server::INTERVAL;
        match server.is_there().await {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::ConnectionRefused, "its socket is closed").into()),
        }
    }

    /// Handles a message of a running game. Returns the result if it was the last one.
    async fn message(
        &mut self,
        game: &mut Playing,
        message: FromServer,
        read_at: Instant,
    ) -> Result<Option<GameEnd>, GameError> {
        // A repeated message is a duplicated datagram: the same move cannot come twice in a row.
        if game.last.as_ref() == Some(&message) {
            return Ok(None);
        }
        match message {
            FromServer::Moved { to_move, mv, prize, points } => {
                game.last = Some(message);
                game.moved(mv, to_move, prize, points).await?;
                if to_move == game.color {
                    self.ask(game, read_at).await?;
                }
            }
            FromServer::Over { points } => {
                game.count_last_move().await?;
                let points = points.after(game.points);
                let result = GameEnd { color: game.color, points };
                let outcome = Some(result.outcome());
                game.send_event(Event::Ended { result: result.to_string(), outcome }).await?;
                return Ok(Some(result));
            }
            // A seat answers a name, and a server that is new takes our move for one.
            FromServer::Seat(color) if now() >= game.began + DUPLICATES => {
                return Err(GameError::Restarted(color));
            }
            FromServer::Seat(_) | FromServer::Begins => debug!("repeated"),
        }
        Ok(None)
    }

    async fn ask(&self, game: &mut Playing, read_at: Instant) -> Result<(), GameError> {
        let turn = game.request.open();
        let clocks = Clocks {
            left: ByColor([self.config.move_time; 2]),
            increment: Duration::ZERO,
            moves_to_go: Some(1),
            resolution: Duration::from_millis(1),
            read_at,
        };
        game.send_event(Event::YourTurn { turn, clocks: Some(clocks) }).await
    }

    async fn answer(&self, game: &mut Playing, turn: Turn, text: MoveText) -> Result<(), GameError> {
        let due = Some(now() + self.config.timeouts.confirmation);
        let Some(mv) = Move::parse(text.as_str()).filter(|mv| game.request.answer(turn, (*mv, due))) else {
            debug!("{text} came too late for turn {}", turn.0);
            return Ok(());
        };
        self.send(mv).await?;
        game.send_event(Event::Sent { turn, at: Instant::now() }).await
    }

    async fn send(&self, mv: Move) -> Result<(), GameError> {
        debug!("> {mv}");
        self.socket.send(&FromClient::Move(mv).to_line()).await.map_err(GameError::ServerGone)
    }

    /// Handles a move that the server did not confirm in time.
    async fn unconfirmed(&self, game: &mut Playing) -> Result<(), GameError> {
        let Some((mv, due)) = game.request.sent_mut() else { return Ok(()) };
        let confirmation = self.config.timeouts.confirmation;
        let waited = confirmation.as_secs_f64();
        *due = self.config.resend.then(|| now() + confirmation);
        if self.config.resend {
            warn!("our move {mv} was not confirmed within {waited:.1} s; sending it again");
            return self.send(*mv).await;
        }
        warn!(
            "our move {mv} was not confirmed within {waited:.1} s; waiting (resend = true would send it again)"
        );
        Ok(())
    }

    fn skip_message(&mut self, message: Option<FromServer>) {
        if let Some(message) = message {
            self.skipped.report(&format!("not expected here: {}", message.to_line()));
        }
    }
}

/// Before the game an unreachable server may still have to start; during the game it is gone.
fn during_game(error: GameError) -> GameError {
    match error {
        GameError::NoServer(error) => GameError::ServerGone(error),
        other => other,
    }
}

impl Playing {
    /// Follows a move as the server announces it.
    async fn moved(
        &mut self,
        mv: Move,
        to_move: Color,
        prize: Option<Square>,
        points: Points,
    ) -> Result<(), GameError> {
        if to_move == self.color && self.board.side_to_move() == self.color {
            self.play_unconfirmed().await?;
        }
        self.points = points.after(self.points);
        self.request.clear();
        let is_known = self.board.moves().contains(&mv);
        if !self.board.hear(mv, to_move, prize, self.points) {
            warn!(
                "the server announced {mv}, which does not fit our board: a datagram was lost; following the server"
            );
        }
        if is_known && let Some(text) = MoveText::new(&mv.to_string()) {
            self.send_event(Event::Moved(text)).await?;
        }
        self.send_event(Event::Board(self.board.print())).await
    }

    /// Plays our own move, whose confirmation was lost: the opponent has answered it.
    async fn play_unconfirmed(&mut self) -> Result<(), GameError> {
        let Some(&(mv, _)) = self.request.sent() else { return Ok(()) };
        self.board.play(mv);
        match MoveText::new(&mv.to_string()) {
            Some(text) => self.send_event(Event::Moved(text)).await,
            None => Ok(()),
        }
    }

    /// Counts the move that ended the game, which the server does not tell.
    async fn count_last_move(&mut self) -> Result<(), GameError> {
        if self.request.is_none() {
            return self.send_event(Event::MovedUnseen).await;
        }
        self.play_unconfirmed().await
    }

    async fn send_event(&self, event: Event) -> Result<(), GameError> {
        Ok(self.seat.send(event).await?)
    }
}
