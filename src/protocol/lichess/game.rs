//! One game: its stream becomes events for the player, the player's actions become requests.
//!
//! A move is sent by a task of its own as soon as the player has it; everything else waits behind it.

use std::{
    future::pending,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::mpsc,
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{debug, info, warn};

use super::{
    config::Claim,
    http::{Http, HttpError},
    limits::Kind,
    moves::{self, Fate},
    stream::{Heard, Stream},
    track::{Change, Track},
};
use crate::{
    game::{BySide, MoveText, Side},
    seat::{Action, Clocks, Event, GameInfo, Lobby, Occasion, Opponent, Seat, Turn},
    wire::lichess::{Color, GameFull, GameId, GameMessage, GameState, OpponentGone, Player, Status, UserId},
};

/// Clocks are told in milliseconds, but kept in hundredths of a second.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// Longer than any clock that counts: no sum of times that a server makes up shall overflow.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// A player that takes no event for this long has hung, and a lobby that finds none in this time has none now.
const PLAYER_HANGS: Duration = Duration::from_secs(5);
/// So many players may leave a game; then it is not theirs that is at fault.
const PLAYERS: u32 = 3;
/// What a game's stream may take to tell an end that the account's events have told.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// A first move that comes in the last moment still comes.
const ABORT_AFTER: Duration = Duration::from_millis(500);

/// What all games of an account share.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub http: Http,
    pub lobby: Lobby,
    pub me: UserId,
    pub claim: Claim,
}

/// How we left a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It is over.
    Over,
    /// It was over, or is not ours, or cannot be played.
    Unplayed,
    /// The token is worth nothing any more.
    Unauthorized,
}

/// Plays a game to its end; `finished` brings the account's word that it is over.
pub(super) async fn play(table: Table, id: GameId, mut finished: mpsc::Receiver<String>) -> Left {
    let mut stream = table.follow(id);
    let sitting = async {
        let (full, read_at) = first(&mut stream).await?;
        Game::begin(table, full).await.map(|game| (game, read_at))
    };
    let begun = select! {
        begun = sitting => begun,
        Some(_) = finished.recv() => return Left::Unplayed,
    };
    match begun {
        Ok((game, read_at)) => game.run(stream, read_at, finished).await,
        Err(left) => left,
    }
}

/// The game in full, which comes first.
async fn first(stream: &mut Stream<GameMessage>) -> Result<(Box<GameFull>, Instant), Left> {
    loop {
        match stream.next().await {
            Heard::Message(GameMessage::GameFull(full), read_at) => return Ok((full, read_at)),
            Heard::Over(HttpError::Unauthorized) => return Err(Left::Unauthorized),
            Heard::Over(error) => {
                warn!("cannot follow the game: {error}");
                return Err(Left::Unplayed);
            }
            Heard::Opened | Heard::Message(..) => {}
        }
    }
}

impl Table {
    fn follow(&self, id: GameId) -> Stream<GameMessage> {
        Stream::follow(self.http.clone(), Kind::Stream, format!("api/bot/game/stream/{id}"))
    }

    /// A player for this game. Where there is no room now there may be soon: the game waits for us.
    async fn seat(&self, info: &GameInfo) -> Seat {
        let mut asked = false;
        loop {
            let why = match timeout(PLAYER_HANGS, self.lobby.open(info.clone())).await {
                Ok(Ok(seat)) => return seat,
                Ok(Err(declined)) => declined.to_string(),
                Err(_) => "nobody came to play".to_owned(),
            };
            if !std::mem::replace(&mut asked, true) {
                warn!("{why}; asking again until somebody does");
            }
            sleep(PLAYER_HANGS).await;
        }
    }

    /// Leaves a game that we cannot play: undone if it has not begun, lost if it has.
    async fn refuse(&self, id: GameId) {
        for way in ["abort", "resign"] {
            match self.http.post(Kind::Game, &format!("api/bot/game/{id}/{way}"), None).await {
                Ok(()) => return,
                Err(error) => warn!("cannot {way}: {error}"),
            }
        }
    }
}

/// The server's last request for a move.
#[derive(Debug)]
enum Request {
    /// It is not our turn.
    None,
    /// The player has not answered yet.
    Open,
    /// The answer is on its way; what brings it there gives up with this.
    Sending { _moot: DropGuard },
    /// The server took it then, but has not told it as played yet.
    Taken { at: Instant },
    /// The server did not take it, and the stream will tell whether it has it all the same.
    Doubtful { why: String, since: Instant },
}

/// A move on its way.
#[derive(Copy, Clone, Debug)]
struct Answer {
    turn: Turn,
    /// Did our clock run?
    is_timed: bool,
}

