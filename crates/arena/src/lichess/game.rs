//! One game: board, clocks, offers, who is there, and how it ends. It never waits: each instant is passed in.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, DynGame, Outcome, Reason, TimeControl as Clocks};
use zeitnot_wire::{
    Message,
    lichess::{
        Chat, ChatLine, GameId, GameMessage, GameRule, OpponentGone, Room, Source, Status, TimeControl,
        Title, TournamentId, UserId, VariantKey,
    },
    pgn::Ply,
};

use super::{
    answer::{Feed, Lines, feed},
    class::Host,
    route::Deed,
};
use crate::clock::Clock;

/// A longer game is drawn: three hundred moves.
const LONGEST: usize = 600;
/// Both have moved: the clocks run, and nothing can be aborted.
const BEGUN: usize = 2;
/// Draws come early before move thirty.
const EARLY: usize = 60;
/// The longest line of chat.
const LONGEST_CHAT: usize = 140;
/// Lines of chat in one game.
const MOST_CHAT: usize = 200;
/// Streams of one side, of different programs.
const MOST_STREAMS: usize = 4;
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What was agreed on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) variant: VariantKey,
    pub(super) rated: bool,
    #[serde(with = "super::saved::exact")]
    pub(super) time: TimeControl,
    /// Where it begins, unless at the usual start.
    pub(super) fen: Option<String>,
    /// How the two came together.
    pub(super) source: Source,
    /// What the players may not do.
    pub(super) rules: Vec<GameRule>,
}

/// Who plays a side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Player {
    pub(super) id: UserId,
    pub(super) name: String,
    pub(super) title: Option<Title>,
    pub(super) rating: Option<i32>,
    pub(super) provisional: bool,
    /// It plays as the computer, at this level: nobody is told who it is.
    pub(super) ai_level: Option<u8>,
    /// Speaks another protocol: the name is no account's, even if there is one of that name.
    #[serde(default)]
    pub(super) is_guest: bool,
}

/// What is waited for, and how long.
#[derive(Copy, Clone, Debug)]
pub(super) struct Patience {
    pub(super) first_move: Duration,
    pub(super) gone_after: Duration,
    pub(super) claim_after: Duration,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: Status,
    pub(super) winner: Option<Color>,
}

/// A stream of the game that one program reads.
#[derive(Debug)]
struct Reader {
    agent: String,
    feed: Feed,
}

/// Is a player there?
#[derive(Debug, Default)]
struct Presence {
    readers: Vec<Reader>,
    away_since: Option<Instant>,
    /// What the opponent was told last: so long until the game can be claimed.
    told: Option<Duration>,
}

/// See the module's comment.
#[derive(Debug)]
pub(super) struct Game {
    pub(super) id: GameId,
    pub(super) terms: Terms,
    pub(super) players: ByColor<Player>,
    pub(super) created: OffsetDateTime,
    pub(super) line: DynGame,
    /// The moves as records have them.
    pub(super) plies: Vec<Ply>,
    pub(super) clock: Option<Clock>,
    pub(super) draws: ByColor<bool>,
    pub(super) takebacks: ByColor<bool>,
    pub(super) chat: Vec<ChatLine>,
    pub(super) end: Option<End>,
    /// The game that follows it.
    pub(super) rematch: Option<GameId>,
    /// What it changed in the ratings.
    pub(super) diffs: Option<ByColor<i32>>,
    /// When the last move was played.
    pub(super) moved: OffsetDateTime,
    pub(super) patience: Patience,
    /// The clocks run, though not both have moved.
    pub(super) hurried: bool,
    /// After a restart: so long are players waited for who are not back yet.
    pub(super) returning: Option<Instant>,
    /// Where it is refereed, if not here.
    pub(super) host: Option<Host>,
    /// The tournament that it belongs to, and whether berserk is possible there.
    pub(super) arena: Option<(TournamentId, bool)>,
    /// Who has given up half of the time.
    pub(super) brave: ByColor<bool>,
    /// Since when a first move is awaited.
    awaited: Instant,
    presence: ByColor<Presence>,
}

/// Why a player cannot do that.
pub(super) type Refused = String;

fn refuse(why: &str) -> Result<(), Refused> {
    Err(why.to_owned())
}

