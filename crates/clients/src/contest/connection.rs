//! One connection to a contest server, from `JOIN` to its end: pairings and games, one after another.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{debug, info, warn};
use zeitnot_net::{Incoming, NetError, Rate, Ration};
use zeitnot_rules::{GameResult, MoveText};
use zeitnot_seat::{Action, Lobby, OpenRequest, PlayerGone, Turn};
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer, JoinKey, State, result_text},
};

use super::{
    config::Config,
    first_message::{EMPTY_LINES, FirstMessage, Step},
    game::{self, Game, Pairing},
};
use crate::{
    game_clock::GameClock,
    link::{Link, LinkError, LinkEvent},
    skipped::Skipped,
    wait::{or_never, until},
};

/// `INFO` lines that are shown; there is no limit to how many a server sends.
const INFO_LINES: Rate = Rate { burst: 20, interval: Duration::from_secs(1) };

/// End of a connection that we did not end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("cannot connect: {0} (is the server running, and its address right?)")]
    Connect(NetError),
    #[error("{error}; its last message: {message:?}")]
    Dismissed { error: LinkError, message: String },
    /// Its only message, before it closed.
    #[error("the server refused our JOIN: {0:?}")]
    JoinRefused(String),
    /// Its last message, before it closed.
    #[error("{0:?}")]
    TournamentOver(String),
    /// The first line, which is HTTP.
    #[error("the port does not speak plain TCP, but HTTP: {0:?}")]
    NotTcp(String),
    #[error(
        "the server closed the connection without a word (if this port speaks WebSocket, `address` must begin with ws://)"
    )]
    Unanswered,
    #[error("nothing from the server for {0:?}")]
    Silent(Duration),
    #[error(transparent)]
    Link(#[from] LinkError),
}

#[derive(Debug)]
enum Phase {
    Waiting,
    /// We have acknowledged the pairing.
    Acked(Pairing),
    Playing(Game),
    /// We have resigned; the server has not ended the game yet.
    Resigned(Pairing),
}

impl Phase {
    fn pairing(&self) -> Option<&Pairing> {
        match self {
            Phase::Waiting => None,
            Phase::Acked(pairing) | Phase::Resigned(pairing) => Some(pairing),
            Phase::Playing(game) => Some(&game.pairing),
        }
    }

    fn game(&mut self) -> Option<&mut Game> {
        match self {
            Phase::Playing(game) => Some(game),
            _ => None,
        }
    }
}

pub(super) struct Connection<'a> {
    config: &'a Config,
    lobby: &'a Lobby,
    link: &'a mut Link,
    /// Becomes true with the first pairing.
    was_paired: &'a mut bool,
    /// Clocks of the game that was lost last with its connection.
    lost_game: &'a mut Option<GameClock>,
    phase: Phase,
    /// The last request for a move. Counts through all games, so that no two requests share a number.
    request: OpenRequest,
    /// The server's last `INFO`, if nothing of weight came after it: the reason of what comes next.
    last_info: Option<String>,
    /// Arrival of the last line.
    last_line: Instant,
    /// Messages of the protocol that have come.
    messages: u64,
    first_message: FirstMessage,
    /// Games until we leave.
    games_left: &'a mut Option<u32>,
    skipped: Skipped,
    /// `INFO` lines that are shown.
    info_lines: Ration,
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Player(#[from] PlayerGone),
    /// The answer is HTTP.
    #[error("not TCP: {0:?}")]
    NotTcp(String),
}

impl<'a> Connection<'a> {
    pub(super) fn new(
        config: &'a Config,
        lobby: &'a Lobby,
        link: &'a mut Link,
        was_paired: &'a mut bool,
        lost_game: &'a mut Option<GameClock>,
        games_left: &'a mut Option<u32>,
    ) -> Self {
        Connection {
            config,
            lobby,
            link,
            was_paired,
            lost_game,
            phase: Phase::Waiting,
            request: OpenRequest::default(),
            last_info: None,
            last_line: Instant::now(),
            messages: 0,
            first_message: FirstMessage::new(&config.address, &config.timeouts),
            info_lines: Ration::new(INFO_LINES),
            games_left,
            skipped: Skipped::default(),
        }
    }