/// The player left its seat, or hangs.
#[derive(Debug, thiserror::Error)]
#[error("the player left the game")]
struct PlayerGone;

/// A game that runs.
struct Game {
    table: Table,
    id: GameId,
    info: GameInfo,
    seat: Seat,
    track: Track,
    /// As the server told it last, and when that was read.
    state: GameState,
    read_at: Instant,
    /// Counts the requests; the last one's answer is awaited.
    turn: Turn,
    request: Request,
    sending: JoinSet<(Answer, Option<Fate>)>,
    /// Everything but moves.
    calls: JoinSet<()>,
    /// When the stream was opened that we read.
    opened: Instant,
    abort_at: Option<Instant>,
    claim_at: Option<Instant>,
    players: u32,
}

impl Game {
    /// Reads what game it is, and finds a player for it.
    async fn begin(table: Table, full: Box<GameFull>) -> Result<Game, Left> {
        let id = full.id;
        let players = full.players();
        let ours = |side: &Side| players[*side].id.as_ref() == Some(&table.me);
        let Some(side) = Side::BOTH.into_iter().find(ours) else {
            warn!("we are not in this game");
            return Err(Left::Unplayed);
        };
        if full.state.status.is_over() {
            debug!("over already: {}", result(&full.state));
            return Err(Left::Unplayed);
        }
        let track = match Track::new(&full) {
            Ok(track) => track,
            Err(lost) => {
                warn!("leaving: {lost}");
                table.refuse(id).await;
                return Err(Left::Unplayed);
            }
        };
        let info = GameInfo {
            id: id.to_string(),
            server: table.http.base().to_string(),
            game: track.game(),
            start: full.start().map(str::to_owned),
            side,
            names: BySide([name(&full.white), name(&full.black)]),
            time_control: full.clock,
            occasion: Occasion { rated: Some(full.rated), opponent: Some(kind(players[!side])) },
        };
        info!("{} against {}", info.names[Side::First], info.names[Side::Second]);
        let seat = table.seat(&info).await;
        Ok(Game {
            table,
            id,
            info,
            seat,
            track,
            state: full.state,
            read_at: Instant::now(),
            turn: Turn::default(),
            request: Request::None,
            sending: JoinSet::new(),
            calls: JoinSet::new(),
            opened: Instant::now(),
            abort_at: None,
            claim_at: None,
            players: 1,
        })
    }

    async fn run(
        mut self,
        mut stream: Stream<GameMessage>,
        read_at: Instant,
        mut finished: mpsc::Receiver<String>,
    ) -> Left {
        let state = self.state.clone();
        let mut dealt = self.follow(state, read_at).await;
        let mut last_words: Option<(Instant, String)> = None;
        loop {
            if dealt.is_err() {
                dealt = self.another_player().await;
                continue;
            }
            if self.state.status.is_over() {
                let result = result(&self.state);
                return self.end(result, Left::Over).await;
            }
            dealt = select! {
                biased;
                action = self.seat.actions.recv() => self.act(action),
                Some(Ok((answer, fate))) = self.sending.join_next() => match fate {
                    Some(Fate::Unauthorized) => {
                        return self.end("the token is not accepted any more".into(), Left::Unauthorized).await;
                    }
                    Some(fate) => {
                        if self.fate(answer, fate).await {
                            stream = self.table.follow(self.id);
                        }
                        Ok(())
                    }
                    None => Ok(()),
                },
                heard = stream.next() => match heard {
                    Heard::Opened => {
                        self.opened = Instant::now();
                        Ok(())
                    }
                    Heard::Message(message, read_at) => self.hear(message, read_at).await,
                    Heard::Over(error) => {
                        let unauthorized = matches!(error, HttpError::Unauthorized);
                        let left = if unauthorized { Left::Unauthorized } else { Left::Over };
                        let known = last_words.map(|(_, result)| result);
                        return self.end(known.unwrap_or_else(|| format!("unknown: {error}")), left).await;
                    }
                },
                () = at(self.abort_at) => self.abort(),
                () = at(self.claim_at) => self.claim(),
                Some(_) = self.calls.join_next() => Ok(()),
                Some(result) = finished.recv(), if last_words.is_none() => {
                    last_words = Some((Instant::now() + LAST_WORDS, result));
                    Ok(())
                }
                () = at(last_words.as_ref().map(|(until, _)| *until)) => {
                    let result = last_words.map(|(_, result)| result);
                    return self.end(result.unwrap_or_default(), Left::Over).await;
                }
            };
        }
    }

    async fn end(self, result: String, left: Left) -> Left {
        let _ = self.tell(Event::Ended { result }).await;
        left
    }

