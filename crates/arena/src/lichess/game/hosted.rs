//! Game whose referee is this server.

use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::view::{Person, Source},
};
use zeitnot_referee::{Adjudication, Cause, Expiry, MAX_MOVES, OfferChange, Referee, RefereeRules, Untimed};
use zeitnot_rules::{ByColor, Color, DynGame, GameResult};
use zeitnot_wire::lichess::{Room, Title};

use super::{BEGUN, GameAction, GameSetup, GameTimeouts, Player, Presence, refuse};
use crate::lichess::answer::Refusal;

#[derive(Debug)]
pub(in crate::lichess) struct Hosted {
    pub(in crate::lichess) game: HostedGame<DynGame>,
    pub(super) timeouts: GameTimeouts,
    /// After a restart: until when the clocks wait for players to return.
    returning: Option<Instant>,
}

impl Hosted {
    /// Creates a game on this board. It neither writes nor shows anything before it is begun.
    pub(in crate::lichess) fn new(
        setup: &GameSetup,
        board: DynGame,
        timeouts: GameTimeouts,
        host: Host,
        now: Instant,
    ) -> Hosted {
        let info = GameInfo {
            id: setup.id.to_string().into(),
            players: ByColor(setup.players.0.each_ref().map(person)),
            time_control: Some(setup.terms.time),
            began: OffsetDateTime::UNIX_EPOCH + setup.created,
            ..GameInfo::new(Source::Lichess, &board, ByColor(["", ""]))
        };
        let referee = Referee::new(board, ByColor::both(setup.terms.allowance()), rules(timeouts), now);
        Hosted { game: HostedGame::new(info, referee, host), timeouts, returning: None }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.game.referee.plies.len() >= BEGUN
    }

    /// Applies a player's action; returns whether the state has changed, or the server's refusal.
    pub(super) fn act(
        &mut self,
        color: Color,
        action: GameAction,
        presence: &Presence,
        now: Instant,
    ) -> Result<bool, Refusal> {
        self.game.referee.check_time(now);
        match action {
            GameAction::Move { text, offers_draw } => {
                return self.play(color, &text, offers_draw, presence, now);
            }
            _ if self.game.is_over() => return refuse("This game is already over"),
            GameAction::Draw(agrees) => return Ok(self.draw(color, agrees, presence, now)),
            GameAction::Takeback(agrees) => return Ok(self.takeback(color, agrees, presence, now)),
            GameAction::Resign if self.has_begun() => {
                self.game.referee.lose(color, Cause::Resignation, now);
            }
            GameAction::Abort if self.has_begun() => return refuse("This game can no longer be aborted"),
            GameAction::Resign | GameAction::Abort => self.game.referee.end(None, Cause::Aborted, now),
            GameAction::ClaimVictory | GameAction::ClaimDraw if !self.can_claim(color, presence, now) => {
                return refuse("You cannot claim this game: your opponent has not left it for long enough");
            }
            GameAction::ClaimVictory => self.game.referee.lose(!color, Cause::Disconnect, now),
            GameAction::ClaimDraw => {
                self.game.referee.end(Some(GameResult::Draw), Cause::Disconnect, now);
            }
            GameAction::Chat(_) => {}
        }
        Ok(true)
    }

    fn play(
        &mut self,
        color: Color,
        text: &str,
        offers_draw: bool,
        presence: &Presence,
        now: Instant,
    ) -> Result<bool, Refusal> {
        if self.game.is_over() || self.game.referee.turn() != color {
            return refuse(NOT_YOUR_TURN);
        }
        self.game.referee.board.read(text).map_err(|_| invalid_move(text))?;
        if offers_draw && self.game.referee.offers_draw(!color) {
            // The agreement ends the game before the move.
            return Ok(self.draw(color, true, presence, now));
        }
        self.resume_clock(color, now);
        self.game.referee.play(color, text, now, None).map_err(|_| invalid_move(text))?;
        if offers_draw {
            self.game.referee.draw(color, true, now);
        }
        self.await_move(presence, now);
        self.game.moved(now);
        Ok(true)
    }

    fn draw(&mut self, color: Color, agrees: bool, presence: &Presence, now: Instant) -> bool {
        let change = self.game.referee.draw(color, agrees, now);
        match change {
            Some(OfferChange::Made) => announce(presence, &format!("{} offers draw", name(color))),
            Some(OfferChange::Declined) => announce(presence, &format!("{} declines draw", name(color))),
            Some(OfferChange::Accepted | OfferChange::Withdrawn) | None => {}
        }
        change.is_some()
    }

    fn takeback(&mut self, color: Color, agrees: bool, presence: &Presence, now: Instant) -> bool {
        let Some(change) = self.game.referee.takeback(color, agrees, now) else { return false };
        if change == OfferChange::Accepted {
            self.await_move(presence, now);
            self.game.changed(now);
        }
        let text = match change {
            OfferChange::Made => "Takeback sent",
            OfferChange::Accepted => "Takeback accepted",
            OfferChange::Declined => "Takeback declined",
            OfferChange::Withdrawn => "Takeback cancelled",
        };
        announce(presence, text);
        true
    }

    /// Asks for the next move. After a restart the clock waits for its player.
    fn await_move(&mut self, presence: &Presence, now: Instant) {
        let is_awaited = self.returning.is_some() && !presence.is_there(self.game.referee.turn());
        if !(is_awaited && self.has_begun()) {
            self.game.referee.await_move(now);
        }
    }

    /// After a restart the clocks stand until the players are back, but not for ever.
    pub(in crate::lichess) fn await_players(&mut self, now: Instant) {
        self.returning = Some(now + self.timeouts.first_move);
    }

    pub(super) fn resume_clock(&mut self, color: Color, now: Instant) {
        if self.returning.is_some() && color == self.game.referee.turn() {
            self.ensure_clock(now);
        }
    }

    fn ensure_clock(&mut self, now: Instant) {
        if self.has_begun() && !self.game.is_over() && !self.game.referee.clock.is_running() {
            self.game.referee.await_move(now);
        }
    }

    /// Applies the passing of time to a game that goes on; returns whether it has ended it.
    pub(super) fn tick(&mut self, now: Instant) -> bool {
        if self.returning.is_some_and(|until| now >= until) {
            self.returning = None;
            self.ensure_clock(now);
        }
        !self.game.is_over() && self.game.referee.check_time(now)
    }
}

/// Answer to a move that is not the player's to make.
pub(super) const NOT_YOUR_TURN: &str = "Not your turn, or game already over";

/// Answer to a move that is not legal.
pub(super) fn invalid_move(text: &str) -> Refusal {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(10).collect();
    Refusal::bad(&format!("Invalid UCI: {shown}"))
}

fn announce(presence: &Presence, text: &str) {
    presence.tell_chat(Room::Player, "lichess".into(), text.to_owned());
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

fn person(player: &Player) -> Person {
    let bot = player.title.as_ref().is_some_and(|title| *title == Title::Bot);
    Person { name: player.name.clone(), rating: player.rating, bot: Some(bot) }
}