    /// Joins and plays until `soon` is cancelled and no game is running, or all our games are played.
    pub(super) async fn run(mut self, soon: impl Future<Output = ()>) -> Result<(), ConnectionError> {
        let Config { tournament, player, key, .. } = self.config;
        let tournament = tournament.to_string();
        let player = player.to_string();
        let key = key.as_ref().map(|key| JoinKey(key.expose().to_owned()));
        let join = FromClient::Join { tournament, player, key };
        let ended = match self.say(&join, None) {
            Ok(()) => self.play(soon).await,
            Err(error) => Err(error.into()),
        };
        if let (Err(lost), Phase::Playing(game)) = (&ended, self.phase) {
            *self.lost_game = Some(game.clock);
            game.ended(format!("connection lost: {lost}"), None).await;
        }
        ended
    }

    async fn play(&mut self, soon: impl Future<Output = ()>) -> Result<(), ConnectionError> {
        let mut soon = std::pin::pin!(soon);
        while *self.games_left != Some(0) {
            let silence = self.silence();
            let silent_at = silence.map(|limit| self.last_line + limit);
            let first_due = self.first_message.due();
            let trouble = tokio::select! {
                biased;
                () = &mut soon, if !matches!(self.phase, Phase::Playing(_)) => return Ok(()),
                event = self.link.next() => match event {
                    LinkEvent::Closed(error) => return Err(self.closed(error)),
                    LinkEvent::Line(line) => self.line(line).await,
                    LinkEvent::Sent { turn, at } => self.sent(turn, at).await,
                },
                action = or_never(self.phase.game().map(Game::action)) => match action {
                    Ok(Action::Play { turn, mv, .. }) => self.answer(turn, mv),
                    Ok(Action::Resign { .. }) => Ok(self.resign("the player gives up")?),
                    Ok(Action::Leave { .. }) => Ok(self.resign("the player's engine has failed")?),
                    Err(gone) => Err(gone.into()),
                },
                () = until(first_due) => Ok(self.ask_for_first_message()?),
                () = until(silent_at) => return Err(ConnectionError::Silent(silence.unwrap_or_default())),
            };
            match trouble {
                Ok(()) => {}
                Err(Trouble::Link(error)) => return Err(self.closed(error)),
                Err(Trouble::Player(gone)) => self.resign(&gone.to_string())?,
                Err(Trouble::NotTcp(line)) => return Err(ConnectionError::NotTcp(line)),
            }
        }
        Ok(())
    }

    /// Limit for the server's silence; none while it waits for players.
    fn silence(&self) -> Option<Duration> {
        let timeouts = &self.config.timeouts;
        match self.phase {
            Phase::Waiting => None,
            Phase::Acked(_) => Some(timeouts.ack),
            Phase::Playing(_) | Phase::Resigned(_) => Some(timeouts.silence),
        }
    }

    /// Adds the server's last message, which explains best why it closed.
    fn closed(&mut self, error: LinkError) -> ConnectionError {
        match self.last_info.take() {
            Some(message) if ends_tournament(&message) => ConnectionError::TournamentOver(message),
            Some(message) if self.is_refusal(&message) => ConnectionError::JoinRefused(message),
            Some(message) => ConnectionError::Dismissed { error, message },
            None if self.messages == 0 && !self.config.address.is_websocket() => ConnectionError::Unanswered,
            None => ConnectionError::Link(error),
        }
    }

    /// Returns whether a message before the close refuses our `JOIN`.
    fn is_refusal(&self, message: &str) -> bool {
        self.messages == 1 && self.first_message.has_just_begun() && may_refuse(message)
    }