    async fn hear(&mut self, message: GameMessage, read_at: Instant) -> Result<(), PlayerGone> {
        match message {
            GameMessage::GameFull(full) => {
                // Whether the opponent is away, the new stream will tell.
                self.claim_at = None;
                self.follow_again(full.state, read_at).await
            }
            GameMessage::GameState(state) => self.follow(state, read_at).await,
            GameMessage::OpponentGone(gone) => {
                self.gone(gone, read_at);
                Ok(())
            }
            GameMessage::ChatLine(line) => {
                debug!("{} says: {:?}", line.username, line.text);
                Ok(())
            }
            GameMessage::Other(unknown) => {
                debug!("passed over: {:?}", unknown.kind);
                Ok(())
            }
        }
    }

    /// A state from a stream that was just opened: it also says what became of our answer.
    async fn follow_again(&mut self, state: GameState, read_at: Instant) -> Result<(), PlayerGone> {
        let plies = self.track.plies();
        let request = std::mem::replace(&mut self.request, Request::None);
        let (lost, why) = match request {
            Request::Doubtful { why, since } if since <= self.opened => (true, Some(why)),
            Request::Taken { at } if at <= self.opened => (true, None),
            other => {
                self.request = other;
                (false, None)
            }
        };
        let stands = lost && state.played().count() == plies && !state.status.is_over();
        if let (true, Some(why)) = (stands, why) {
            self.tell(Event::Refused { turn: self.turn, why }).await?;
        }
        self.follow(state, read_at).await
    }

    /// Tells the player what is new, and asks for a move where one is due that was not asked for.
    async fn follow(&mut self, state: GameState, read_at: Instant) -> Result<(), PlayerGone> {
        let change = match self.track.follow(&state) {
            Ok(change) => change,
            Err(lost) => {
                warn!("cannot follow the server's moves: {lost}");
                if state.status.is_over() {
                    self.state = state;
                }
                return Ok(());
            }
        };
        (self.state, self.read_at) = (state, read_at);
        if change != Change::None {
            // What was asked about the board before is moot.
            self.request = Request::None;
        }
        match change {
            Change::None => {}
            Change::Moved(moves) => {
                for mv in moves {
                    self.tell(Event::Moved(mv)).await?;
                }
            }
            Change::Board(board) => self.tell(Event::Board(board)).await?,
        }
        if self.state.status.is_over() {
            return Ok(());
        }
        self.await_first_move(read_at);
        let clocks = self.clocks(read_at);
        match &self.request {
            Request::None if self.track.side() == self.info.side => self.ask(clocks).await,
            _ => match clocks {
                Some(clocks) => self.tell(Event::ClocksRead(clocks)).await,
                None => Ok(()),
            },
        }
    }

    async fn ask(&mut self, clocks: Option<Clocks>) -> Result<(), PlayerGone> {
        self.turn = self.turn.next();
        self.request = Request::Open;
        self.tell(Event::YourTurn { turn: self.turn, clocks }).await
    }

    fn clocks(&self, read_at: Instant) -> Option<Clocks> {
        let control = self.info.time_control?;
        let BySide([white, black]) = self.state.left();
        Some(Clocks {
            left: BySide([white?.min(LONGEST), black?.min(LONGEST)]),
            increment: self.state.increments()[self.info.side].max(control.increment).min(LONGEST),
            moves_to_go: None,
            resolution: CLOCK_STEP,
            read_at,
        })
    }

    /// An opponent who does not even begin keeps a place that others want.
    fn await_first_move(&mut self, read_at: Instant) {
        let awaited = self.track.plies() < 2 && self.track.side() != self.info.side;
        if !awaited || self.info.time_control.is_none() {
            self.abort_at = None;
        } else if self.abort_at.is_none() {
            let limit = self.state.expiration.map(|expiration| expiration.left);
            let limit = limit.unwrap_or(self.table.http.patience().first_move).min(LONGEST);
            self.abort_at = Some(read_at + limit + ABORT_AFTER);
        }
    }

    fn abort(&mut self) -> Result<(), PlayerGone> {
        // Once: where it is refused, it will be the next time.
        self.abort_at = Some(Instant::now() + LONGEST);
        self.call("abort");
        Ok(())
    }

    fn gone(&mut self, gone: OpponentGone, read_at: Instant) {
        let wait = gone.claim_win_in.filter(|_| gone.gone);
        self.claim_at = wait.map(|wait| read_at + wait.min(LONGEST) + self.table.http.patience().gone);
    }

