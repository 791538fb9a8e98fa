//! Streams of a game's players, and what an absent one can lose.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::Color;
use zeitnot_wire::{
    Message,
    lichess::{GameMessage, UserId},
};

use super::{Game, Hosted, Presence};
use crate::lichess::streams::{Lines, feed};

impl Game {
    /// Opens a stream for a side, which ends the one that the same program had before.
    pub(in crate::lichess) fn watch(&mut self, color: Color, agent: String, now: Instant) -> Lines {
        if let Some(hosted) = self.hosted_mut() {
            hosted.resume_clock(color, now);
        }
        let first = GameMessage::GameFull(Box::new(self.full(now))).to_line();
        let (feed, lines) = feed(vec![first]);
        if !self.is_told() {
            self.presence.add(color, agent, feed);
            self.update_presence(color, now);
        }
        lines
    }

    pub(in crate::lichess) fn close_streams(&mut self) {
        Color::BOTH.into_iter().for_each(|color| self.presence.close(color));
    }

    pub(in crate::lichess) fn close_streams_of(&mut self, who: &UserId) {
        self.color_of(who).into_iter().for_each(|color| self.presence.close(color));
    }

    pub(in crate::lichess) fn is_watched_by(&self, who: &UserId) -> bool {
        self.color_of(who).is_some_and(|color| self.presence.is_there(color))
    }

    pub(super) fn update_presence(&mut self, color: Color, now: Instant) {
        self.presence.refresh(color, now);
        let claim = self.hosted().and_then(|hosted| hosted.claim_in(color, &self.presence, now));
        self.presence.tell_claim(color, claim);
    }
}

impl Hosted {
    /// Whole seconds until the opponent of this side can claim the game; `None` if it is not gone.
    fn claim_in(&self, color: Color, presence: &Presence, now: Instant) -> Option<Duration> {
        let is_live = self.has_begun() && !self.game.is_over();
        let gone_at = presence.away_since(color)? + self.timeouts.gone_after;
        let left = (gone_at + self.timeouts.claim_after).saturating_duration_since(now);
        (is_live && now >= gone_at).then(|| Duration::from_secs(left.as_millis().div_ceil(1000) as u64))
    }

    pub(super) fn can_claim(&self, color: Color, presence: &Presence, now: Instant) -> bool {
        self.claim_in(!color, presence, now).is_some_and(|left| left.is_zero())
    }
}
