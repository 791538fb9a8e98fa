//! One game: the server's lines become events, the player's actions become lines.
//!
//! Each request comes with the whole board, so nothing has to be remembered but which request is open. The
//! server does not say that a move is good: it only complains of a bad one, at once.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, info, warn};

use zeitnot_rules::{ByColor, Color, GameKind, MoveText, TimeControl};
use zeitnot_seat::{Action, Clocks, Event, GameInfo, Lobby, Occasion, Seat, Turn};
use zeitnot_wire::imcs::{Answer, FromServer, Verdict, dashed, letter};

use super::{
    Config, Lost,
    talk::{Said, Talk},
};

/// A lobby that takes longer than this to find a player has none.
const LOBBY_PATIENCE: Duration = Duration::from_secs(5);
/// A player that takes no event for this long has hung.
const PLAYER_HANGS: Duration = Duration::from_secs(5);
/// Whatever the clocks show, White has this long for its first move.
const FIRST_MOVE: Duration = Duration::from_secs(60);
/// A move of which nobody has complained for this long stands.
const STANDS: Duration = Duration::from_millis(250);
/// The game is a draw after this many moves of each side.
const LAST_MOVE: u32 = 40;
/// Clocks are told in steps of this.
const CLOCK_STEP: Duration = Duration::from_millis(1);
/// Ranks of a board.
const RANKS: usize = 6;
/// What stands in for the name of an opponent who accepted our offer: the server does not tell it.
const SOMEBODY: &str = "?";

/// What is known of a game before its first move.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) game: u64,
    pub(super) side: Color,
    pub(super) yours: Duration,
    pub(super) theirs: Duration,
    pub(super) opponent: Option<String>,
}

/// A game being played.
pub(super) struct Game<'a, 't> {
    config: &'a Config,
    talk: &'a mut Talk<'t>,
    start: Start,
    /// `None`: nobody plays, and we have resigned.
    seat: Option<Seat>,
    /// Why nobody plays, where somebody should.
    deserted: Option<String>,
    /// The last request for a move, and whether it is still open.
    turn: Turn,
    is_open: bool,
    /// Our last answer, until it stands.
    answer: Option<(Turn, MoveText, Instant)>,
    block: Block,
    /// Has anything happened in it?
    begun: bool,
    /// The other side's clock.
    theirs: Duration,
    /// When the server has been silent for too long.
    limit: Instant,
}

/// A board as far as it was told.
#[derive(Debug, Default)]
struct Block {
    header: Option<(u32, Color)>,
    ranks: Vec<String>,
}

impl Block {
    /// The position, if the block is whole.
    fn position(&self) -> Option<String> {
        let (number, side) = self.header?;
        let whole = self.ranks.len() == RANKS;
        whole.then(|| format!("{} {} {number}", self.ranks.join("/"), letter(side)))
    }
}

impl<'a, 't> Game<'a, 't> {
    pub(super) fn new(config: &'a Config, talk: &'a mut Talk<'t>, start: Start) -> Self {
        Game {
            config,
            talk,
            theirs: start.theirs,
            start,
            seat: None,
            deserted: None,
            turn: Turn::default(),
            is_open: false,
            answer: None,
            block: Block::default(),
            begun: false,
            limit: Instant::now() + FIRST_MOVE + config.patience.beyond_clock,
        }
    }

    /// Plays to the end; the server closes behind it.
    pub(super) async fn play(mut self, lobby: &Lobby) -> Result<(), Lost> {
        let Start { game, side, .. } = self.start;
        info!("game {game} against {:?} begins; we are {side}", self.opponent());
        match timeout(LOBBY_PATIENCE, lobby.open(self.info())).await {
            Ok(Ok(seat)) => self.seat = Some(seat),
            Ok(Err(declined)) => self.desert(declined.to_string())?,
            Err(_) => self.desert("nobody came to play".to_owned())?,
        }
        let ended = self.listen().await;
        let result = match &ended {
            Ok(verdict) => verdict.to_string(),
            Err(lost) => format!("no result: {lost}"),
        };
        self.tell(Event::Ended { result }).await;
        let verdict = ended?;
        debug!("game {game} is over: {verdict}");
        // Nobody shall lose one game after another at full speed.
        self.deserted.map_or(Ok(()), |why| Err(Lost::NoPlayer(why)))
    }

    fn opponent(&self) -> &str {
        self.start.opponent.as_deref().unwrap_or(SOMEBODY)
    }

    fn info(&self) -> GameInfo {
        let side = self.start.side;
        let mut names = ByColor::both(self.config.user.to_string());
        names[!side] = self.opponent().to_owned();
        GameInfo {
            id: self.start.game.to_string(),
            server: self.config.address.to_string(),
            game: GameKind::MinichessImcs,
            start: None,
            side,
            names,
            time_control: Some(TimeControl { initial: self.start.yours, increment: Duration::ZERO }),
            occasion: Occasion::default(),
        }
    }

    async fn listen(&mut self) -> Result<Verdict, Lost> {
        loop {
            tokio::select! {
                biased;
                said = self.talk.next() => match said? {
                    Said::Line { message, read_at } => {
                        if let Some(verdict) = self.line(message, read_at).await? {
                            return Ok(verdict);
                        }
                    }
                    Said::Sent { turn, at } => self.tell(Event::Sent { turn, at }).await,
                },
                action = action(&mut self.seat) => match action {
                    Some(Action::Play { turn, mv, .. }) => self.answer(turn, mv)?,
                    Some(Action::Resign { .. }) => self.resign("the player gives up")?,
                    None => self.desert("the player left the game".to_owned())?,
                },
                () = stands(self.answer.as_ref()) => self.stands().await,
                () = sleep_until(self.limit) => {
                    return Err(Lost::Silent(self.config.patience.beyond_clock));
                }
            }
        }
    }