    fn claim(&mut self) -> Result<(), PlayerGone> {
        self.claim_at = None;
        match self.table.claim {
            Claim::Victory => self.call("claim-victory"),
            Claim::Draw => self.call("claim-draw"),
            Claim::Nothing => {}
        }
        Ok(())
    }

    /// Has something done that is no move, aside.
    fn call(&mut self, what: &'static str) {
        let (http, path) = (self.table.http.clone(), format!("api/bot/game/{}/{what}", self.id));
        info!("{what}");
        self.calls.spawn(async move {
            if let Err(error) = http.post(Kind::Game, &path, None).await {
                warn!("cannot {what}: {error}");
            }
        });
    }

    /// What the player wants; of an answer to an old request nothing is done.
    fn act(&mut self, action: Option<Action>) -> Result<(), PlayerGone> {
        let is_open = |turn: Turn| turn == self.turn && matches!(self.request, Request::Open);
        match action {
            Some(Action::Play { turn, mv, .. }) if is_open(turn) => self.send(mv),
            Some(Action::Resign { turn }) if is_open(turn) => self.call("resign"),
            Some(late) => debug!("too late: {late:?}"),
            None => return Err(PlayerGone),
        }
        Ok(())
    }

    fn send(&mut self, mv: MoveText) {
        let moot = CancellationToken::new();
        self.request = Request::Sending { _moot: moot.clone().drop_guard() };
        let path = format!("api/bot/game/{}/move/{}", self.id, self.track.write(mv));
        let left = self.info.time_control.and(self.state.left()[self.info.side]);
        let due = left.map(|left| self.read_at + left.min(LONGEST));
        let http = self.table.http.clone();
        // The clocks run when both have moved: before, they tell nothing of the lag.
        let answer = Answer { turn: self.turn, is_timed: self.track.plies() >= 2 };
        self.sending.spawn(async move { (answer, moves::send(&http, &path, due, &moot).await) });
    }

    /// What became of our answer. Is a new look at the stream needed?
    async fn fate(&mut self, Answer { turn, is_timed }: Answer, fate: Fate) -> bool {
        if let Fate::Played { at } = fate
            && turn == self.turn
            && is_timed
        {
            let _ = self.tell(Event::Sent { turn, at }).await;
        }
        if turn != self.turn || !matches!(self.request, Request::Sending { .. }) {
            return false;
        }
        let now = Instant::now();
        match fate {
            Fate::Played { .. } => {
                self.request = Request::Taken { at: now };
                false
            }
            Fate::Refused(why) => {
                debug!("our move was not taken ({why}); looking at the game again");
                self.request = Request::Doubtful { why, since: now };
                true
            }
            Fate::Unauthorized => false,
        }
    }

    /// The player is gone: another one takes the seat, and hears the game from its beginning.
    async fn another_player(&mut self) -> Result<(), PlayerGone> {
        self.players += 1;
        if self.players > PLAYERS {
            warn!("no player stays: resigning");
            self.call("resign");
            while self.calls.join_next().await.is_some() {}
            self.state.status = Status::Resign;
            return Ok(());
        }
        warn!("the player left the game; another one takes over");
        self.seat = self.table.seat(&self.info).await;
        for mv in self.track.played().to_vec() {
            self.tell(Event::Moved(mv)).await?;
        }
        let is_ours = self.track.side() == self.info.side;
        match self.request {
            Request::None | Request::Open if is_ours => self.ask(self.clocks(Instant::now())).await,
            _ => Ok(()),
        }
    }

    async fn tell(&self, event: Event) -> Result<(), PlayerGone> {
        self.seat.events.send_timeout(event, PLAYER_HANGS).await.map_err(|_| PlayerGone)
    }
}

/// How a game ended, for people.
pub(super) fn result(state: &GameState) -> String {
    ending(&state.status, state.winner)
}

/// The same, in the words of the account's events.
pub(super) fn ending(status: &Status, winner: Option<Color>) -> String {
    match winner {
        Some(winner) => format!("{status}, {} wins", Side::from(winner)),
        None => status.to_string(),
    }
}

fn kind(player: &Player) -> Opponent {
    let is_bot =
        player.ai_level.is_some() || player.title.as_ref().is_some_and(|title| title.as_str() == "BOT");
    if is_bot { Opponent::Bot } else { Opponent::Human }
}

fn name(player: &Player) -> String {
    match (player.ai_level, player.name.as_str()) {
        (Some(level), _) => format!("Stockfish level {level}"),
        (None, "") => player.id.as_ref().map_or_else(|| "anonymous".to_owned(), UserId::to_string),
        (None, name) => name.to_owned(),
    }
}

/// Sleeps until then, if there is such a moment.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment.into()).await,
        None => pending().await,
    }
}
