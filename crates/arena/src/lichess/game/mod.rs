//! One game: board, clocks, offers, chat, its streams, and its end. Synchronous: every instant is passed in.

use std::{mem::take, time::Duration};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::{sync::oneshot, time::Instant};
use zeitnot_host::{
    database::MAX_WAIT,
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::view::{Person, Source},
    panic_guard,
};
use zeitnot_referee::{Adjudication, Cause, Ending, Expiry, OfferChange, Referee, RefereeRules, Untimed};
use zeitnot_rules::{ByColor, Color, DynGame, GameResult, MoveText, Reason};
use zeitnot_wire::lichess::{Chat, ChatLine, GameId, GameMessage, Room, Status, Title, UserId};

use super::{accounts::unix_now, terms::Terms};

mod class;
mod presence;
mod state;
mod watching;

pub(super) use class::ClassGame;
use presence::Presence;

/// Longer games are drawn, as on Lichess.
const MAX_MOVES: u32 = 300;
/// Once both have moved, clocks run and nothing can be aborted.
const BEGUN: usize = 2;
const MAX_CHAT_TEXT: usize = 140;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Player {
    pub(super) id: UserId,
    pub(super) name: String,
    pub(super) title: Option<Title>,
    pub(super) rating: Option<i32>,
    pub(super) provisional: bool,
    /// Plays by another protocol: not the account of that name, if there is one.
    pub(super) is_guest: bool,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct GameTimeouts {
    pub(super) first_move: Duration,
    pub(super) gone_after: Duration,
    pub(super) claim_after: Duration,
}

#[derive(Debug)]
pub(super) enum GameAction {
    Move { text: String, offers_draw: bool },
    Draw(bool),
    Takeback(bool),
    Resign,
    Abort,
    Chat(Chat),
    ClaimVictory,
    ClaimDraw,
}

/// Game that is to be played, or was played before a restart.
#[derive(Debug)]
pub(super) struct GameSetup {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) board: DynGame,
    pub(super) players: ByColor<Player>,
    /// Time since 1970.
    pub(super) created: Duration,
}

#[derive(Debug)]
pub(super) struct Game {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) players: ByColor<Player>,
    /// Time since 1970, as is that of the last move.
    pub(super) created: Duration,
    pub(super) last_move: Duration,
    pub(super) hosted: HostedGame<DynGame>,
    /// The latest time to tell an end that is on its way to the disk; `None` while the game runs and once it is told.
    tell_by: Option<Instant>,
    /// Requests that are answered when the end is told.
    waiting: Vec<oneshot::Sender<()>>,
    pub(super) rating_diffs: Option<ByColor<i32>>,
    /// After a restart: until when the clocks wait for players to return.
    returning: Option<Instant>,
    pub(super) class: Option<ClassGame>,
    timeouts: GameTimeouts,
    presence: Presence,
}

fn refuse(why: &str) -> Result<(), String> {
    Err(why.to_owned())
}

impl Game {
    pub(super) fn new(setup: GameSetup, timeouts: GameTimeouts, host: Host, now: Instant) -> Game {
        let GameSetup { id, terms, board, players, created } = setup;
        let info = GameInfo {
            id: id.to_string().into(),
            players: ByColor(players.0.each_ref().map(person)),
            time_control: Some(terms.time),
            began: OffsetDateTime::UNIX_EPOCH + created,
            ..GameInfo::new(Source::Lichess, &board, ByColor(["", ""]))
        };
        let referee = Referee::new(board, ByColor::both(terms.allowance()), rules(timeouts), now);
        Game {
            id,
            hosted: HostedGame::new(info, referee, host),
            terms,
            players,
            created,
            last_move: created,
            tell_by: None,
            waiting: Vec::new(),
            rating_diffs: None,
            returning: None,
            class: None,
            timeouts,
            presence: Presence::new(now),
        }
    }

    pub(super) fn color_of(&self, who: &UserId) -> Option<Color> {
        Color::BOTH.into_iter().find(|color| {
            let player = &self.players[*color];
            !player.is_guest && player.id == *who
        })
    }

    pub(super) fn board(&self) -> &DynGame {
        &self.hosted.referee.board
    }

    pub(super) fn has_moved(&self, color: Color) -> bool {
        self.hosted.referee.plies.len() > color as usize
    }

    pub(super) fn is_over(&self) -> bool {
        self.hosted.is_over()
    }

    /// Returns whether the end has been told: it is on the disk.
    pub(super) fn is_told(&self) -> bool {
        self.is_over() && self.tell_by.is_none()
    }

    /// Returns whether the end is on its way to the disk.
    pub(super) fn is_untold(&self) -> bool {
        self.tell_by.is_some()
    }