    async fn line(
        &mut self,
        message: FromServer,
        read_at: std::time::Instant,
    ) -> Result<Option<Verdict>, Lost> {
        match message {
            FromServer::Moved(mv) => self.moved(&mv).await,
            FromServer::Board { number, side } => {
                self.block = Block { header: Some((number, side)), ranks: Vec::with_capacity(RANKS) };
            }
            FromServer::Rank(rank) if self.block.ranks.len() < RANKS => self.block.ranks.push(rank),
            FromServer::Prompt { yours, theirs } => self.asked(yours, theirs, read_at).await,
            FromServer::Complaint(why) => self.refused(why).await,
            FromServer::Over(verdict) => return Ok(Some(verdict)),
            FromServer::Reply { code, text } => return verdict(code, &text),
            // The line that follows says what came of it; or the connection closes.
            FromServer::Fatal(text) => {
                return Err(if self.begun { Lost::BrokenOff(text) } else { Lost::NoGame(text) });
            }
            other => debug!("passed over: {other:?}"),
        }
        Ok(None)
    }

    async fn moved(&mut self, mv: &str) {
        self.begun = true;
        self.stands().await;
        match MoveText::new(mv) {
            Some(mv) => self.tell(Event::Moved(mv)).await,
            None => warn!("no move is that long: {mv:?}"),
        }
        // The board and the prompt come with it.
        self.limit = Instant::now() + self.config.patience.beyond_clock;
    }

    async fn asked(&mut self, yours: Duration, theirs: Duration, read_at: std::time::Instant) {
        self.stands().await;
        self.begun |= self.start.side == Color::Black;
        let block = std::mem::take(&mut self.block);
        let number = block.header.map_or(1, |(number, _)| number);
        match block.position() {
            Some(position) => self.tell(Event::Board(position)).await,
            None => warn!("asked for a move without a board"),
        }
        (self.turn, self.is_open, self.theirs) = (self.turn.next(), true, theirs);
        let first = if number == 1 { FIRST_MOVE } else { Duration::ZERO };
        self.limit = Instant::now() + yours.max(first) + self.config.patience.beyond_clock;
        let mut left = ByColor::both(yours);
        left[!self.start.side] = theirs;
        let clocks = Clocks {
            left,
            increment: Duration::ZERO,
            moves_to_go: Some((LAST_MOVE + 1).saturating_sub(number).max(1)),
            resolution: CLOCK_STEP,
            read_at,
        };
        self.tell(Event::YourTurn { turn: self.turn, clocks: Some(clocks) }).await;
    }

    /// The board and the prompt come again.
    async fn refused(&mut self, why: String) {
        match self.answer.take() {
            Some((turn, ..)) => self.tell(Event::Refused { turn, why }).await,
            None => warn!("the server complains: {why:?}"),
        }
    }

    /// Nobody has complained of our move.
    async fn stands(&mut self) {
        if let Some((_, mv, _)) = self.answer.take() {
            self.tell(Event::Moved(mv)).await;
        }
    }

    fn answer(&mut self, turn: Turn, mv: MoveText) -> Result<(), Lost> {
        if !self.is_open || turn != self.turn {
            debug!("{mv} came too late for turn {}", turn.0);
            return Ok(());
        }
        self.is_open = false;
        self.answer = Some((turn, mv, Instant::now() + STANDS));
        self.limit = Instant::now() + self.theirs + self.config.patience.beyond_clock;
        self.talk.play(&Answer::Move(dashed(&mv)), Some(turn))
    }

    /// The server need not wait for a player that we do not have.
    fn desert(&mut self, why: String) -> Result<(), Lost> {
        self.resign(&why)?;
        self.deserted = Some(why);
        Ok(())
    }

    fn resign(&mut self, why: &str) -> Result<(), Lost> {
        warn!("game {}: resigning: {why}", self.start.game);
        (self.seat, self.is_open, self.answer) = (None, false, None);
        self.talk.play(&Answer::Resign, None)
    }

    /// A player that is gone is noticed where its next action is waited for.
    async fn tell(&mut self, event: Event) {
        if let Some(seat) = &self.seat
            && seat.events.send_timeout(event, PLAYER_HANGS).await.is_err()
        {
            warn!("game {}: the player hangs", self.start.game);
        }
    }
}

/// The result in a numbered line, should the line before it have been lost.
fn verdict(code: u16, text: &str) -> Result<Option<Verdict>, Lost> {
    let winner = match code {
        230 => None,
        231 => Some(Color::White),
        232 => Some(Color::Black),
        400.. => return Err(Lost::BrokenOff(format!("{code} {text}"))),
        _ => return Ok(None),
    };
    Ok(Some(Verdict { winner, how: String::new() }))
}

/// The player's next wish, if there is a player; `None`: it is gone. Cancel safe.
async fn action(seat: &mut Option<Seat>) -> Option<Action> {
    match seat {
        Some(seat) => seat.actions.recv().await,
        None => pending().await,
    }
}

/// Sleeps until our answer stands, if there is one.
async fn stands(answer: Option<&(Turn, MoveText, Instant)>) {
    match answer {
        Some((_, _, at)) => sleep_until(*at).await,
        None => pending().await,
    }
}