impl Game {
    pub(super) fn new(
        id: GameId,
        terms: Terms,
        line: DynGame,
        players: ByColor<Player>,
        patience: Patience,
        now: Instant,
    ) -> Game {
        let away = || Presence { away_since: Some(now), ..Presence::default() };
        Game {
            id,
            clock: clock(&terms.time),
            terms,
            players,
            created: OffsetDateTime::now_utc(),
            line,
            plies: Vec::new(),
            draws: ByColor::both(false),
            takebacks: ByColor::both(false),
            chat: Vec::new(),
            end: None,
            rematch: None,
            diffs: None,
            moved: OffsetDateTime::now_utc(),
            patience,
            hurried: false,
            returning: None,
            host: None,
            arena: None,
            brave: ByColor::both(false),
            awaited: now,
            presence: ByColor([away(), away()]),
        }
    }

    /// Which side somebody plays.
    pub(super) fn side_of(&self, who: &UserId) -> Option<Color> {
        Color::BOTH.into_iter().find(|side| {
            let player = &self.players[*side];
            !player.is_guest && player.id == *who
        })
    }

    pub(super) fn side_to_move(&self) -> Color {
        self.line.side()
    }

    fn has_begun(&self) -> bool {
        self.line.moves().len() >= BEGUN
    }

    /// Until when the first move must be there; only games with clocks hurry so.
    pub(super) fn expires(&self) -> Option<Instant> {
        let is_awaited = !self.has_begun() && !self.hurried && self.host.is_none();
        let hurries = is_awaited && self.terms.time.clock().is_some();
        hurries.then(|| self.awaited + self.patience.first_move)
    }

