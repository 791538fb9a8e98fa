//! One table: a game between people, or against the bot. Synchronous: every instant is passed in.

mod state;

use std::{collections::BTreeMap, time::Duration};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::{
        Feed,
        view::{Person, Source, Thought},
    },
    origin::Origin,
    tag::GameTag,
};
use zeitnot_net::secret::Secret;
use zeitnot_referee::{
    Adjudication, Allowance, Board, Cause, Expiry, MAX_MOVES, OfferChange, Referee, RefereeRules,
    ServerBoard, TRANSIT, Untimed,
};
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::uci::UciScore;

use super::{
    action::{Action, Word},
    level::Level,
    refusal::BadAction,
    request::{Setup, Sitter},
    search::{Found, RunningClock},
    view::{self, SeatView},
};

/// The first move of each side costs nothing, but must come.
const FIRST_MOVES: Untimed = Untimed { plies: 2, limit: Duration::from_secs(5 * 60), expiry: Expiry::Abort };
/// Once both have moved, clocks run and nothing can be aborted.
const BEGUN: usize = 2;
/// Plies after which the bot may agree to a draw.
const BOT_DRAWS_FROM: usize = 30;
/// A table stays this long with somebody at it, whatever happens there, …
const STAYS: Duration = Duration::from_secs(12 * 3600);
/// … this long when all have left a game, …
const STAYS_EMPTY: Duration = Duration::from_secs(30 * 60);
/// … and this long when all have left after the game.
const STAYS_OVER: Duration = Duration::from_secs(10 * 60);
/// A table without a person's move keeps its place this long when others want one.
const STAYS_UNUSED: Duration = Duration::from_secs(2 * 60);

pub(super) struct Table {
    pub(super) id: GameTag,
    /// Address that it was asked for from.
    pub(super) from: Origin,
    pub(super) seats: ByColor<Seat>,
    pub(super) hosted: HostedGame<ServerBoard>,
    /// Thoughts of the bot about its moves, by their plies.
    thoughts: BTreeMap<usize, Thought>,
    created: Instant,
    /// Everybody has been there.
    has_begun: bool,
    /// Something happened last.
    active: Instant,
    /// The bot's search, which ends with the guard.
    search: Option<DropGuard>,
    /// Searches so far; an answer of an earlier one comes too late.
    searches: u64,
    /// The bot's last score of its position.
    bot_score: Option<UciScore>,
}

/// Order in which tables make room.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EvictionRank {
    /// No person has moved.
    Unused,
    /// The game is over, and everybody has left.
    Over,
    /// The game is over, and somebody still looks at it.
    Visited,
}

/// Seat at a table.
pub(super) struct Seat {
    pub(super) sitter: Sitter,
    /// Opens the seat.
    pub(super) token: Secret,
    /// Player's view. Its readers are the player's connections.
    pub(super) view: watch::Sender<SeatView>,
    has_been_there: bool,
    pub(super) wants_rematch: bool,
}

impl Seat {
    pub(super) fn new(sitter: Sitter, token: Secret) -> Seat {
        let has_been_there = sitter != Sitter::Human;
        let (view, _) = watch::channel(SeatView::default());
        Seat { sitter, token, view, has_been_there, wants_rematch: false }
    }

    pub(super) fn is_there(&self) -> bool {
        self.sitter != Sitter::Human || self.view.receiver_count() > 0
    }
}

/// Question to the bot.
pub(super) struct Question {
    pub(super) level: Level,
    pub(super) clock: Option<RunningClock>,
    pub(super) stop: CancellationToken,
    pub(super) number: u64,
}

fn rules() -> RefereeRules {
    let adjudication = Adjudication { max_moves: Some(MAX_MOVES), ..Adjudication::default() };
    RefereeRules {
        transit: TRANSIT,
        flag_needs_winner: true,
        untimed: Some(FIRST_MOVES),
        abort_before: BEGUN,
        draw_offers_from: Some(BEGUN),
        adjudication,
        ..RefereeRules::default()
    }
}

