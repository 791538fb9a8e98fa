//! One connection to a contest server, from `JOIN` to the end of it: pairings and games, one after another.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, info, warn};

use zeitnot_net::Incoming;
use zeitnot_rules::MoveText;
use zeitnot_seat::{Action, Lobby, Turn};
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer, State, result_text},
};

use super::{Config, Lost, Paired, game};
use crate::link::{Heard, Link, LinkError};
use game::{Game, PlayerGone};

/// A lobby that takes longer than this to find a player has none.
const LOBBY_PATIENCE: Duration = Duration::from_secs(5);
/// So many odd lines are reported loudly; a server that sends more of them shall not fill a disk.
const LOUD: u32 = 10;

/// What a session is doing.
#[derive(Debug)]
enum Phase {
    /// Nothing, until the server pairs us.
    Waiting,
    /// We said that we are ready.
    Acked(Paired),
    /// A player is at it.
    Playing(Game),
    /// We have resigned; the server has not said yet that it is over.
    Resigned(Paired),
}

/// The actor of one connection.
pub(super) struct Session<'a> {
    config: &'a Config,
    lobby: &'a Lobby,
    link: &'a mut Link,
    phase: Phase,
    /// The last request for a move. Counts through all games, so that no two requests share one.
    turn: Turn,
    /// The server's last `INFO`, if nothing of weight came after it: the reason of what comes next.
    words: Option<String>,
    /// When we last heard anything.
    heard: Instant,
    /// Lines passed over.
    skipped: u32,
}

/// Why a message could not be dealt with.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Player(#[from] PlayerGone),
}

impl<'a> Session<'a> {
    pub(super) fn new(config: &'a Config, lobby: &'a Lobby, link: &'a mut Link) -> Self {
        Session {
            config,
            lobby,
            link,
            phase: Phase::Waiting,
            turn: Turn::default(),
            words: None,
            heard: Instant::now(),
            skipped: 0,
        }
    }

    /// Joins and plays. Returns when `soon` is cancelled and no game is running, or with why it had to end.
    pub(super) async fn run(mut self, soon: impl Future<Output = ()>) -> Result<(), Lost> {
        let Config { tournament, player, .. } = self.config;
        let join = FromClient::Join { tournament: tournament.to_string(), player: player.to_string() };
        let ended = match self.say(&join, None) {
            Ok(()) => self.play(soon).await,
            Err(error) => Err(error.into()),
        };
        if let (Err(lost), Phase::Playing(game)) = (&ended, self.phase) {
            game.ended(format!("connection lost: {lost}")).await;
        }
        ended
    }

    async fn play(&mut self, soon: impl Future<Output = ()>) -> Result<(), Lost> {
        let mut soon = std::pin::pin!(soon);
        loop {
            let silence = self.silence();
            let trouble = tokio::select! {
                biased;
                () = &mut soon, if !matches!(self.phase, Phase::Playing(_)) => return Ok(()),
                heard = self.link.next() => match heard {
                    Heard::Lost(error) => return Err(self.lost(error)),
                    Heard::Line(line) => self.line(line).await,
                    Heard::Sent { turn, at } => self.sent(turn, at).await,
                },
                action = action(&mut self.phase) => match action {
                    Ok(Action::Play { turn, mv, .. }) => self.answer(turn, mv),
                    Ok(Action::Resign { .. }) => Ok(self.resign("the player gives up")?),
                    Err(gone) => Err(gone.into()),
                },
                limit = silent(self.heard, silence) => return Err(Lost::Silent(limit)),
            };
            match trouble {
                Ok(()) => {}
                Err(Trouble::Link(error)) => return Err(self.lost(error)),
                Err(Trouble::Player(gone)) => self.resign(&gone.to_string())?,
            }
        }
    }

    /// How long the server may be silent now. While it waits for players it may be so for ever.
    fn silence(&self) -> Option<Duration> {
        let patience = &self.config.patience;
        match self.phase {
            Phase::Waiting => None,
            Phase::Acked(_) => Some(patience.ack),
            Phase::Playing(_) | Phase::Resigned(_) => Some(patience.silence),
        }
    }

    /// The server's last words tell best why it closed.
    fn lost(&mut self, error: LinkError) -> Lost {
        match self.words.take() {
            Some(words) => Lost::Dismissed { error, words },
            None => Lost::Link(error),
        }
    }

    async fn line(&mut self, Incoming { line, read_at }: Incoming) -> Result<(), Trouble> {
        self.heard = Instant::now();
        let message = match line {
            Ok(line) => FromServer::parse(&line).map_err(|e| e.to_string()),
            Err(bad) => Err(bad.to_string()),
        };
        match message {
            Ok(message) => self.message(message, read_at).await,
            Err(why) => {
                self.skip(&why);
                Ok(())
            }
        }
    }

