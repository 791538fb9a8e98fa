//! One game: board, clocks, offers, chat, its streams, and its end. Synchronous: every instant is passed in.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, DynGame, MoveText, Outcome, Reason};
use zeitnot_wire::{
    Message,
    lichess::{
        Chat, ChatLine, Expiration, GameFull, GameId, GameMessage, GameState, Player as WirePlayer, Room,
        Status, TimeControl, Title, TournamentId, UserId,
    },
    pgn::Ply,
};

use super::{
    clock::Clock,
    presence::Presence,
    streams::{Lines, feed},
    terms::Terms,
};
use crate::tag::GameTag;

/// Longer games are drawn, as on Lichess: 300 moves.
const MAX_PLIES: usize = 600;
/// Once both have moved, clocks run and nothing can be aborted.
const BEGUN: usize = 2;
const MAX_CHAT_TEXT: usize = 140;
const MAX_CHAT_LINES: usize = 200;
/// The time shown in games without a clock.
const NO_CLOCK: Duration = Duration::from_millis(i32::MAX as u64);

/// A player of one game.
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

/// The configured waiting times.
#[derive(Copy, Clone, Debug)]
pub(super) struct GameTimeouts {
    pub(super) first_move: Duration,
    pub(super) gone_after: Duration,
    pub(super) claim_after: Duration,
}

/// An action of a player.
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
    Berserk,
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: Status,
    pub(super) winner: Option<Color>,
}

/// The tournament that a game belongs to.
#[derive(Copy, Clone, Debug)]
pub(super) struct TournamentGame {
    pub(super) id: TournamentId,
    pub(super) has_berserk: bool,
}

/// A game that a class tournament referees.
#[derive(Clone, Debug)]
pub(super) struct ClassGame {
    /// Its name there.
    pub(super) tag: GameTag,
    /// The account whose messages are applied; those of the other one only repeat them.
    pub(super) witness: UserId,
    /// Ply at which a move was last passed on.
    pub(super) passed_on: Option<usize>,
}

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Game {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) players: ByColor<Player>,
    pub(super) created: OffsetDateTime,
    pub(super) last_move: OffsetDateTime,
    pub(super) board: DynGame,
    pub(super) plies: Vec<Ply>,
    pub(super) clock: Option<Clock>,
    pub(super) draw_offers: ByColor<bool>,
    pub(super) takeback_offers: ByColor<bool>,
    pub(super) chat: Vec<ChatLine>,
    pub(super) end: Option<End>,
    pub(super) rating_diffs: Option<ByColor<i32>>,
    /// After a restart: until when the clocks wait for players to return.
    returning: Option<Instant>,
    pub(super) class: Option<ClassGame>,
    pub(super) tournament: Option<TournamentGame>,
    pub(super) berserked: ByColor<bool>,
    /// Since when the next move is awaited.
    awaited: Instant,
    timeouts: GameTimeouts,
    presence: Presence,
}

fn refuse(why: &str) -> Result<(), String> {
    Err(why.to_owned())
}

