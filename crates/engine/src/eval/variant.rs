//! The variants of chess: the tables of chess, and what counts in each besides.

use shakmaty::{
    Bitboard, Board, Color, Move, Position, Rank, Role, Square, attacks,
    variant::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck},
};

use zeitnot_rules::variant::{Rules, Variant};

use super::{
    Evaluator,
    chess::{FULL_PHASE, phase, relative},
    pesto,
};
use crate::Score;

/// What it is worth to be on the move.
const TEMPO: i32 = 10;

/// Judges every variant.
#[derive(Copy, Clone, Debug, Default)]
pub struct VariantEval;

impl<P: Opinion> Evaluator<Variant<P>> for VariantEval {
    type State = ();

    fn root(&self, _: &Variant<P>) {}

    fn step(&self, (): &(), _: &Variant<P>, _: Move) {}

    fn score(&self, (): &(), position: &Variant<P>) -> Score {
        let position = position.position();
        let us = position.turn();
        Score::cp(position.lead(us) + position.worth(us) - position.worth(!us) + TEMPO)
    }
}

/// What counts in a variant.
pub trait Opinion: Rules {
    /// By the tables of chess, how far this side is ahead.
    fn lead(&self, us: Color) -> i32 {
        tapered(self.board(), us)
    }

    /// What else a side has.
    fn worth(&self, side: Color) -> i32;
}

/// Material and squares, as in chess.
fn tapered(board: &Board, us: Color) -> i32 {
    let (mut middlegame, mut endgame, mut weight) = (0, 0, 0);
    for (square, piece) in board {
        let (early, late) = pesto::worth(piece.role, relative(square, piece.color));
        let sign = if piece.color == us { 1 } else { -1 };
        middlegame += sign * i32::from(early);
        endgame += sign * i32::from(late);
        weight += i32::from(phase(piece.role));
    }
    let weight = weight.min(FULL_PHASE);
    (middlegame * weight + endgame * (FULL_PHASE - weight)) / FULL_PHASE
}

/// The men of a side, each with its worth by [`Role`], the pawn's first.
fn men(board: &Board, side: Color, worth: [i32; 6]) -> i32 {
    let own = board.by_color(side);
    Role::ALL.iter().zip(worth).map(|(&role, worth)| worth * (own & board.by_role(role)).count() as i32).sum()
}

/// Squares around a king that the other side attacks.
fn pressure_on(board: &Board, king: Square, color: Color) -> i32 {
    let attacked = |&at: &Square| board.attacks_to(at, !color, board.occupied()).any();
    attacks::king_attacks(king).into_iter().filter(attacked).count() as i32
}

/// For the safety of a side's king: each attacked square around it costs so much.
fn exposed(board: &Board, side: Color, each: i32) -> i32 {
    board.king_of(side).map_or(0, |king| each * pressure_on(board, king, side))
}

impl Opinion for Crazyhouse {
    fn worth(&self, side: Color) -> i32 {
        /// In hand, by [`Role`]: a little less than on a good square, so that it is put there.
        const POCKET: [i32; 6] = [90, 320, 330, 450, 900, 0];
        let held = self.pockets().map(|pockets| pockets[side]).unwrap_or_default();
        let held: i32 =
            Role::ALL.iter().zip(POCKET).map(|(&role, worth)| worth * i32::from(*held.get(role))).sum();
        held - exposed(self.board(), side, 15)
    }
}

impl Opinion for Atomic {
    fn worth(&self, side: Color) -> i32 {
        -exposed(self.board(), side, 10)
    }
}

impl Opinion for Antichess {
    fn lead(&self, _: Color) -> i32 {
        0
    }

    fn worth(&self, side: Color) -> i32 {
        /// What it takes to get rid of each, by [`Role`]: the far-reaching are the easiest to be dragged about.
        const BURDEN: [i32; 6] = [-100, -110, -130, -140, -160, -80];
        men(self.board(), side, BURDEN)
    }
}