impl Table {
    pub(super) fn new(
        setup: Setup,
        tokens: ByColor<Secret>,
        from: Origin,
        host: Host,
        now: Instant,
    ) -> Table {
        let Setup { board, time_control, sitters, .. } = setup;
        let allowance = time_control.map_or(Allowance::Unlimited, Allowance::Game);
        let ByColor([white, black]) = tokens;
        let seats =
            ByColor([Seat::new(sitters[Color::White], white), Seat::new(sitters[Color::Black], black)]);
        let id = GameTag::random();
        let info = GameInfo {
            id: id.to_string().into(),
            players: ByColor(sitters.0.map(person)),
            time_control,
            ..GameInfo::new(Source::Table, &board, ByColor(["", ""]))
        };
        let referee = Referee::new(board, ByColor::both(allowance), rules(), now);
        Table {
            id,
            from,
            seats,
            hosted: HostedGame::new(info, referee, host),
            thoughts: BTreeMap::new(),
            created: now,
            has_begun: false,
            active: now,
            search: None,
            searches: 0,
            bot_score: None,
        }
    }

    /// Returns the same game with the colours swapped.
    pub(super) fn again(&self) -> Setup {
        let ByColor([white, black]) = ByColor([Color::White, Color::Black].map(|it| self.seats[it].sitter));
        Setup {
            board: self.hosted.referee.board.again(),
            time_control: self.hosted.info.time_control,
            sitters: ByColor([black, white]),
            host: Color::White,
        }
    }

    /// Begins, if everybody has been there.
    pub(super) fn enter(&mut self, color: Color, now: Instant) {
        self.active = now;
        self.seats[color].has_been_there = true;
        if !self.has_begun && self.seats.0.iter().all(|seat| seat.has_been_there) {
            self.has_begun = true;
            self.hosted.referee.await_move(now);
            self.hosted.begin(now);
        }
    }

    pub(super) fn leave(&mut self, now: Instant) {
        self.active = now;
    }

    pub(super) fn is_over(&self) -> bool {
        self.hosted.is_over()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seats.0.iter().all(|seat| seat.view.receiver_count() == 0)
    }

    /// Returns the table's rank among those that make room for others, of which the lowest goes first; `None`: it is in
    /// use.
    pub(super) fn eviction_rank(&self, now: Instant) -> Option<(EvictionRank, Instant)> {
        let bots_moves = usize::from(self.seats[Color::White].sitter != Sitter::Human);
        if self.hosted.referee.board.ply_count() <= bots_moves && now >= self.created + STAYS_UNUSED {
            return Some((EvictionRank::Unused, self.created));
        }
        let rank = if self.is_empty() { EvictionRank::Over } else { EvictionRank::Visited };
        self.is_over().then(|| (rank, self.closes()))
    }

    /// Does what a player asks for, who said so `at` this instant.
    pub(super) fn act(
        &mut self,
        color: Color,
        action: Action,
        at: Instant,
        now: Instant,
    ) -> Result<(), BadAction> {
        self.active = now;
        if self.is_over() && action != Action::Rematch {
            return Err(BadAction::Over);
        }
        if !self.has_begun && action != Action::Resign {
            return Err(BadAction::NotBegun);
        }
        match action {
            Action::Move { text, ply } => self.play(color, &text, ply, at, now),
            Action::Resign => {
                match self.hosted.referee.can_abort() {
                    true => self.hosted.referee.end(None, Cause::Aborted, now),
                    false => self.hosted.referee.lose(color, Cause::Resignation, now),
                }
                Ok(())
            }
            Action::Draw(word) => self.draw(color, word, now),
            Action::Takeback(word) => self.takeback(color, word, now),
            Action::Rematch if !self.is_over() => Err(BadAction::Running),
            Action::Rematch => {
                self.seats[color].wants_rematch = true;
                Ok(())
            }
            #[cfg(test)]
            Action::Bug => panic!("a bug at a table"),
        }
    }