impl Game {
    pub(super) fn new(
        id: GameId,
        terms: Terms,
        board: DynGame,
        players: ByColor<Player>,
        timeouts: GameTimeouts,
        now: Instant,
    ) -> Game {
        Game {
            id,
            clock: terms.clock(),
            terms,
            players,
            created: OffsetDateTime::now_utc(),
            last_move: OffsetDateTime::now_utc(),
            board,
            plies: Vec::new(),
            draw_offers: ByColor::both(false),
            takeback_offers: ByColor::both(false),
            chat: Vec::new(),
            end: None,
            rating_diffs: None,
            returning: None,
            class: None,
            tournament: None,
            berserked: ByColor::both(false),
            awaited: now,
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

    pub(super) fn color_to_move(&self) -> Color {
        self.board.side_to_move()
    }

    pub(super) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn status(&self) -> Status {
        self.end.as_ref().map_or(Status::Started, |end| end.status.clone())
    }

    pub(super) fn winner(&self) -> Option<Color> {
        self.end.as_ref().and_then(|end| end.winner)
    }

    fn has_begun(&self) -> bool {
        self.plies.len() >= BEGUN
    }

    /// Applies a player's action.
    ///
    /// # Errors
    /// The server's text of why it is refused.
    pub(super) fn act(&mut self, color: Color, action: GameAction, now: Instant) -> Result<(), String> {
        self.keep_time(now);
        match action {
            GameAction::Chat(chat) => self.say(color, chat),
            GameAction::Move { text, offers_draw } => return self.play(color, &text, offers_draw, now),
            _ if self.is_over() => return refuse("This game is already over"),
            GameAction::Berserk => return self.berserk(color, now),
            GameAction::Draw(agrees) => self.draw(color, agrees, now),
            GameAction::Takeback(agrees) => self.takeback(color, agrees, now),
            GameAction::Resign if !self.can_abort() => self.finish(Status::Resign, Some(!color), now),
            GameAction::Abort if !self.can_abort() => return refuse("This game can no longer be aborted"),
            GameAction::Resign | GameAction::Abort => self.finish(Status::Aborted, None, now),
            GameAction::ClaimVictory | GameAction::ClaimDraw if !self.can_claim(color, now) => {
                return refuse("You cannot claim this game: your opponent has not left it for long enough");
            }
            GameAction::ClaimVictory => self.finish(Status::Timeout, Some(color), now),
            GameAction::ClaimDraw => self.finish(Status::Timeout, None, now),
        }
        Ok(())
    }

    /// Tournament games are never aborted.
    pub(super) fn can_abort(&self) -> bool {
        !self.has_begun() && self.tournament.is_none()
    }

    fn play(&mut self, color: Color, text: &str, offers_draw: bool, now: Instant) -> Result<(), String> {
        let mv = self.read_move(color, text)?;
        if offers_draw && self.draw_offers[!color] {
            // The agreement ends the game before the move.
            self.finish(Status::Draw, None, now);
            return Ok(());
        }
        self.resume_clock(color, now);
        self.append(&mv).ok_or_else(|| invalid_move(text))?;
        if let Some(clock) = &mut self.clock {
            clock.press(now);
        }
        let left = self.clock.as_ref().map(|clock| clock.left(color, now));
        self.plies.last_mut().into_iter().for_each(|ply| ply.left = left);
        self.draw_offers[!color] = false;
        self.draw_offers[color] |= offers_draw && self.has_begun();
        self.takeback_offers = ByColor::both(false);
        (self.awaited, self.last_move) = (now, OffsetDateTime::now_utc());
        match self.verdict() {
            Some(End { status, winner }) => self.finish(status, winner, now),
            None => {
                self.start_clock(now);
                self.tell_state(now);
            }
        }
        Ok(())
    }

    fn read_move(&self, color: Color, text: &str) -> Result<MoveText, String> {
        if self.is_over() || self.color_to_move() != color {
            return Err("Not your turn, or game already over".to_owned());
        }
        self.board.read(text).map_err(|_| invalid_move(text))
    }

    fn append(&mut self, mv: &MoveText) -> Option<()> {
        let text = self.board.san(mv).ok()?;
        self.board.play(mv).ok()?;
        self.plies.push(Ply { text, left: None, eval: None });
        Some(())
    }

    /// Replays a saved or refereed move; `None` if it is not legal.
    pub(super) fn replay(&mut self, text: &str, left: Option<Duration>) -> Option<()> {
        let mv = self.board.read(text).ok()?;
        self.append(&mv)?;
        self.plies.last_mut()?.left = left;
        Some(())
    }

    fn verdict(&self) -> Option<End> {
        let (status, winner) = match self.board.outcome() {
            Outcome::Ongoing if self.plies.len() >= MAX_PLIES => (Status::Draw, None),
            Outcome::Ongoing => return None,
            Outcome::Win(winner, Reason::VariantEnd) => (Status::VariantEnd, Some(winner)),
            Outcome::Win(winner, _) => (Status::Mate, Some(winner)),
            Outcome::Draw(Reason::Stalemate) => (Status::Stalemate, None),
            Outcome::Draw(_) => (Status::Draw, None),
        };
        Some(End { status, winner })
    }

    fn draw(&mut self, color: Color, agrees: bool, now: Instant) {
        match (agrees, self.draw_offers[!color]) {
            (true, true) => return self.finish(Status::Draw, None, now),
            (true, false) if self.has_begun() && !self.draw_offers[color] => {
                self.draw_offers[color] = true;
                self.announce(&format!("{} offers draw", name(color)));
            }
            (false, true) => {
                self.draw_offers[!color] = false;
                self.announce(&format!("{} declines draw", name(color)));
            }
            (false, false) if self.draw_offers[color] => self.draw_offers[color] = false,
            _ => return,
        }
        self.tell_state(now);
    }

    fn takeback(&mut self, color: Color, agrees: bool, now: Instant) {
        match (agrees, self.takeback_offers[!color]) {
            (true, true) => {
                self.take_back(!color, now);
                self.announce("Takeback accepted");
            }
            (true, false) if self.ply_of_last_move(color).is_some() && !self.takeback_offers[color] => {
                self.takeback_offers[color] = true;
                self.announce("Takeback sent");
            }
            (false, true) => {
                self.takeback_offers[!color] = false;
                self.announce("Takeback declined");
            }
            (false, false) if self.takeback_offers[color] => {
                self.takeback_offers[color] = false;
                self.announce("Takeback cancelled");
            }
            _ => return,
        }
        self.tell_state(now);
    }

    fn ply_of_last_move(&self, color: Color) -> Option<usize> {
        let back = if self.color_to_move() == color { 2 } else { 1 };
        self.plies.len().checked_sub(back)
    }

    /// Undoes a side's last move and the answer to it.
    fn take_back(&mut self, color: Color, now: Instant) {
        let Some(ply) = self.ply_of_last_move(color) else { return };
        self.board.truncate(ply);
        self.plies.truncate(ply);
        (self.draw_offers, self.takeback_offers) = (ByColor::both(false), ByColor::both(false));
        self.awaited = now;
        if let Some(clock) = &mut self.clock {
            clock.stop(now);
        }
        self.start_clock(now);
    }

    /// Gives up half the time and the increment, for a point more.
    fn berserk(&mut self, color: Color, now: Instant) -> Result<(), String> {
        let is_possible = self.tournament.is_some_and(|tournament| tournament.has_berserk);
        let has_moved = self.plies.len() > color as usize;
        let can = is_possible && !has_moved && !self.berserked[color];
        let clock = self.clock.as_mut().filter(|_| can).ok_or("This game is not berserkable")?;
        clock.halve(color);
        self.berserked[color] = true;
        self.tell_state(now);
        Ok(())
    }

    fn say(&mut self, color: Color, Chat { room, text }: Chat) {
        let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_CHAT_TEXT).collect();
        if !text.trim().is_empty() {
            self.add_chat(ChatLine { room, username: self.players[color].name.clone(), text });
        }
    }

    fn announce(&mut self, text: &str) {
        self.add_chat(ChatLine { room: Room::Player, username: "lichess".into(), text: text.to_owned() });
    }

    fn add_chat(&mut self, line: ChatLine) {
        if self.chat.len() < MAX_CHAT_LINES {
            self.presence.tell(&GameMessage::ChatLine(line.clone()));
            self.chat.push(line);
        }
    }

    /// The deadline of a first move; only games with clocks have one.
    fn first_move_deadline(&self) -> Option<Instant> {
        let has_deadline = !self.has_begun() && self.class.is_none() && self.terms.time.clock().is_some();
        (has_deadline && !self.is_over()).then(|| self.awaited + self.timeouts.first_move)
    }

    fn start_clock(&mut self, now: Instant) {
        let color = self.color_to_move();
        if let TimeControl::Correspondence { .. } = self.terms.time {
            // Each move has all its days.
            self.clock = self.terms.clock();
        } else if !self.has_begun() || (self.returning.is_some() && !self.presence.is_there(color)) {
            return;
        }
        if let Some(clock) = &mut self.clock {
            clock.start(color, now);
        }
    }

    /// After a restart the clocks stand until the players are back, but not for ever. Correspondence goes on at once.
    pub(super) fn await_players(&mut self, now: Instant) {
        match self.terms.time {
            TimeControl::Clock(_) => self.returning = Some(now + self.timeouts.first_move),
            _ => self.ensure_clock(now),
        }
    }

    fn resume_clock(&mut self, color: Color, now: Instant) {
        if self.returning.is_some() && color == self.color_to_move() && !self.is_over() {
            self.ensure_clock(now);
        }
    }

    fn ensure_clock(&mut self, now: Instant) {
        let color = self.color_to_move();
        let is_due = self.has_begun() || self.terms.time.clock().is_none();
        if let Some(clock) = self.clock.as_mut().filter(|clock| is_due && !clock.is_running()) {
            clock.start(color, now);
        }
    }

    /// Applies the passing of time: flags, missing first moves, players who are gone.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.returning.is_some_and(|until| now >= until) {
            self.returning = None;
            self.ensure_clock(now);
        }
        self.keep_time(now);
        Color::BOTH.into_iter().for_each(|color| self.update_presence(color, now));
    }

    fn keep_time(&mut self, now: Instant) {
        if self.is_over() || self.class.is_some() {
            return;
        }
        let color = self.color_to_move();
        if self.first_move_deadline().is_some_and(|at| now > at) {
            match self.tournament {
                Some(_) => self.finish(Status::NoStart, Some(!color), now),
                None => self.finish(Status::Aborted, None, now),
            }
        } else if self.clock.as_ref().is_some_and(|clock| clock.is_late(now)) {
            // Without mating material the opponent only draws.
            let winner = Some(!color).filter(|winner| self.board.can_win(*winner));
            self.finish(Status::OutOfTime, winner, now);
        }
    }

    /// Ends the game: the streams get the last state, and close.
    pub(super) fn finish(&mut self, status: Status, winner: Option<Color>, now: Instant) {
        if let Some(clock) = &mut self.clock {
            clock.stop(now);
        }
        self.end = Some(End { status, winner });
        (self.draw_offers, self.takeback_offers) = (ByColor::both(false), ByColor::both(false));
        self.tell_state(now);
        self.close_streams();
    }

    pub(super) fn is_class_game(&self, tag: GameTag) -> bool {
        self.class.as_ref().is_some_and(|class| class.tag == tag)
    }

    /// Applies a move that the tournament's referee has accepted.
    pub(super) fn apply_refereed(&mut self, text: &str, left: ByColor<Duration>, now: Instant) {
        let mover = self.color_to_move();
        if self.replay(text, Some(left[mover])).is_none() {
            return tracing::error!("Lichess: game {}: the referee's move {text} is not legal here", self.id);
        }
        if !self.board.outcome().is_over() {
            self.set_clocks(left, now);
            self.tell_state(now);
        }
    }

    pub(super) fn set_clocks(&mut self, left: ByColor<Duration>, now: Instant) {
        let color = self.color_to_move();
        if let Some(clock) = &mut self.clock {
            clock.set(left);
            clock.start(color, now);
        }
    }

    /// Checks a move that is passed on to the tournament's referee.
    pub(super) fn pass_on(&mut self, color: Color, text: &str) -> Result<MoveText, String> {
        let mv = self.read_move(color, text);
        let ply = self.plies.len();
        match &mut self.class {
            Some(class) if class.passed_on != Some(ply) => {
                class.passed_on = mv.is_ok().then_some(ply).or(class.passed_on);
                mv
            }
            _ => Err("Not your turn, or game already over".to_owned()),
        }
    }

    /// Opens a stream for a side, which ends the one that the same program had before.
    pub(super) fn watch(&mut self, color: Color, agent: String, now: Instant) -> Lines {
        self.resume_clock(color, now);
        let first = GameMessage::GameFull(Box::new(self.full(now))).to_line();
        let (feed, lines) = feed(vec![first]);
        if !self.is_over() {
            self.presence.add(color, agent, feed);
            self.update_presence(color, now);
        }
        lines
    }

    pub(super) fn close_streams(&mut self) {
        Color::BOTH.into_iter().for_each(|color| self.presence.close(color));
    }

    pub(super) fn close_streams_of(&mut self, who: &UserId) {
        self.color_of(who).into_iter().for_each(|color| self.presence.close(color));
    }

    pub(super) fn is_watched_by(&self, who: &UserId) -> bool {
        self.color_of(who).is_some_and(|color| self.presence.is_there(color))
    }

    fn update_presence(&mut self, color: Color, now: Instant) {
        self.presence.refresh(color, now);
        let claim = self.claim_in(color, now).filter(|_| !self.is_over());
        self.presence.tell_claim(color, claim);
    }

    /// Whole seconds until the opponent of this side can claim the game; `None` if it is not gone.
    fn claim_in(&self, color: Color, now: Instant) -> Option<Duration> {
        let is_live = self.has_begun() && self.class.is_none() && self.terms.time.clock().is_some();
        let gone_at = self.presence.away_since(color)? + self.timeouts.gone_after;
        let left = (gone_at + self.timeouts.claim_after).saturating_duration_since(now);
        (is_live && now >= gone_at).then(|| Duration::from_secs(left.as_millis().div_ceil(1000) as u64))
    }

    fn can_claim(&self, color: Color, now: Instant) -> bool {
        self.claim_in(!color, now).is_some_and(|left| left.is_zero())
    }

    pub(super) fn tell_state(&self, now: Instant) {
        self.presence.tell(&GameMessage::GameState(self.state(now)));
    }

    fn full(&self, now: Instant) -> GameFull {
        let [white, black] = self.players.0.clone().map(WirePlayer::from);
        let days_per_turn = match self.terms.time {
            TimeControl::Correspondence { days } => Some(days),
            _ => None,
        };
        let created = self.created.unix_timestamp_nanos() / 1_000_000;
        GameFull {
            id: self.id,
            variant: self.terms.variant.clone().into(),
            clock: self.terms.time.clock(),
            days_per_turn,
            speed: Some(self.terms.time.speed()),
            perf: Some(self.terms.perf_name()),
            rated: self.terms.rated,
            created_at: u64::try_from(created).ok().map(Duration::from_millis),
            white,
            black,
            initial_fen: self.terms.fen.clone().unwrap_or_else(|| "startpos".into()),
            tournament_id: self.tournament.map(|tournament| tournament.id),
            state: self.state(now),
        }
    }

    fn state(&self, now: Instant) -> GameState {
        let expiration = self.first_move_deadline().map(|at| Expiration {
            idle: now.saturating_duration_since(self.awaited),
            left: at.saturating_duration_since(now),
        });
        let left = |color| self.clock.as_ref().map_or(NO_CLOCK, |clock| clock.left(color, now));
        let increment = |color| {
            let clock = self.clock.as_ref().filter(|_| self.terms.time.clock().is_some());
            clock.map_or(Duration::ZERO, |clock| clock.increment(color))
        };
        let ByColor([wdraw, bdraw]) = self.draw_offers;
        let ByColor([wtakeback, btakeback]) = self.takeback_offers;
        GameState {
            moves: self.board.moves().iter().map(MoveText::as_str).collect::<Vec<_>>().join(" "),
            wtime: Some(left(Color::White)),
            btime: Some(left(Color::Black)),
            winc: increment(Color::White),
            binc: increment(Color::Black),
            status: self.status(),
            winner: self.winner(),
            wdraw,
            bdraw,
            wtakeback,
            btakeback,
            expiration,
            rematch: None,
        }
    }
}

impl From<Player> for WirePlayer {
    fn from(player: Player) -> WirePlayer {
        let Player { id, name, title, rating, provisional, .. } = player;
        WirePlayer { id: Some(id), name, title, rating, provisional, ai_level: None }
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