    /// Returns whether the disk has kept back the end for too long.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.tell_by.is_some_and(|latest| now >= latest)
    }

    pub(super) fn status(&self) -> Status {
        self.hosted.referee.ending.map_or(Status::Started, status)
    }

    pub(super) fn winner(&self) -> Option<Color> {
        match self.hosted.referee.ending?.result? {
            GameResult::Won(winner) => Some(winner),
            GameResult::Draw => None,
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.hosted.referee.plies.len() >= BEGUN
    }

    /// Runs a step of the game. If it panics, this game is aborted; the others go on.
    pub(super) fn contain<T>(&mut self, now: Instant, step: impl FnOnce(&mut Game) -> T) -> Option<T> {
        let done = panic_guard::contain(|| step(self));
        if let Err(panic) = &done {
            tracing::error!("Lichess: game {} broke down and is aborted: {panic}; please report it", self.id);
            if !self.is_over() {
                let ending = Ending { result: None, cause: Cause::InternalError };
                // The cause of the panic may strike again while the game ends.
                if panic_guard::contain(|| self.finish(ending.result, ending.cause, now)).is_err() {
                    self.hosted.referee.ending.get_or_insert(ending);
                    self.tell_by = Some(now + MAX_WAIT);
                }
            }
            self.close_streams();
        }
        done.ok()
    }

    /// Applies a player's action; the error is the server's text.
    pub(super) fn act(&mut self, color: Color, action: GameAction, now: Instant) -> Result<(), String> {
        self.check_time(now);
        match action {
            GameAction::Chat(chat) => self.say(color, chat),
            GameAction::Move { text, offers_draw } => return self.play(color, &text, offers_draw, now),
            _ if self.is_over() => return refuse("This game is already over"),
            GameAction::Draw(agrees) => self.draw(color, agrees, now),
            GameAction::Takeback(agrees) => self.takeback(color, agrees, now),
            GameAction::Resign if !self.can_abort() => self.lose(color, Cause::Resignation, now),
            GameAction::Abort if !self.can_abort() => return refuse("This game can no longer be aborted"),
            GameAction::Resign | GameAction::Abort => self.finish(None, Cause::Aborted, now),
            GameAction::ClaimVictory | GameAction::ClaimDraw if !self.can_claim(color, now) => {
                return refuse("You cannot claim this game: your opponent has not left it for long enough");
            }
            GameAction::ClaimVictory => self.lose(!color, Cause::Disconnect, now),
            GameAction::ClaimDraw => self.finish(Some(GameResult::Draw), Cause::Disconnect, now),
        }
        Ok(())
    }

    pub(super) fn can_abort(&self) -> bool {
        self.class.is_none() && self.hosted.referee.can_abort()
    }

    fn play(&mut self, color: Color, text: &str, offers_draw: bool, now: Instant) -> Result<(), String> {
        self.read_move(color, text)?;
        if offers_draw && self.hosted.referee.offers_draw(!color) {
            // The agreement ends the game before the move.
            self.draw(color, true, now);
            return Ok(());
        }
        self.resume_clock(color, now);
        self.hosted.referee.play(color, text, now, None).map_err(|_| invalid_move(text))?;
        self.last_move = unix_now();
        if offers_draw {
            self.hosted.referee.draw(color, true, now);
        }
        self.await_move(now);
        self.hosted.moved(now);
        self.settle(now);
        Ok(())
    }

    fn read_move(&self, color: Color, text: &str) -> Result<MoveText, String> {
        if self.is_over() || self.hosted.referee.turn() != color {
            return Err("Not your turn, or game already over".to_owned());
        }
        self.board().read(text).map_err(|_| invalid_move(text))
    }

    /// Notes an end that the referee has stated, or tells the state.
    fn settle(&mut self, now: Instant) {
        match self.is_over() {
            true => self.tell_by = Some(now + MAX_WAIT),
            false => self.tell_state(now),
        }
    }

    fn draw(&mut self, color: Color, agrees: bool, now: Instant) {
        match self.hosted.referee.draw(color, agrees, now) {
            Some(OfferChange::Made) => self.announce(&format!("{} offers draw", name(color))),
            Some(OfferChange::Declined) => self.announce(&format!("{} declines draw", name(color))),
            Some(OfferChange::Accepted | OfferChange::Withdrawn) => {}
            None => return,
        }
        self.settle(now);
    }

    fn takeback(&mut self, color: Color, agrees: bool, now: Instant) {
        let Some(change) = self.hosted.referee.takeback(color, agrees, now) else { return };
        if change == OfferChange::Accepted {
            self.await_move(now);
            self.hosted.changed(now);
        }
        self.announce(match change {
            OfferChange::Made => "Takeback sent",
            OfferChange::Accepted => "Takeback accepted",
            OfferChange::Declined => "Takeback declined",
            OfferChange::Withdrawn => "Takeback cancelled",
        });
        self.tell_state(now);
    }

    fn say(&self, color: Color, Chat { room, text }: Chat) {
        let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_CHAT_TEXT).collect();
        if !text.trim().is_empty() {
            self.tell_chat(room, self.players[color].name.clone(), text);
        }
    }

    fn announce(&self, text: &str) {
        self.tell_chat(Room::Player, "lichess".into(), text.to_owned());
    }

    fn tell_chat(&self, room: Room, username: String, text: String) {
        self.presence.tell(&GameMessage::ChatLine(ChatLine { room, username, text }));
    }

    /// Asks for the next move. After a restart the clock waits for its player.
    fn await_move(&mut self, now: Instant) {
        let is_awaited = self.returning.is_some() && !self.presence.is_there(self.hosted.referee.turn());
        if !(is_awaited && self.has_begun()) {
            self.hosted.referee.await_move(now);
        }
    }

    /// After a restart the clocks stand until the players are back, but not for ever.
    pub(super) fn await_players(&mut self, now: Instant) {
        self.returning = Some(now + self.timeouts.first_move);
    }

    fn resume_clock(&mut self, color: Color, now: Instant) {
        if self.returning.is_some() && color == self.hosted.referee.turn() {
            self.ensure_clock(now);
        }
    }

    fn ensure_clock(&mut self, now: Instant) {
        if self.has_begun() && !self.is_over() && !self.hosted.referee.clock.is_running() {
            self.hosted.referee.await_move(now);
        }
    }

    /// Applies the passing of time: flags, missing first moves, players who are gone.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.returning.is_some_and(|until| now >= until) {
            self.returning = None;
            self.ensure_clock(now);
        }
        self.check_time(now);
        Color::BOTH.into_iter().for_each(|color| self.update_presence(color, now));
    }

    fn check_time(&mut self, now: Instant) {
        if !self.is_over() && self.class.is_none() && self.hosted.referee.check_time(now) {
            self.settle(now);
        }
    }

    /// Ends the game without telling anybody yet.
    pub(super) fn finish(&mut self, result: Option<GameResult>, cause: Cause, now: Instant) {
        self.hosted.referee.end(result, cause, now);
        self.settle(now);
    }

    pub(super) fn lose(&mut self, color: Color, cause: Cause, now: Instant) {
        self.finish(Some(GameResult::Won(!color)), cause, now);
    }

    /// Tells the end: the streams get the last state, and close.
    pub(super) fn tell_end(&mut self, now: Instant) {
        if self.tell_by.take().is_none() {
            return;
        }
        let waiting = take(&mut self.waiting);
        self.hosted.tell_end(now);
        self.tell_state(now);
        self.close_streams();
        for request in waiting {
            // An error means that its connection is closed.
            let _ = request.send(());
        }
    }

    /// Returns a receiver of the moment when the end is told, if it is on its way to the disk.
    pub(super) fn wait_for_end(&mut self) -> Option<oneshot::Receiver<()>> {
        self.tell_by?;
        let (request, told) = oneshot::channel();
        self.waiting.push(request);
        Some(told)
    }

    pub(super) fn tell_state(&self, now: Instant) {
        self.presence.tell(&GameMessage::GameState(self.state(now)));
    }
}

