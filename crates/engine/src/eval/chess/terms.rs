//! The list of evaluation terms. Each has one weight, written by the tuner.

use shakmaty::{Color, Piece, Role, Square};

use super::relative;

/// Group of related terms, such as one for each rank.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Group {
    pub first: usize,
    pub len: usize,
}

impl Group {
    /// Returns one of its terms.
    #[inline]
    pub const fn at(self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.first + index
    }

    /// Returns whether it contains a term.
    pub const fn holds(self, term: usize) -> bool {
        term >= self.first && term < self.first + self.len
    }
}

macro_rules! terms {
    ($($(#[$doc:meta])* $name:ident: $len:expr;)*) => {
        terms! { @ 0; $($(#[$doc])* $name: $len;)* }

        /// Every group with its name, in the order of the terms.
        pub const GROUPS: &[(&str, Group)] = &[$((stringify!($name), $name)),*];
    };
    (@ $first:expr;) => {
        /// Number of terms.
        pub const COUNT: usize = $first;
    };
    (@ $first:expr; $(#[$doc:meta])* $name:ident: $len:expr; $($rest:tt)*) => {
        $(#[$doc])*
        pub const $name: Group = Group { first: $first, len: $len };
        terms! { @ $name.first + $name.len; $($rest)* }
    };
}

terms! {
    /// Material by role, pawn first; 0 for kings.
    MATERIAL: 6;
    /// Piece-square values by role and relative square; files are mirrored.
    SQUARES: 6 * 32;
    /// Side to move.
    TEMPO: 1;
    /// Mobility of a knight.
    KNIGHT_MOBILITY: 9;
    /// Mobility of a bishop.
    BISHOP_MOBILITY: 14;
    /// Mobility of a rook.
    ROOK_MOBILITY: 15;
    /// Mobility of a queen.
    QUEEN_MOBILITY: 28;
    /// Bishop pair.
    BISHOP_PAIR: 1;
    /// Own pawns on the squares of a bishop's colour.
    BISHOP_PAWNS: 1;
    /// Outpost of a knight or a bishop, unsupported or supported by a pawn.
    OUTPOST: 4;
    /// Rook on a half-open or an open file.
    ROOK_FILE: 2;
    /// Isolated pawn, on a closed or a half-open file.
    ISOLATED: 2;
    /// Doubled pawn.
    DOUBLED: 1;
    /// Backward pawn, on a closed or a half-open file.
    BACKWARD: 2;
    /// Pawn defended by a pawn, by rank.
    SUPPORTED: 8;
    /// Pawn beside another, by rank.
    PHALANX: 8;
    /// Passed pawn, by rank.
    PASSED: 8;
    /// Blocked passed pawn.
    PASSED_BLOCKED: 8;
    /// Passed pawn whose next square is safe.
    PASSED_SAFE: 8;
    /// Passed pawn whose whole path is safe.
    PASSED_FREE_PATH: 8;
    /// Distance of the own king from a passed pawn, for each rank after the third.
    PASSED_OUR_KING: 8;
    /// Distance of the enemy king.
    PASSED_THEIR_KING: 8;
    /// Shelter pawn by rank (0 if none), on an adjacent file or on the king's.
    SHELTER: 16;
    /// Storming enemy pawn by rank, free or blocked by an own pawn.
    STORM: 16;
    /// Knight, bishop, rook or queen attacked by a pawn.
    THREAT_BY_PAWN: 4;
    /// Undefended pawn, knight, bishop, rook or queen attacked by a minor piece.
    THREAT_BY_MINOR: 5;
    /// The same, attacked by a rook.
    THREAT_BY_ROOK: 5;
    /// Undefended piece attacked by the king.
    THREAT_BY_KING: 1;
    /// Hanging knight, bishop, rook or queen.
    HANGING: 1;
    /// Piece that a safe pawn push would attack.
    THREAT_BY_PAWN_PUSH: 1;
    /// King danger: knights, bishops, rooks and queens that attack the king ring.
    DANGER_ATTACKERS: 4;
    /// King danger: their attacks on the king ring.
    DANGER_RING_ATTACKS: 1;
    /// King danger: weak squares of the king ring.
    DANGER_WEAK_RING: 1;
    /// King danger: safe checks by a knight, bishop, rook or queen.
    DANGER_SAFE_CHECKS: 4;
    /// King danger: attacks on the king's flank.
    DANGER_FLANK: 1;
    /// King danger: the attacker has no queen.
    DANGER_NO_QUEEN: 1;
    /// King danger: constant.
    DANGER_BASE: 1;
}

/// The king-danger terms, whose sum counts as in [`super::trace::penalty`].
pub const DANGER: Group = Group { first: DANGER_ATTACKERS.first, len: COUNT - DANGER_ATTACKERS.first };

/// Terms of a piece on a square: material and piece-square value.
pub(crate) const fn placed(piece: Piece, square: Square) -> [usize; 2] {
    let role = piece.role as usize - 1;
    [MATERIAL.at(role), square_term(role, relative(square, piece.color) as usize)]
}

/// Piece-square term of a role.
pub(crate) const fn square_term(role: usize, square: usize) -> usize {
    let (rank, file) = (square / 8, square % 8);
    SQUARES.at(role * 32 + rank * 4 + if file < 4 { file } else { 7 - file })
}

/// Index of a role among knight, bishop, rook and queen.
pub(crate) const fn piece_index(role: Role) -> usize {
    role as usize - Role::Knight as usize
}

/// 1 for White, -1 for Black.
pub(crate) const fn sign(color: Color) -> i32 {
    match color {
        Color::White => 1,
        Color::Black => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_belongs_to_one_group_and_dangers_are_the_last() {
        for term in 0..COUNT {
            assert_eq!(GROUPS.iter().filter(|(_, group)| group.holds(term)).count(), 1);
        }
        let dangers = GROUPS.iter().filter(|(name, _)| name.starts_with("DANGER"));
        assert_eq!(dangers.map(|(_, group)| group.len).sum::<usize>(), DANGER.len);
        assert!(GROUPS.iter().all(|(name, group)| name.starts_with("DANGER") == DANGER.holds(group.first)));
    }
}