    /// Returns whether both want a rematch; the bot always does.
    pub(super) fn has_rematch(&self) -> bool {
        self.is_over() && self.seats.0.iter().all(|seat| seat.wants_rematch || seat.sitter != Sitter::Human)
    }

    fn play(
        &mut self,
        color: Color,
        text: &str,
        ply: usize,
        at: Instant,
        now: Instant,
    ) -> Result<(), BadAction> {
        let played = self.hosted.referee.board.ply_count();
        if ply != played {
            return Err(BadAction::OtherPly { sent: ply, played });
        }
        let refused = |refusal| BadAction::of_move(refusal, text);
        self.hosted.referee.play(color, text, at, None).map_err(refused)?;
        self.hosted.referee.await_move(now);
        self.hosted.moved(now);
        Ok(())
    }

    fn draw(&mut self, color: Color, word: Word, now: Instant) -> Result<(), BadAction> {
        let is_offered = self.hosted.referee.offers_draw(!color);
        match word {
            Word::Accept | Word::Decline if !is_offered && !self.hosted.referee.offers_draw(color) => {
                return Err(BadAction::NoOffer);
            }
            Word::Accept if !is_offered => return Err(BadAction::NoOffer),
            _ => {}
        }
        match self.hosted.referee.draw(color, word != Word::Decline, now) {
            None => Err(BadAction::NoDraw),
            Some(OfferChange::Made) if self.is_bot(!color) => {
                let agrees = self.bot_agrees();
                self.hosted.referee.draw(!color, agrees, now);
                if agrees { Ok(()) } else { Err(BadAction::BotPlaysOn) }
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns whether the bot takes a draw: late enough, and if it does not see itself in front.
    fn bot_agrees(&self) -> bool {
        let is_late = self.hosted.referee.board.ply_count() >= BOT_DRAWS_FROM;
        is_late && matches!(self.bot_score, Some(UciScore::Cp(..=0) | UciScore::Mate(..=0)))
    }

    fn takeback(&mut self, color: Color, word: Word, now: Instant) -> Result<(), BadAction> {
        let is_asked = self.hosted.referee.asks_takeback(!color);
        match word {
            Word::Decline if !is_asked && !self.hosted.referee.asks_takeback(color) => {
                return Err(BadAction::NoOffer);
            }
            Word::Accept if !is_asked => return Err(BadAction::NoOffer),
            _ => {}
        }
        let mut change = self.hosted.referee.takeback(color, word != Word::Decline, now);
        if change == Some(OfferChange::Made) && self.is_bot(!color) {
            change = self.hosted.referee.takeback(!color, true, now);
        }
        match change {
            None => return Err(BadAction::NoTakeback),
            Some(OfferChange::Accepted) => {
                self.search = None;
                self.hosted.referee.await_move(now);
                self.thoughts.split_off(&self.hosted.referee.board.ply_count());
                self.hosted.changed(now);
            }
            Some(_) => {}
        }
        Ok(())
    }

    pub(super) fn can_take_back(&self, color: Color) -> bool {
        let own = if self.hosted.referee.turn() == color { 2 } else { 1 };
        let may_ask = self.has_begun && !self.is_over() && !self.hosted.referee.asks_takeback(color);
        may_ask && self.hosted.referee.board.ply_count() >= own
    }

    pub(super) fn can_offer_draw(&self, color: Color) -> bool {
        let may_offer = self.has_begun && !self.is_over() && !self.hosted.referee.offers_draw(color);
        may_offer && self.hosted.referee.board.ply_count() >= BEGUN
    }

    pub(super) fn can_move(&self, color: Color) -> bool {
        self.has_begun && !self.is_over() && self.hosted.referee.turn() == color
    }

    fn is_bot(&self, color: Color) -> bool {
        self.seats[color].sitter != Sitter::Human
    }

    /// Returns what to ask the bot, if it is to move and does not think yet.
    pub(super) fn question(&mut self, now: Instant) -> Option<Question> {
        let color = self.hosted.referee.turn();
        let Sitter::Bot(level) = self.seats[color].sitter else { return None };
        if self.search.is_some() || !self.can_move(color) {
            return None;
        }
        let left = self.hosted.referee.clock.left(color, now);
        let increment = self.hosted.referee.clock.increment(color);
        let stop = CancellationToken::new();
        self.search = Some(stop.clone().drop_guard());
        self.searches += 1;
        let clock = left.map(|left| RunningClock { left, increment, at: now });
        Some(Question { level, clock, stop, number: self.searches })
    }

    /// Plays what the bot has found, unless the question is another one by now.
    pub(super) fn answer(&mut self, number: u64, found: Option<Found>, feed: &Feed, now: Instant) {
        if number != self.searches || self.search.take().is_none() || self.is_over() {
            return;
        }
        let (color, ply) = (self.hosted.referee.turn(), self.hosted.referee.board.ply_count());
        let thought = found.as_ref().and_then(|found| view::thought(found, color));
        let played = found.map(|found| {
            self.bot_score = Some(found.score);
            self.play(color, &found.text, ply, found.at, now)
        });
        match played {
            Some(Ok(())) => {
                if let Some(thought) = thought {
                    feed.thoughts().report(self.id.to_string(), ply, color, thought.clone());
                    self.thoughts.insert(ply, thought);
                }
            }
            Some(Err(BadAction::TooLate)) => {}
            // Unreachable, but nobody should wait for a move that does not come.
            _ => self.hosted.referee.end(None, Cause::InternalError, now),
        }
    }

    /// Ends the game, as the arena stops.
    pub(super) fn stop(&mut self, now: Instant) {
        self.hosted.referee.end(None, Cause::Shutdown, now);
    }

    /// Ends the game after an error of ours.
    pub(super) fn break_down(&mut self, now: Instant) {
        self.hosted.referee.end(None, Cause::InternalError, now);
    }

    /// Ends the game, which everybody has left.
    pub(super) fn abandon(&mut self, now: Instant) {
        self.hosted.referee.end(None, Cause::Aborted, now);
    }

    /// Ends the game if a clock has run out.
    pub(super) fn check_time(&mut self, now: Instant) {
        if self.has_begun && self.hosted.referee.timeout().is_some_and(|timeout| now >= timeout) {
            self.hosted.referee.time_out(now);
        }
    }

    /// Returns when the table is closed if nothing happens until then.
    pub(super) fn closes(&self) -> Instant {
        self.active
            + match (self.is_empty(), self.is_over()) {
                (false, _) => STAYS,
                (true, false) => STAYS_EMPTY,
                (true, true) => STAYS_OVER,
            }
    }

    /// Returns when to look at the table again.
    pub(super) fn deadline(&self) -> Instant {
        let timeout = self.hosted.referee.timeout().filter(|_| self.has_begun);
        timeout.map_or(self.closes(), |timeout| timeout.min(self.closes()))
    }

    /// Tells spectators and players how the game ended.
    pub(super) fn tell_end(&mut self, now: Instant) {
        self.hosted.tell_end(now);
        self.tell(now);
    }

    /// Tells the players what has changed.
    pub(super) fn tell(&mut self, now: Instant) {
        if self.is_over() {
            self.search = None;
        }
        for color in Color::BOTH {
            if self.seats[color].view.receiver_count() > 0 {
                let state = self.print(color, now);
                self.seats[color].view.send_modify(|view| view.state = state);
            }
        }
    }
}

fn person(sitter: Sitter) -> Person {
    let (name, bot) = match sitter {
        Sitter::Human => ("Guest".to_owned(), false),
        Sitter::Bot(level) => (format!("zeitnot (level {level})"), true),
    };
    Person { name, rating: None, bot: Some(bot) }
}