fn invalid_move(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(10).collect();
    format!("Invalid UCI: {shown}")
}

fn name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

fn rules(timeouts: GameTimeouts) -> RefereeRules {
    let untimed = Untimed { plies: BEGUN, limit: timeouts.first_move, expiry: Expiry::Abort };
    RefereeRules {
        flag_needs_winner: true,
        untimed: Some(untimed),
        abort_before: BEGUN,
        draw_offers_from: Some(BEGUN),
        adjudication: Adjudication { max_moves: Some(MAX_MOVES), ..Adjudication::default() },
        ..RefereeRules::default()
    }
}

/// Returns the status of a game that has ended so.
fn status(Ending { result, cause }: Ending) -> Status {
    match (cause, result) {
        (Cause::Shutdown, None) => Status::UnknownFinish,
        (_, None) => Status::Aborted,
        (Cause::OutOfTime, _) => Status::OutOfTime,
        (Cause::Disconnect, _) => Status::Timeout,
        (Cause::Resignation, _) => Status::Resign,
        (Cause::Rules(Reason::VariantEnd), Some(GameResult::Won(_))) => Status::VariantEnd,
        (_, Some(GameResult::Won(_))) => Status::Mate,
        (Cause::Rules(Reason::Stalemate), _) => Status::Stalemate,
        (_, Some(GameResult::Draw)) => Status::Draw,
    }
}

/// Returns the end of a stored game with that status.
pub(super) fn ending(status: &Status, winner: Option<Color>) -> Ending {
    let cause = match status {
        Status::Aborted | Status::NoStart => Cause::Aborted,
        Status::UnknownFinish => Cause::Shutdown,
        Status::OutOfTime => Cause::OutOfTime,
        Status::Timeout => Cause::Disconnect,
        Status::Resign => Cause::Resignation,
        Status::VariantEnd => Cause::Rules(Reason::VariantEnd),
        Status::Stalemate => Cause::Rules(Reason::Stalemate),
        Status::Mate => Cause::Rules(Reason::Checkmate),
        _ => Cause::Agreement,
    };
    let result = match cause {
        Cause::Aborted | Cause::Shutdown => None,
        _ => Some(winner.map_or(GameResult::Draw, GameResult::Won)),
    };
    Ending { result, cause }
}

fn person(player: &Player) -> Person {
    let bot = player.title.as_ref().is_some_and(|title| *title == Title::Bot);
    Person { name: player.name.clone(), rating: player.rating, bot: Some(bot) }
}
