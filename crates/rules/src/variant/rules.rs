//! What each variant does differently, and what that means for a searcher.

use std::fmt::Debug;

use shakmaty::{
    Bitboard, Color, FromSetup, Move, Position, Rank, Role, attacks,
    variant::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck},
};

use crate::{
    Outcome, Reason,
    chess::{checks::is_check_behind, exchange},
};

/// More than all the men on the board, in centipawns: what a move brings that wins at once.
const WINS: i32 = 10_000;

/// The settings of one variant, besides what shakmaty knows of it.
pub trait Rules:
    Position + FromSetup + Default + Clone + Debug + PartialEq + Eq + Send + Sync + 'static
{
    /// The game's name in configurations.
    const NAME: &'static str;
    /// Are a hundred plies without a capture or a pawn's move a draw?
    const FIFTY_MOVES: bool = true;

    /// Plies since the last move that cannot be taken back.
    fn reversible_plies(&self) -> u32 {
        self.halfmoves()
    }

    /// Has somebody won in this variant's own way? Cheap, so no move is generated.
    fn end(&self) -> Outcome {
        match self.variant_outcome() {
            shakmaty::Outcome::Unknown => Outcome::Ongoing,
            shakmaty::Outcome::Known(known) => known.winner().map_or(Outcome::Draw(Reason::VariantEnd), won),
        }
    }

    /// How the game stands when the side to move has no legal move.
    fn stuck(&self) -> Outcome {
        match self.is_check() {
            true => Outcome::Win((!self.turn()).into(), Reason::Checkmate),
            false => Outcome::Draw(Reason::Stalemate),
        }
    }

    /// Must the side to move answer something, so that its position cannot be judged as it stands?
    fn is_pressed(&self) -> bool {
        self.is_check()
    }

    /// Does this move end the game in this variant's own way?
    fn wins_at_once(&self, _mv: Move) -> bool {
        false
    }

    /// Material won at once.
    fn gain(&self, mv: Move) -> i32 {
        plain_gain(mv) + if self.wins_at_once(mv) { WINS } else { 0 }
    }

    /// Does the exchange on the target square win at least so much?
    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        self.wins_at_once(mv) || exchange::wins(self.board(), mv, self.turn(), threshold)
    }

    /// Does it prove something to let the other side move twice? Not where zugzwang is near.
    fn may_pass(&self) -> bool {
        has_officers(self, 2) || (self.us() & self.board().rooks_and_queens()).any()
    }
}

/// Has the side to move so many men besides king and pawns?
fn has_officers<P: Rules>(position: &P, least: usize) -> bool {
    let board = position.board();
    (position.us() & !board.pawns() & !board.kings()).count() >= least
}

fn won(winner: Color) -> Outcome {
    Outcome::Win(winner.into(), Reason::VariantEnd)
}

fn plain_gain(mv: Move) -> i32 {
    let promoted = mv.promotion().map_or(0, |role| exchange::value(role) - exchange::value(Role::Pawn));
    mv.capture().map_or(0, exchange::value) + promoted
}

impl Rules for Crazyhouse {
    const NAME: &'static str = "crazyhouse";
    /// No man ever leaves the game.
    const FIFTY_MOVES: bool = false;

    fn reversible_plies(&self) -> u32 {
        // What was captured may be dropped again, and so may what was promoted.
        u32::MAX
    }

    fn gain(&self, mv: Move) -> i32 {
        // What is taken changes sides, and is lost twice; what was promoted comes as a pawn.
        let taken = mv.capture().map_or(0, |role| match self.promoted().contains(mv.to()) {
            true => exchange::value(Role::Pawn),
            false => exchange::value(role),
        });
        plain_gain(mv) + taken
    }

    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        // Everything counts twice; and a man that is dropped with check may well be lost, as others follow.
        exchange::wins(self.board(), mv, self.turn(), threshold / 2)
            || mv.from().is_none() && threshold <= 0 && is_check_behind(self, mv)
    }

    fn may_pass(&self) -> bool {
        // Who has a man in hand has a move that spoils nothing.
        let hand = self.pockets().map(|pockets| pockets[self.turn()]).unwrap_or_default();
        Role::ALL.iter().any(|&role| *hand.get(role) > 0) || has_officers(self, 2)
    }
}

impl Rules for Atomic {
    const NAME: &'static str = "atomic";

    fn gain(&self, mv: Move) -> i32 {
        let Some((from, captured)) = mv.from().zip(mv.capture()) else { return plain_gain(mv) };
        let board = self.board();
        let torn = (attacks::king_attacks(mv.to()) & board.occupied() & !board.pawns()).without(from);
        let worth = |square| match board.role_at(square) {
            Some(Role::King) => WINS,
            role => role.map_or(0, exchange::value),
        };
        let sum = |men: Bitboard| men.into_iter().map(worth).sum::<i32>();
        let (ours, theirs) = (sum(torn & self.us()), sum(torn & self.them()));
        exchange::value(captured) - exchange::value(mv.role()) + theirs - ours
    }

    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        // Nothing is left on the square that could be taken back.
        self.gain(mv) >= threshold
    }

    fn may_pass(&self) -> bool {
        // Kings side by side can neither be checked nor left alone: even a queen gets into zugzwang.
        has_officers(self, 2)
    }
}

impl Rules for Antichess {
    const NAME: &'static str = "antichess";

    fn end(&self) -> Outcome {
        let board = self.board();
        Color::ALL.into_iter().find(|&color| board.by_color(color).is_empty()).map_or(Outcome::Ongoing, won)
    }

    fn stuck(&self) -> Outcome {
        won(self.turn())
    }

    fn is_pressed(&self) -> bool {
        !self.capture_moves().is_empty()
    }

    fn gain(&self, mv: Move) -> i32 {
        // Men are a burden, so nothing is won; but a capture is never quiet.
        i32::from(mv.is_capture())
    }

    fn exchange(&self, _mv: Move, threshold: i32) -> bool {
        threshold <= 1
    }

    fn may_pass(&self) -> bool {
        // To have to move is what the game is about.
        false
    }
}

impl Rules for Horde {
    const NAME: &'static str = "horde";
}

impl Rules for KingOfTheHill {
    const NAME: &'static str = "king-of-the-hill";

    fn wins_at_once(&self, mv: Move) -> bool {
        mv.role() == Role::King && Bitboard::CENTER.contains(mv.to())
    }
}

impl Rules for RacingKings {
    const NAME: &'static str = "racing-kings";

    fn wins_at_once(&self, mv: Move) -> bool {
        // Or so it seems: Black may still follow.
        mv.role() == Role::King && mv.to().rank() == Rank::Eighth
    }

    fn may_pass(&self) -> bool {
        // One king is there, and the other has one move left.
        (self.board().kings() & Rank::Eighth).is_empty()
    }
}

impl Rules for ThreeCheck {
    const NAME: &'static str = "three-check";

    fn wins_at_once(&self, mv: Move) -> bool {
        self.remaining_checks().is_some_and(|left| u32::from(left[self.turn()]) == 1)
            && is_check_behind(self, mv)
    }

    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        // A check may cost something, the last one everything.
        exchange::wins(self.board(), mv, self.turn(), threshold)
            || is_check_behind(self, mv)
                && (self.wins_at_once(mv) || exchange::wins(self.board(), mv, self.turn(), threshold - CHECK))
    }
}

/// What a check is worth that does not win yet, in centipawns.
const CHECK: i32 = 250;
