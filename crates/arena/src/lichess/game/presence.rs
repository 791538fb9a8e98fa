//! The players' streams of one game, and whether the players are there.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::{
    Message,
    lichess::{ChatLine, GameMessage, OpponentGone, Room},
};

use crate::lichess::streams::{LineKind, LineSender};

/// Streams of one side, of different programs.
const MAX_STREAMS: usize = 4;

#[derive(Debug)]
pub(super) struct Presence(ByColor<Side>);

#[derive(Debug)]
struct Side {
    /// Streams by the `User-Agent` that reads them.
    readers: Vec<(String, LineSender)>,
    away_since: Option<Instant>,
    /// Time until a claim, as last sent to the opponent.
    told: Option<Duration>,
}

impl Presence {
    pub(super) fn new(now: Instant) -> Presence {
        let away = || Side { readers: Vec::new(), away_since: Some(now), told: None };
        Presence(ByColor([away(), away()]))
    }

    /// Adds a stream, which ends the one that the same program had before.
    pub(super) fn add(&mut self, color: Color, agent: String, feed: LineSender) {
        let readers = &mut self.0[color].readers;
        readers.retain(|(other, feed)| *other != agent && feed.is_read());
        if readers.len() == MAX_STREAMS {
            readers.remove(0);
        }
        readers.push((agent, feed));
    }

    pub(super) fn close(&mut self, color: Color) {
        self.0[color].readers.clear();
    }

    pub(super) fn is_there(&self, color: Color) -> bool {
        self.0[color].readers.iter().any(|(_, feed)| feed.is_read())
    }

    /// Drops streams that have ended, and notes when the last one did.
    pub(super) fn refresh(&mut self, color: Color, now: Instant) {
        let side = &mut self.0[color];
        side.readers.retain(|(_, feed)| feed.is_read());
        side.away_since = side.readers.is_empty().then(|| side.away_since.unwrap_or(now));
    }

    pub(super) fn away_since(&self, color: Color) -> Option<Instant> {
        self.0[color].away_since
    }

    /// Tells the opponent when the game can be claimed, if that has changed; `None`: the player is not gone.
    pub(super) fn tell_claim(&mut self, color: Color, claim: Option<Duration>) {
        if std::mem::replace(&mut self.0[color].told, claim) != claim {
            let gone = OpponentGone { gone: claim.is_some(), claim_win_in: claim };
            self.tell_side(!color, &GameMessage::OpponentGone(gone));
        }
    }

    pub(super) fn tell_chat(&self, room: Room, username: String, text: String) {
        self.tell(&GameMessage::ChatLine(ChatLine { room, username, text }));
    }

    pub(super) fn tell(&self, message: &GameMessage) {
        Color::BOTH.into_iter().for_each(|color| self.tell_side(color, message));
    }

    fn tell_side(&self, color: Color, message: &GameMessage) {
        let kind = match message {
            GameMessage::ChatLine(_) => LineKind::Chat,
            GameMessage::OpponentGone(_) => LineKind::Presence,
            _ => LineKind::State,
        };
        for (_, feed) in &self.0[color].readers {
            feed.send(kind, message.to_line());
        }
    }
}
