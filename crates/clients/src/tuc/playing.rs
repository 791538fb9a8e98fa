//! The running game as the server announces it, move by move.

use std::time::Instant;

use tracing::warn;
use zeitnot_rules::{
    ByColor, Color, Game as _, MoveText,
    tuc::{Move, Square, Tuc},
};
use zeitnot_seat::{Event, OpenRequest};
use zeitnot_wire::tuc::{FromServer, Points};

pub(super) struct Playing {
    pub(super) began: Instant,
    pub(super) color: Color,
    pub(super) board: Tuc,
    pub(super) points: ByColor<u16>,
    /// The last request for a move; our answer, and when its confirmation is due, unless it is overdue already.
    pub(super) request: OpenRequest<(Move, Option<Instant>)>,
    pub(super) last: Option<FromServer>,
}

impl Playing {
    pub(super) fn confirmation_due(&self) -> Option<Instant> {
        self.request.sent().and_then(|(_, due)| *due)
    }

    /// Follows a move as the server announces it.
    pub(super) fn moved(
        &mut self,
        mv: Move,
        to_move: Color,
        prize: Option<Square>,
        points: Points,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        if to_move == self.color && self.board.side_to_move() == self.color {
            events.extend(self.play_unconfirmed());
        }
        self.points = points.after(self.points);
        self.request.clear();
        let is_known = self.board.moves().contains(&mv);
        if !self.board.hear(mv, to_move, prize, self.points) {
            warn!(
                "the server announced {mv}, which does not fit our board: a datagram was lost; following the server"
            );
        }
        if is_known {
            events.extend(MoveText::new(&mv.to_string()).map(Event::Moved));
        }
        events.push(Event::Board(self.board.print()));
        events
    }

    /// Plays our own move, whose confirmation was lost: the opponent has answered it.
    fn play_unconfirmed(&mut self) -> Option<Event> {
        let (mv, _) = *self.request.sent()?;
        self.board.play(mv);
        MoveText::new(&mv.to_string()).map(Event::Moved)
    }

    /// Counts the move that ended the game, which the server does not tell.
    pub(super) fn last_move(&mut self) -> Option<Event> {
        if self.request.is_none() {
            return Some(Event::MovedUnseen);
        }
        self.play_unconfirmed()
    }
}