    async fn message(&mut self, message: FromServer, read_at: std::time::Instant) -> Result<(), Trouble> {
        let words = match &message {
            // Neither says anything about what the server thinks of us.
            FromServer::ClockUpdate(_) | FromServer::Said { .. } => self.words.clone(),
            _ => self.words.take(),
        };
        match message {
            FromServer::Info { text } => {
                // Chatter, and no bound on how much of it.
                debug!("the server says: {text:?}");
                self.words = Some(text);
            }
            FromServer::Said { sender, text } => debug!("{sender:?} says: {text:?}"),
            FromServer::GamePaired { game, names, time_control } => {
                match game::side_of(self.config.player.as_str(), &names) {
                    Some(side) => self.paired(Paired { game, names, side, time_control }).await?,
                    None => self.not_ours(&game),
                }
            }
            FromServer::GameStarted(state) => self.started(state).await?,
            FromServer::YourMove(state) => match self.playing(&state.game) {
                Some((game, turn)) => {
                    *turn = turn.next();
                    game.your_move(*turn, state, read_at, words.as_deref()).await?;
                }
                None => self.not_ours(&state.game),
            },
            FromServer::ClockUpdate(state) => match self.playing(&state.game) {
                Some((game, _)) => game.clock_update(&state, read_at).await?,
                None => self.not_ours(&state.game),
            },
            FromServer::PlayerMoved { mover, mv, state } => match self.playing(&state.game) {
                Some((game, _)) => game.moved(&mover, &mv, state, read_at).await?,
                None => self.not_ours(&state.game),
            },
            FromServer::GameOver { game, result, reason } if self.is_ours(&game) => {
                self.over(format!("{} {reason}", result_text(result))).await;
            }
            FromServer::GameOver { game, .. } => self.not_ours(&game),
            FromServer::GameAborted { reason } => self.over(format!("aborted: {reason}")).await,
            FromServer::GameState(state) => self.not_ours(&state.game),
        }
        Ok(())
    }

    /// A pairing while we play: the end of the last game was lost on the way.
    async fn paired(&mut self, paired: Paired) -> Result<(), Trouble> {
        if self.is_ours(&paired.game) {
            debug!("paired again for game {:?}", paired.game);
            return Ok(());
        }
        self.over("unknown: the server began another game".to_owned()).await;
        let [white, black] = &paired.names.0;
        info!("game {:?}: {white:?} against {black:?}, {}", paired.game, paired.time_control);
        self.say(&FromClient::Ack { game: paired.game.clone() }, None)?;
        self.phase = Phase::Acked(paired);
        Ok(())
    }

    async fn started(&mut self, state: State) -> Result<(), Trouble> {
        let paired = match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Acked(paired) if paired.game == state.game => paired,
            other => {
                self.phase = other;
                self.not_ours(&state.game);
                return Ok(());
            }
        };
        let info = game::info(&paired, self.config.address.to_string(), state.fen);
        let why = match timeout(LOBBY_PATIENCE, self.lobby.open(info)).await {
            Ok(Ok(seat)) => {
                self.phase = Phase::Playing(Game::new(paired, seat));
                return Ok(());
            }
            Ok(Err(declined)) => declined.to_string(),
            Err(_) => "nobody came to play".to_owned(),
        };
        self.phase = Phase::Acked(paired);
        Ok(self.resign(&why)?)
    }

    /// The server need not wait for a player that we do not have.
    fn resign(&mut self, why: &str) -> Result<(), LinkError> {
        let paired = match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Playing(game) => game.paired,
            Phase::Acked(paired) => paired,
            other => {
                self.phase = other;
                return Ok(());
            }
        };
        warn!("game {:?}: resigning: {why}", paired.game);
        self.say(&FromClient::Resign { game: paired.game.clone() }, None)?;
        self.phase = Phase::Resigned(paired);
        Ok(())
    }

    /// Whatever was paired or played is over.
    async fn over(&mut self, result: String) {
        match std::mem::replace(&mut self.phase, Phase::Waiting) {
            Phase::Playing(game) => {
                debug!("game {:?} is over: {result:?}", game.paired.game);
                game.ended(result).await;
            }
            Phase::Acked(paired) | Phase::Resigned(paired) => {
                debug!("game {:?} is over: {result:?}", paired.game);
            }
            Phase::Waiting => {}
        }
    }

    fn answer(&mut self, turn: Turn, mv: MoveText) -> Result<(), Trouble> {
        let Phase::Playing(game) = &mut self.phase else { return Ok(()) };
        match game.answer(turn, mv) {
            Some(line) => Ok(self.say(&line, Some(turn))?),
            None => {
                debug!("game {:?}: {mv} came too late for turn {}", game.paired.game, turn.0);
                Ok(())
            }
        }
    }

    async fn sent(&mut self, turn: Turn, at: std::time::Instant) -> Result<(), Trouble> {
        match &self.phase {
            Phase::Playing(game) => Ok(game.sent(turn, at).await?),
            _ => Ok(()),
        }
    }

    /// The game that is played, if it has this name, and the count of turns.
    fn playing(&mut self, game: &str) -> Option<(&mut Game, &mut Turn)> {
        match &mut self.phase {
            Phase::Playing(playing) if playing.paired.game == game => Some((playing, &mut self.turn)),
            _ => None,
        }
    }

    /// Is this the game that we are in, in whatever way?
    fn is_ours(&self, game: &str) -> bool {
        match &self.phase {
            Phase::Waiting => false,
            Phase::Acked(paired) | Phase::Resigned(paired) => paired.game == game,
            Phase::Playing(playing) => playing.paired.game == game,
        }
    }

    /// Games that we watch, or left: nothing to do. An answer would close the connection.
    fn not_ours(&self, game: &str) {
        debug!("nothing to do for game {game:?}");
    }

    fn skip(&mut self, why: &str) {
        self.skipped = self.skipped.saturating_add(1);
        if self.skipped <= LOUD {
            warn!("skipped what the server said: {why:?}");
        } else {
            debug!("skipped what the server said: {why:?}");
        }
    }

    fn say(&self, message: &FromClient, answers: Option<Turn>) -> Result<(), LinkError> {
        let line = message.to_line();
        debug!("> {line}");
        self.link.send(line, answers)
    }
}

/// The player's next wish, if there is a player.
async fn action(phase: &mut Phase) -> Result<Action, PlayerGone> {
    match phase {
        Phase::Playing(game) => game.action().await,
        _ => pending().await,
    }
}

/// Sleeps until nothing was heard for the limit, if there is one.
async fn silent(heard: Instant, limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            sleep_until(heard + limit).await;
            limit
        }
        None => pending().await,
    }
}
