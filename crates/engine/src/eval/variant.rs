//! Evaluation of chess variants: piece-square tables, and terms of each variant.

use shakmaty::{
    Bitboard, Board, Color, Move, Position, Rank, Role, Square, attacks,
    variant::{Antichess, Atomic, Crazyhouse, Horde, KingOfTheHill, RacingKings, ThreeCheck},
};

use zeitnot_rules::chess::{ChessPosition, ChessRules, VariantPosition};

use super::{
    Evaluator,
    chess::{FULL_PHASE, phase, relative},
    pesto,
};
use crate::Score;

/// Bonus for the side to move.
const TEMPO: i32 = 10;

/// Evaluator of all chess variants.
#[derive(Copy, Clone, Debug, Default)]
pub struct VariantEval;

impl Evaluator<VariantPosition> for VariantEval {
    type State = ();

    fn refresh(&mut self, _: &VariantPosition) {}

    fn update(&mut self, (): &(), _: &VariantPosition, _: Move) {}

    fn evaluate(&mut self, (): &(), position: &VariantPosition) -> Score {
        match position {
            VariantPosition::Crazyhouse(position) => score(position),
            VariantPosition::Atomic(position) => score(position),
            VariantPosition::Antichess(position) => score(position),
            VariantPosition::Horde(position) => score(position),
            VariantPosition::KingOfTheHill(position) => score(position),
            VariantPosition::RacingKings(position) => score(position),
            VariantPosition::ThreeCheck(position) => score(position),
        }
    }
}

fn score<P: VariantTerms>(position: &ChessPosition<P>) -> Score {
    let position = position.position();
    let us = position.turn();
    Score::cp(position.psqt_balance(us) + position.bonus(us) - position.bonus(!us) + TEMPO)
}

/// Evaluation terms of a variant.
trait VariantTerms: ChessRules {
    /// Balance of the piece-square tables for this side.
    fn psqt_balance(&self, us: Color) -> i32 {
        tapered(self.board(), us)
    }

    /// Other terms of a side.
    fn bonus(&self, side: Color) -> i32;
}

/// Tapered evaluation of material and squares.
fn tapered(board: &Board, us: Color) -> i32 {
    let (mut middlegame, mut endgame, mut weight) = (0, 0, 0);
    for color in Color::ALL {
        let sign = if color == us { 1 } else { -1 };
        for role in Role::ALL {
            let pieces = board.by_piece(role.of(color));
            for square in pieces {
                let (early, late) = pesto::value(role, relative(square, color));
                middlegame += sign * i32::from(early);
                endgame += sign * i32::from(late);
            }
            weight += pieces.count() as i32 * i32::from(phase(role));
        }
    }
    let weight = weight.min(FULL_PHASE);
    (middlegame * weight + endgame * (FULL_PHASE - weight)) / FULL_PHASE
}

/// Material of a side by these piece values, pawn first.
fn material(board: &Board, side: Color, worth: [i32; 6]) -> i32 {
    let own = board.by_color(side);
    Role::ALL.iter().zip(worth).map(|(&role, worth)| worth * (own & board.by_role(role)).count() as i32).sum()
}

/// Number of squares around a king that the opponent attacks.
fn attacked_around(board: &Board, king: Square, color: Color) -> i32 {
    let attacked = |&at: &Square| board.attacks_to(at, !color, board.occupied()).any();
    attacks::king_attacks(king).into_iter().filter(attacked).count() as i32
}

/// King-safety penalty: `each` for every attacked square around the king.
fn king_exposure(board: &Board, side: Color, each: i32) -> i32 {
    board.king_of(side).map_or(0, |king| each * attacked_around(board, king, side))
}

impl VariantTerms for Crazyhouse {
    fn bonus(&self, side: Color) -> i32 {
        /// Values in hand by [`Role`]: a little less than on a good square, so that pieces are dropped.
        const POCKET: [i32; 6] = [90, 320, 330, 450, 900, 0];
        let held = self.pockets().map(|pockets| pockets[side]).unwrap_or_default();
        let held: i32 =
            Role::ALL.iter().zip(POCKET).map(|(&role, worth)| worth * i32::from(*held.get(role))).sum();
        held - king_exposure(self.board(), side, 15)
    }
}

impl VariantTerms for Atomic {
    fn bonus(&self, side: Color) -> i32 {
        -king_exposure(self.board(), side, 10)
    }
}

impl VariantTerms for Antichess {
    fn psqt_balance(&self, _: Color) -> i32 {
        0
    }

    fn bonus(&self, side: Color) -> i32 {
        /// Piece values by [`Role`]: long-range pieces are the easiest to force into captures.
        const BURDEN: [i32; 6] = [-100, -110, -130, -140, -160, -80];
        material(self.board(), side, BURDEN)
    }
}

impl VariantTerms for Horde {
    fn bonus(&self, side: Color) -> i32 {
        // White has no king: Black wins by capturing everything, White needs to promote.
        let pawns = self.board().pawns() & self.board().by_color(side);
        pawns.into_iter().map(|pawn| 4 * i32::from(relative(pawn, side).rank())).sum()
    }
}

impl VariantTerms for KingOfTheHill {
    fn bonus(&self, side: Color) -> i32 {
        /// Bonus by the king's distance from the centre.
        const NEAR: [i32; 4] = [0, 90, 35, 0];
        let way = |king: Square| Bitboard::CENTER.into_iter().map(|at| at.distance(king)).min();
        let way = self.board().king_of(side).and_then(way).unwrap_or(3);
        NEAR[way.min(3) as usize]
    }
}

impl VariantTerms for RacingKings {
    fn psqt_balance(&self, _: Color) -> i32 {
        0
    }

    fn bonus(&self, side: Color) -> i32 {
        /// Piece values by [`Role`]: pieces guard ranks and files.
        const GUARDS: [i32; 6] = [0, 300, 330, 500, 900, 0];
        /// Bonus by the king's rank.
        const RACE: [i32; 8] = [0, 70, 150, 240, 340, 460, 600, 2000];
        let rank = self.board().king_of(side).map_or(Rank::First, Square::rank);
        material(self.board(), side, GUARDS) + RACE[rank as usize]
    }
}

impl VariantTerms for ThreeCheck {
    fn bonus(&self, side: Color) -> i32 {
        /// Bonus by the number of checks still to give.
        const NEAR: [i32; 4] = [0, 550, 200, 0];
        let left = self.remaining_checks().map_or(3, |left| u32::from(left[side]));
        NEAR[left.min(3) as usize] - king_exposure(self.board(), side, 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess as game};

    fn score<P: VariantTerms>(fen: &str) -> i32 {
        super::score(&ChessPosition::<P>::parse(fen).unwrap()).get()
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