    /// Does what is due while nothing has come.
    fn ask_for_first_message(&mut self) -> Result<(), LinkError> {
        match self.first_message.next() {
            Some(Step::Probe) => {
                debug!("no answer to JOIN yet; sending empty lines, which a server for HTTP answers");
                self.link.send(EMPTY_LINES.to_owned(), None)
            }
            Some(Step::Warn) => {
                warn!(
                    "no answer to JOIN within {} s; some servers are silent until another player comes, otherwise check \
                     the port in `address`, and its scheme: tcp:// for a TCP port, ws:// for a WebSocket port",
                    self.config.timeouts.join.as_secs()
                );
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn line(&mut self, Incoming { line, read_at }: Incoming) -> Result<(), Trouble> {
        self.last_line = Instant::now();
        if let Ok(line) = &line
            && self.messages == 0
            && line.starts_with("HTTP/")
        {
            return Err(Trouble::NotTcp(line.clone()));
        }
        let message = line.map_err(|bad| bad.to_string());
        match message.and_then(|line| FromServer::parse(&line).map_err(|error| error.to_string())) {
            Ok(message) => {
                self.messages += 1;
                self.first_message.has_come();
                self.message(message, read_at).await
            }
            Err(why) => {
                self.skipped.report(&why);
                Ok(())
            }
        }
    }

    async fn message(&mut self, message: FromServer, read_at: std::time::Instant) -> Result<(), Trouble> {
        let info = match &message {
            // Neither has to do with what the server says next.
            FromServer::ClockUpdate(_) | FromServer::Said { .. } => self.last_info.clone(),
            _ => self.last_info.take(),
        };
        match message {
            FromServer::Info { text } => {
                match !ends_tournament(&text) && self.info_lines.take() {
                    true => info!("the server says: {text:?}"),
                    // An end is reported with its connection's, not each time that we ask.
                    false => debug!("the server says: {text:?}"),
                }
                self.last_info = Some(text);
            }
            FromServer::Said { sender, text } => debug!("{sender:?} says: {text:?}"),
            FromServer::GamePaired { game, names, time_control } => {
                match game::color_of(self.config.player.as_str(), &names) {
                    Some(color) => self.paired(Pairing { game, names, color, time_control }).await?,
                    None => self.not_ours(&game),
                }
            }
            FromServer::GameStarted(state) => self.started(state).await?,
            FromServer::YourMove(state) => match self.playing(&state.game) {
                Some((game, request)) => game.your_move(request, state, read_at, info.as_deref()).await?,
                None => self.not_ours(&state.game),
            },
            FromServer::ClockUpdate(state) => match self.playing(&state.game) {
                Some((game, request)) => game.clock_update(request, &state, read_at).await?,
                None => self.not_ours(&state.game),
            },
            FromServer::PlayerMoved { mover, mv, state } => match self.playing(&state.game) {
                Some((game, request)) => game.moved(request, &mover, &mv, state, read_at).await?,
                None => self.not_ours(&state.game),
            },
            FromServer::GameOver { game, result, reason } if self.is_ours(&game) => {
                *self.games_left = self.games_left.map(|games| games.saturating_sub(1));
                self.over(format!("{} {reason}", result_text(result)), Some(result)).await;
            }
            FromServer::GameOver { game, .. } => self.not_ours(&game),
            FromServer::GameAborted { reason } => self.over(format!("aborted: {reason}"), None).await,
            FromServer::GameState(state) => self.not_ours(&state.game),
        }
        Ok(())
    }

    /// Acknowledges a pairing. If one comes during a game, that game's end was lost.
    async fn paired(&mut self, pairing: Pairing) -> Result<(), Trouble> {
        if self.is_ours(&pairing.game) {
            debug!("paired again for game {:?}", pairing.game);
            return Ok(());
        }
        self.over("unknown: the server began another game".to_owned(), None).await;
        let [white, black] = &pairing.names.0;
        info!("game {:?}: {white:?} against {black:?}, {}", pairing.game, pairing.time_control);
        self.say(&FromClient::Ack { game: pairing.game.clone() }, None)?;
        self.phase = Phase::Acked(pairing);
        (*self.was_paired, *self.lost_game) = (true, None);
        Ok(())
    }

    async fn started(&mut self, state: State) -> Result<(), Trouble> {
        let pairing = match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Acked(pairing) if pairing.game == state.game => pairing,
            other => {
                self.phase = other;
                self.not_ours(&state.game);
                return Ok(());
            }
        };
        let info = pairing.info(self.config.address.to_string(), state.fen);
        match self.lobby.open(info).await {
            Ok(seat) => {
                self.phase = Phase::Playing(Game::new(pairing, seat));
                self.request.clear();
                Ok(())
            }
            Err(declined) => {
                self.phase = Phase::Acked(pairing);
                Ok(self.resign(&declined.to_string())?)
            }
        }
    }

    /// Resigns the game, for which there is no player.
    fn resign(&mut self, why: &str) -> Result<(), LinkError> {
        let pairing = match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Playing(game) => game.pairing,
            Phase::Acked(pairing) => pairing,
            other => {
                self.phase = other;
                return Ok(());
            }
        };
        warn!("game {:?}: resigning: {why}", pairing.game);
        self.say(&FromClient::Resign { game: pairing.game.clone() }, None)?;
        self.phase = Phase::Resigned(pairing);
        Ok(())
    }

    async fn over(&mut self, result: String, outcome: Option<GameResult>) {
        if let Some(pairing) = self.phase.pairing() {
            debug!("game {:?} is over: {result:?}", pairing.game);
        }
        if let Phase::Playing(game) = std::mem::replace(&mut self.phase, Phase::Waiting) {
            game.ended(result, outcome).await;
        }
    }

    fn answer(&mut self, turn: Turn, mv: MoveText) -> Result<(), Trouble> {
        let Some(game) = self.phase.game() else { return Ok(()) };
        if !self.request.answer(turn, ()) {
            debug!("game {:?}: {mv} came too late for turn {}", game.pairing.game, turn.0);
            return Ok(());
        }
        let answer = game.answer(mv);
        Ok(self.say(&answer, Some(turn))?)
    }

    async fn sent(&mut self, turn: Turn, at: std::time::Instant) -> Result<(), Trouble> {
        match self.phase.game() {
            Some(game) => Ok(game.sent(turn, at).await?),
            None => Ok(()),
        }
    }

    /// Returns the game in progress, if it has this name, and the last request for a move.
    fn playing(&mut self, game: &str) -> Option<(&mut Game, &mut OpenRequest)> {
        let playing = self.phase.game().filter(|playing| playing.pairing.game == game)?;
        Some((playing, &mut self.request))
    }

    fn is_ours(&self, game: &str) -> bool {
        self.phase.pairing().is_some_and(|pairing| pairing.game == game)
    }

    /// Ignores games that we watch or have left; the server closes on an answer to them.
    fn not_ours(&self, game: &str) {
        debug!("nothing to do for game {game:?}");
    }

    fn say(&self, message: &FromClient, answers: Option<Turn>) -> Result<(), LinkError> {
        match message {
            FromClient::Join { tournament, player, key: Some(_) } => debug!("> JOIN {tournament} {player} …"),
            message => debug!("> {}", message.to_line()),
        }
        self.link.send(message.to_line(), answers)
    }
}

/// Returns whether a server that says this, and closes, has no more games for us. There is no message for it, only
/// text.
fn ends_tournament(info: &str) -> bool {
    let info = info.to_ascii_lowercase();
    info.contains("tournament")
        && [" is over", " is finished", " has finished", " has ended"].iter().any(|end| info.contains(end))
}

/// Returns whether a server that says only this, and closes, may have refused our `JOIN`. There is only text for this, too:
/// neither a greeting nor "try again later" is a refusal.
fn may_refuse(info: &str) -> bool {
    let info = info.to_ascii_lowercase();
    !["joined tournament", "try again"].iter().any(|other| info.contains(other))
}
