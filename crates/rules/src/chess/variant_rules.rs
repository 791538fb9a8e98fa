//! The rules of each variant, and what they mean for a searcher.

use shakmaty::{
    Bitboard, Color, Move, Position, Rank, Role, attacks,
    variant::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck},
};

use super::{
    exchange,
    gives_check::is_check_after,
    rules::{ChessRules, WIN, has_officers, material_gain},
};
use crate::{
    game::{Outcome, Reason},
    kind::GameKind,
};

impl ChessRules for Crazyhouse {
    const KIND: GameKind = GameKind::Crazyhouse;
    /// No piece ever leaves the game.
    const FIFTY_MOVES: bool = false;

    fn reversible_plies(&self) -> u32 {
        // A captured piece may be dropped again, and so may a promoted one.
        u32::MAX
    }

    fn gain(&self, mv: Move) -> i32 {
        // A captured piece changes sides, and is lost twice; a promoted one comes as a pawn.
        let captured = mv.capture().map_or(0, |role| match self.promoted().contains(mv.to()) {
            true => exchange::value(Role::Pawn),
            false => exchange::value(role),
        });
        material_gain(mv) + captured
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        // Everything counts twice; and a piece that is dropped with check may well be lost, as others follow.
        exchange::wins(self.board(), mv, self.turn(), threshold / 2)
            || mv.from().is_none() && threshold <= 0 && is_check_after(self, mv)
    }

    fn may_pass(&self) -> bool {
        // A side with a piece in hand has a move that spoils nothing.
        let hand = self.pockets().map(|pockets| pockets[self.turn()]).unwrap_or_default();
        Role::ALL.iter().any(|&role| *hand.get(role) > 0) || has_officers(self, 2)
    }
}

impl ChessRules for Atomic {
    const KIND: GameKind = GameKind::Atomic;

    fn explosion(&self, capture: Move) -> Option<Bitboard> {
        let around = attacks::king_attacks(capture.to()) & self.board().occupied() & !self.board().pawns();
        capture.from().map(|from| around.without(from))
    }

    fn gain(&self, mv: Move) -> i32 {
        let Some((captured, torn)) = mv.capture().zip(self.explosion(mv)) else { return material_gain(mv) };
        let board = self.board();
        let value = |square| match board.role_at(square) {
            Some(Role::King) => WIN,
            role => role.map_or(0, exchange::value),
        };
        let sum = |pieces: Bitboard| pieces.into_iter().map(value).sum::<i32>();
        let ours = sum(torn & self.us());
        let theirs = sum(torn & self.them());
        exchange::value(captured) - exchange::value(mv.role()) + theirs - ours
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        // Nothing is left on the square that could be recaptured.
        self.gain(mv) >= threshold
    }

    fn may_pass(&self) -> bool {
        // Adjacent kings can neither be checked nor left alone: even a queen gets into zugzwang.
        has_officers(self, 2)
    }
}

impl ChessRules for Antichess {
    const KIND: GameKind = GameKind::Antichess;

    fn end(&self) -> Outcome {
        let board = self.board();
        let winner = Color::ALL.into_iter().find(|&color| board.by_color(color).is_empty());
        winner.map_or(Outcome::Ongoing, |color| Outcome::Win(color.into(), Reason::VariantEnd(Self::KIND)))
    }

    fn no_moves_outcome(&self) -> Outcome {
        Outcome::Win(self.turn().into(), Reason::VariantEnd(Self::KIND))
    }

    fn is_pressed(&self) -> bool {
        !self.capture_moves().is_empty()
    }

    fn gain(&self, mv: Move) -> i32 {
        // Pieces are a burden, so nothing is won; but a capture is never quiet.
        i32::from(mv.is_capture())
    }

    fn material(&self) -> i32 {
        // Fewer pieces are better.
        let board = self.board();
        board.by_color(!self.turn()).count() as i32 * 100 - board.by_color(self.turn()).count() as i32 * 100
    }

    fn see_ge(&self, _mv: Move, threshold: i32) -> bool {
        threshold <= 1
    }

    fn may_pass(&self) -> bool {
        // The game is one of zugzwang.
        false
    }
}

impl ChessRules for Horde {
    const KIND: GameKind = GameKind::Horde;
}

impl ChessRules for KingOfTheHill {
    const KIND: GameKind = GameKind::KingOfTheHill;

    fn wins_at_once(&self, mv: Move) -> bool {
        mv.role() == Role::King && Bitboard::CENTER.contains(mv.to())
    }
}

impl ChessRules for RacingKings {
    const KIND: GameKind = GameKind::RacingKings;

    fn wins_at_once(&self, mv: Move) -> bool {
        // An approximation: Black may still follow.
        mv.role() == Role::King && mv.to().rank() == Rank::Eighth
    }

    fn may_pass(&self) -> bool {
        // With a king on the last rank, the other side has one move left.
        (self.board().kings() & Rank::Eighth).is_empty()
    }
}

impl ChessRules for ThreeCheck {
    const KIND: GameKind = GameKind::ThreeCheck;

    fn wins_at_once(&self, mv: Move) -> bool {
        self.remaining_checks().is_some_and(|left| u32::from(left[self.turn()]) == 1)
            && is_check_after(self, mv)
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        // A check may cost something, the last one everything.
        exchange::wins(self.board(), mv, self.turn(), threshold)
            || is_check_after(self, mv)
                && (self.wins_at_once(mv) || exchange::wins(self.board(), mv, self.turn(), threshold - CHECK))
    }
}

/// The value of a check that does not win yet, in centipawns.
const CHECK: i32 = 250;