impl Opinion for Horde {
    fn worth(&self, side: Color) -> i32 {
        // White has no king to lose: Black wins by taking all, White needs a queen.
        let pawns = self.board().pawns() & self.board().by_color(side);
        pawns.into_iter().map(|pawn| 4 * i32::from(relative(pawn, side).rank())).sum()
    }
}

impl Opinion for KingOfTheHill {
    fn worth(&self, side: Color) -> i32 {
        /// By the king's way to the hill.
        const NEAR: [i32; 4] = [0, 90, 35, 0];
        let way = |king: Square| Bitboard::CENTER.into_iter().map(|at| at.distance(king)).min();
        let way = self.board().king_of(side).and_then(way).unwrap_or(3);
        NEAR[way.min(3) as usize]
    }
}

impl Opinion for RacingKings {
    fn lead(&self, _: Color) -> i32 {
        0
    }

    fn worth(&self, side: Color) -> i32 {
        /// By [`Role`]: they bar the way.
        const GUARDS: [i32; 6] = [0, 300, 330, 500, 900, 0];
        /// By the king's rank.
        const RACE: [i32; 8] = [0, 70, 150, 240, 340, 460, 600, 2000];
        let rank = self.board().king_of(side).map_or(Rank::First, Square::rank);
        men(self.board(), side, GUARDS) + RACE[rank as usize]
    }
}

impl Opinion for ThreeCheck {
    fn worth(&self, side: Color) -> i32 {
        /// By the checks that are still to give.
        const NEAR: [i32; 4] = [0, 550, 200, 0];
        let left = self.remaining_checks().map_or(3, |left| u32::from(left[side]));
        NEAR[left.min(3) as usize] - exposed(self.board(), side, 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, variant as game};

    fn score<P: Opinion>(fen: &str) -> i32 {
        VariantEval.score(&(), &Variant::<P>::parse(fen).unwrap()).get()
    }

    #[test]
    fn both_sides_see_the_same_at_the_start() {
        assert_eq!(score::<Crazyhouse>(&game::Crazyhouse::start().print()), TEMPO);
        assert_eq!(score::<Atomic>(&game::Atomic::start().print()), TEMPO);
        assert_eq!(score::<Antichess>(&game::Antichess::start().print()), TEMPO);
        assert_eq!(score::<KingOfTheHill>(&game::KingOfTheHill::start().print()), TEMPO);
        assert_eq!(score::<RacingKings>(&game::RacingKings::start().print()), TEMPO);
        assert_eq!(score::<ThreeCheck>(&game::ThreeCheck::start().print()), TEMPO);
        let horde = game::Horde::start().print();
        let turned = horde.replace(" w ", " b ");
        assert_eq!(score::<Horde>(&horde) - TEMPO, TEMPO - score::<Horde>(&turned));
    }

    #[test]
    fn what_counts_counts() {
        let kings = "4k3/8/8/8/8/8/8/4K3";
        let hand = |pocket| score::<Crazyhouse>(&format!("{kings}[{pocket}] w - - 0 1"));
        assert!(hand("Q") > hand("P") && hand("P") > hand("") && hand("") > hand("p"));
        let checks = |left| score::<ThreeCheck>(&format!("{kings} w - - {left} 0 1"));
        assert!(
            checks("1+3") > checks("2+3") && checks("2+3") > checks("3+3") && checks("3+3") > checks("3+1")
        );
        let hill = |king| score::<KingOfTheHill>(&format!("7k/8/8/8/{king}/8/8/8 w - - 0 1"));
        assert!(hill("2K5") > hill("K7"));
        let race = |king, other| score::<RacingKings>(&format!("8/{king}/8/8/8/{other}/8/8 w - - 0 1"));
        assert!(race("K7", "7k") > race("7k", "K7"));
        let few = score::<Antichess>("8/8/8/8/8/8/P7/7n w - - 0 1");
        assert!(few > score::<Antichess>("8/8/8/8/8/8/PPP5/7n w - - 0 1"));
    }
}