    pub(super) fn waited(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.awaited)
    }

    /// What a player does.
    ///
    /// # Errors
    /// Why it is not possible, in the server's words.
    pub(super) fn obey(&mut self, side: Color, deed: Deed, now: Instant) -> Result<(), Refused> {
        self.keep_time(now);
        match deed {
            Deed::Chat(chat) => self.say(side, chat),
            Deed::Move { text, offers_draw } => return self.play(side, &text, offers_draw, now),
            _ if self.end.is_some() => return refuse("This game is already over"),
            Deed::Berserk => return self.berserk(side, now),
            Deed::Draw(agrees) => self.draw(side, agrees, now),
            Deed::Takeback(agrees) => self.takeback(side, agrees, now),
            Deed::Resign if !self.can_abort() => self.finish(Status::Resign, Some(!side), now),
            Deed::Resign => self.finish(Status::Aborted, None, now),
            Deed::Abort if !self.can_abort() => return refuse("This game can no longer be aborted"),
            Deed::Abort => self.finish(Status::Aborted, None, now),
            Deed::ClaimVictory | Deed::ClaimDraw if !self.can_claim(side, now) => {
                return refuse("You cannot claim this game: your opponent has not left it for long enough");
            }
            Deed::ClaimVictory => self.finish(Status::Timeout, Some(side), now),
            Deed::ClaimDraw => self.finish(Status::Timeout, None, now),
        }
        Ok(())
    }

    /// In a tournament nobody can do without a game.
    pub(super) fn can_abort(&self) -> bool {
        !self.has_begun() && !self.is_ruled(&GameRule::NoAbort) && self.arena.is_none()
    }

    /// May the players not do that?
    pub(super) fn is_ruled(&self, rule: &GameRule) -> bool {
        self.terms.rules.contains(rule)
    }

    fn play(&mut self, side: Color, text: &str, offers_draw: bool, now: Instant) -> Result<(), Refused> {
        if self.end.is_some() || self.side_to_move() != side {
            return refuse("Not your turn, or game already over");
        }
        let shown: String = text.chars().filter(|c| !c.is_control()).take(10).collect();
        let invalid = |_| format!("Invalid UCI: {shown}");
        let mv = self.line.read(text).map_err(invalid)?;
        if offers_draw && self.draws[!side] {
            // Agreed: the move that says so is not played any more.
            self.finish(Status::Draw, None, now);
            return Ok(());
        }
        self.welcome(side, now);
        let text = self.line.record(&mv).map_err(invalid)?;
        self.line.play(&mv).map_err(invalid)?;
        if let Some(clock) = &mut self.clock {
            clock.press(now);
        }
        let left = self.clock.as_ref().map(|clock| clock.left(side, now));
        self.plies.push(Ply { text, left, eval: None });
        self.draws[!side] = false;
        self.draws[side] |= offers_draw && self.can_offer_draw();
        self.takebacks = ByColor::both(false);
        (self.awaited, self.moved) = (now, OffsetDateTime::now_utc());
        match self.verdict() {
            Some(End { status, winner }) => self.finish(status, winner, now),
            None => {
                self.start_clock(now);
                self.tell_state(now);
            }
        }
        Ok(())
    }

    /// A move that was judged elsewhere, or before a restart; `None`: nobody can have played it.
    pub(super) fn replay(&mut self, text: &str, left: Option<Duration>) -> Option<()> {
        let mv = self.line.read(text).ok()?;
        let text = self.line.record(&mv).ok()?;
        self.line.play(&mv).ok()?;
        self.plies.push(Ply { text, left, eval: None });
        Some(())
    }

    /// A player is there: the clock that waited for that runs.
    fn welcome(&mut self, side: Color, now: Instant) {
        if self.returning.is_some() && side == self.side_to_move() && self.end.is_none() {
            self.go_on(now);
        }
    }

    /// The clock runs if it should, and does not yet.
    pub(super) fn go_on(&mut self, now: Instant) {
        let side = self.side_to_move();
        let is_due = self.has_begun() || self.hurried || self.terms.time.clock().is_none();
        if let Some(clock) = self.clock.as_mut().filter(|clock| is_due && !clock.is_running()) {
            clock.start(side, now);
        }
    }

    fn verdict(&self) -> Option<End> {
        let (status, winner) = match self.line.outcome() {
            Outcome::Ongoing if self.line.moves().len() >= LONGEST => (Status::Draw, None),
            Outcome::Ongoing => return None,
            Outcome::Win(winner, Reason::VariantEnd) => (Status::VariantEnd, Some(winner)),
            Outcome::Win(winner, _) => (Status::Mate, Some(winner)),
            Outcome::Draw(Reason::Stalemate) => (Status::Stalemate, None),
            Outcome::Draw(_) => (Status::Draw, None),
        };
        Some(End { status, winner })
    }

    fn start_clock(&mut self, now: Instant) {
        let side = self.side_to_move();
        if let TimeControl::Correspondence { .. } = self.terms.time {
            // Each move has its days to itself.
            self.clock = clock(&self.terms.time);
        } else if (!self.has_begun() && !self.hurried) || self.is_awaited(side) {
            return;
        }
        if let Some(clock) = &mut self.clock {
            clock.start(side, now);
        }
    }

    /// Is this player still on the way back after a restart?
    fn is_awaited(&self, side: Color) -> bool {
        self.returning.is_some() && !self.is_watched_by(side)
    }

    /// The clocks run from now on, whoever has moved by then.
    pub(super) fn hurry(&mut self, now: Instant) {
        if self.end.is_none() && self.host.is_none() && !self.has_begun() && !self.hurried {
            self.hurried = true;
            self.start_clock(now);
            self.tell_state(now);
        }
    }

    /// A player gives the opponent time.
    ///
    /// # Errors
    /// Where there is no clock, or the players agreed not to.
    pub(super) fn give_time(&mut self, side: Color, time: Duration, now: Instant) -> Result<(), Refused> {
        self.keep_time(now);
        let is_live = self.terms.time.clock().is_some() && self.end.is_none();
        let clock = self.clock.as_mut().filter(|_| is_live);
        match clock {
            Some(clock) if !self.terms.rules.contains(&GameRule::NoGiveTime) => clock.give(!side, time),
            _ => return refuse("Time cannot be given in this game"),
        }
        self.announce(&format!("{} + {} seconds", name(!side), time.as_secs()));
        self.tell_state(now);
        Ok(())
    }

    /// Draws can be offered once both have moved, unless the players agreed on more.
    fn can_offer_draw(&self) -> bool {
        let early = if self.is_ruled(&GameRule::NoEarlyDraw) { EARLY } else { BEGUN };
        self.line.moves().len() >= early
            && Color::BOTH.iter().all(|side| self.players[*side].ai_level.is_none())
    }

    fn draw(&mut self, side: Color, agrees: bool, now: Instant) {
        match (agrees, self.draws[!side]) {
            (true, true) => return self.finish(Status::Draw, None, now),
            (true, false) if self.can_offer_draw() && !self.draws[side] => {
                self.draws[side] = true;
                self.announce(&format!("{} offers draw", name(side)));
            }
            (false, true) => {
                self.draws[!side] = false;
                self.announce(&format!("{} declines draw", name(side)));
            }
            (false, false) if self.draws[side] => self.draws[side] = false,
            _ => return,
        }
        self.tell_state(now);
    }

    fn takeback(&mut self, side: Color, agrees: bool, now: Instant) {
        match (agrees, self.takebacks[!side]) {
            (true, true) => {
                self.take_back(!side, now);
                self.announce("Takeback accepted");
            }
            (true, false) if self.last_move_of(side).is_some() && !self.takebacks[side] => {
                self.takebacks[side] = true;
                self.announce("Takeback sent");
            }
            (false, true) => {
                self.takebacks[!side] = false;
                self.announce("Takeback declined");
            }
            (false, false) if self.takebacks[side] => {
                self.takebacks[side] = false;
                self.announce("Takeback cancelled");
            }
            _ => return,
        }
        self.tell_state(now);
    }

    /// How many moves come before the side's last one.
    fn last_move_of(&self, side: Color) -> Option<usize> {
        let back = if self.side_to_move() == side { 2 } else { 1 };
        self.line.moves().len().checked_sub(back)
    }

    /// Undoes the side's last move, and what was answered to it.
    fn take_back(&mut self, side: Color, now: Instant) {
        let Some(kept) = self.last_move_of(side) else { return };
        self.line.truncate(kept);
        self.plies.truncate(kept);
        (self.draws, self.takebacks) = (ByColor::both(false), ByColor::both(false));
        self.awaited = now;
        if let Some(clock) = &mut self.clock {
            clock.stop(now);
        }
        self.start_clock(now);
    }

    /// Too long a line is cut.
    fn say(&mut self, side: Color, Chat { room, text }: Chat) {
        let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_CHAT).collect();
        if !text.trim().is_empty() {
            self.chat_line(ChatLine { room, username: self.players[side].name.clone(), text });
        }
    }

    /// What the server itself says.
    fn announce(&mut self, text: &str) {
        self.chat_line(ChatLine { room: Room::Player, username: "lichess".into(), text: text.to_owned() });
    }

    fn chat_line(&mut self, line: ChatLine) {
        if self.chat.len() < MOST_CHAT {
            self.tell(&GameMessage::ChatLine(line.clone()));
            self.chat.push(line);
        }
    }

    /// A side opens its stream; the one that the same program had before ends.
    pub(super) fn watch(&mut self, side: Color, agent: String, now: Instant) -> Lines {
        self.welcome(side, now);
        let first = GameMessage::GameFull(Box::new(self.full(now))).to_line();
        let (feed, lines) = feed(vec![first]);
        if self.end.is_none() {
            let presence = &mut self.presence[side];
            presence.readers.retain(|reader| reader.agent != agent && reader.feed.receiver_count() > 0);
            if presence.readers.len() == MOST_STREAMS {
                presence.readers.remove(0);
            }
            presence.readers.push(Reader { agent, feed });
            self.look_for(side, now);
        }
        lines
    }

    /// Ends all streams; the players must open new ones.
    pub(super) fn close_streams(&mut self) {
        self.presence.0.iter_mut().for_each(|presence| presence.readers.clear());
    }

    /// Ends the streams of one side.
    pub(super) fn part(&mut self, side: Color) {
        self.presence[side].readers.clear();
    }

    /// What time alone does: flags, first moves that never came, players who are gone.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.returning.is_some_and(|until| now >= until) {
            self.returning = None;
            self.go_on(now);
        }
        self.keep_time(now);
        Color::BOTH.into_iter().for_each(|side| self.look_for(side, now));
    }

    fn keep_time(&mut self, now: Instant) {
        if self.end.is_some() || self.host.is_some() {
            return;
        }
        let side = self.side_to_move();
        if self.expires().is_some_and(|at| now > at) {
            match self.arena {
                Some(_) => self.finish(Status::NoStart, Some(!side), now),
                None => self.finish(Status::Aborted, None, now),
            }
        } else if self.clock.as_ref().is_some_and(|clock| clock.is_late(now)) {
            // Who cannot mate wins nothing by the clock.
            let winner = Some(!side).filter(|winner| self.line.can_win(*winner));
            self.finish(Status::OutOfTime, winner, now);
        }
    }

    /// Is this side still there? The other one is told when that changes.
    fn look_for(&mut self, side: Color, now: Instant) {
        let presence = &mut self.presence[side];
        presence.readers.retain(|reader| reader.feed.receiver_count() > 0);
        match (presence.readers.is_empty(), presence.away_since) {
            (true, None) => presence.away_since = Some(now),
            (false, Some(_)) => presence.away_since = None,
            _ => {}
        }
        let claim = self.claim_in(side, now).filter(|_| self.end.is_none());
        let presence = &mut self.presence[side];
        if presence.told == claim {
            return;
        }
        presence.told = claim;
        let gone = OpponentGone { gone: claim.is_some(), claim_win_in: claim };
        self.tell_side(!side, &GameMessage::OpponentGone(gone));
    }

    /// Whole seconds until the game can be claimed from this side; `None`: it is not gone.
    fn claim_in(&self, side: Color, now: Instant) -> Option<Duration> {
        let is_live = self.has_begun() && self.host.is_none() && self.terms.time.clock().is_some();
        let gone_at = self.presence[side].away_since? + self.patience.gone_after;
        let left = (gone_at + self.patience.claim_after).saturating_duration_since(now);
        (is_live && now >= gone_at).then(|| Duration::from_secs(left.as_millis().div_ceil(1000) as u64))
    }

    fn can_claim(&self, side: Color, now: Instant) -> bool {
        let is_gone = self.claim_in(!side, now).is_some_and(|left| left.is_zero());
        is_gone && !self.is_ruled(&GameRule::NoClaimWin)
    }

    /// Is the player's program connected?
    pub(super) fn is_watched_by(&self, side: Color) -> bool {
        self.presence[side].readers.iter().any(|reader| reader.feed.receiver_count() > 0)
    }

    /// The end: the last state is told, and the streams close.
    pub(super) fn finish(&mut self, status: Status, winner: Option<Color>, now: Instant) {
        if let Some(clock) = &mut self.clock {
            clock.stop(now);
        }
        self.end = Some(End { status, winner });
        (self.draws, self.takebacks) = (ByColor::both(false), ByColor::both(false));
        self.tell_state(now);
        self.close_streams();
    }

    pub(super) fn tell_state(&self, now: Instant) {
        self.tell(&GameMessage::GameState(self.state(now)));
    }

    fn tell(&self, message: &GameMessage) {
        Color::BOTH.into_iter().for_each(|side| self.tell_side(side, message));
    }

    fn tell_side(&self, side: Color, message: &GameMessage) {
        for reader in &self.presence[side].readers {
            // One that has just left is found out at the next look.
            let _ = reader.feed.send(message.to_line().into());
        }
    }
}

/// A clock that does not run yet.
fn clock(time: &TimeControl) -> Option<Clock> {
    match time {
        TimeControl::Clock(clocks) => Some(Clock::new(at_least_a_little(*clocks))),
        TimeControl::Correspondence { days } => {
            Some(Clock::new(Clocks { initial: DAY * *days, increment: Duration::ZERO }))
        }
        TimeControl::Unlimited | TimeControl::Other(_) => None,
    }
}

/// Who has only an increment begins with three seconds or the increment, whichever is more.
fn at_least_a_little(clocks: Clocks) -> Clocks {
    match clocks.initial.is_zero() {
        true => Clocks { initial: clocks.increment.max(Duration::from_secs(3)), ..clocks },
        false => clocks,
    }
}

fn name(side: Color) -> &'static str {
    match side {
        Color::White => "White",
        Color::Black => "Black",
    }
}
