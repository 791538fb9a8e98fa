//! What the evaluation of chess is made of, by name: one weight for each term, in one list that the tuner
//! writes and the engine reads.

use shakmaty::{Color, Piece, Role, Square};

use super::relative;

/// Terms that belong together, such as one for each rank.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its first term.
    pub first: usize,
    /// How many it has.
    pub len: usize,
}

impl Group {
    /// One of its terms.
    #[inline]
    pub const fn at(self, index: usize) -> usize {
        debug_assert!(index < self.len);
        self.first + index
    }

    /// Is the term one of these?
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
        /// How many terms there are.
        pub const COUNT: usize = $first;
    };
    (@ $first:expr; $(#[$doc:meta])* $name:ident: $len:expr; $($rest:tt)*) => {
        $(#[$doc])*
        pub const $name: Group = Group { first: $first, len: $len };
        terms! { @ $name.first + $name.len; $($rest)* }
    };
}

terms! {
    /// By role, the pawn's first; kings count nothing.
    MATERIAL: 6;
    /// By role and square, as the piece's own side sees it, from its first rank; a file counts as its mirror image:
    /// what games tell of one they tell of both.
    SQUARES: 6 * 32;
    /// To be on the move.
    TEMPO: 1;
    /// Squares that a knight can go to.
    KNIGHT_MOBILITY: 9;
    /// … a bishop.
    BISHOP_MOBILITY: 14;
    /// … a rook.
    ROOK_MOBILITY: 15;
    /// … a queen.
    QUEEN_MOBILITY: 28;
    /// Two bishops.
    BISHOP_PAIR: 1;
    /// Own pawns on the squares of a bishop's colour.
    BISHOP_PAWNS: 1;
    /// A knight, or a bishop, far ahead where no pawn drives it away: alone, or behind it a pawn.
    OUTPOST: 4;
    /// A rook on a file without pawns of its own, or without any.
    ROOK_FILE: 2;
    /// A pawn without neighbours on the files beside it; and on a half-open file.
    ISOLATED: 2;
    /// Another pawn of one's own ahead.
    DOUBLED: 1;
    /// Left behind, and the square ahead belongs to the others; and on a half-open file.
    BACKWARD: 2;
    /// A pawn that others defend, by rank.
    SUPPORTED: 8;
    /// Two pawns side by side, by rank.
    PHALANX: 8;
    /// A pawn that no other pawn can stop, by rank.
    PASSED: 8;
    /// … with a man before it.
    PASSED_BLOCKED: 8;
    /// … that can take its next step safely.
    PASSED_SAFE: 8;
    /// … whose whole way is free and safe.
    PASSED_FREE: 8;
    /// By the distance of its own king, for each rank after the third.
    PASSED_OUR_KING: 8;
    /// … of the other king.
    PASSED_THEIR_KING: 8;
    /// The own pawn before the king, by its rank (0: none), on the king's file and beside it.
    SHELTER: 16;
    /// Their pawn that comes at the king, by its rank, free to come, or stopped by one of ours.
    STORM: 16;
    /// A pawn attacks a knight, bishop, rook or queen.
    PAWN_ATTACKS: 4;
    /// A knight or bishop attacks an undefended pawn, a knight, bishop, rook or queen.
    MINOR_ATTACKS: 5;
    /// A rook attacks the same.
    ROOK_ATTACKS: 5;
    /// The king attacks what is not defended.
    KING_ATTACKS: 1;
    /// A knight, bishop, rook or queen that is attacked and not defended.
    HANGING: 1;
    /// A pawn can safely move to where it attacks a knight, bishop, rook or queen.
    PUSH_ATTACKS: 1;
    /// Danger for a king: a knight, bishop, rook or queen that looks at the squares around it.
    DANGER_ATTACKERS: 4;
    /// … squares around it that they look at, counted for each.
    DANGER_LOOKS: 1;
    /// … squares around it that are not well defended.
    DANGER_WEAK: 1;
    /// … safe checks by a knight, bishop, rook or queen.
    DANGER_CHECKS: 4;
    /// … their attacks on its side of the board.
    DANGER_FLANK: 1;
    /// … the lack of a queen to attack with.
    DANGER_NO_QUEEN: 1;
    /// … wherever it stands.
    DANGER_ANYWHERE: 1;
}

/// What the dangers add up to does not count as it is: see [`super::trace::penalty`].
pub const DANGER: Group = Group { first: DANGER_ATTACKERS.first, len: COUNT - DANGER_ATTACKERS.first };

/// The terms of a piece on a square: material and place.
pub const fn placed(piece: Piece, square: Square) -> [usize; 2] {
    let role = piece.role as usize - 1;
    [MATERIAL.at(role), on_square(role, relative(square, piece.color) as usize)]
}

/// The term of a role on a square of the board.
pub const fn on_square(role: usize, square: usize) -> usize {
    let (rank, file) = (square / 8, square % 8);
    SQUARES.at(role * 32 + rank * 4 + if file < 4 { file } else { 7 - file })
}

/// The number of a role among knight, bishop, rook and queen.
pub const fn officer(role: Role) -> usize {
    role as usize - Role::Knight as usize
}

/// For White, and against it for Black.
pub const fn sign(color: Color) -> i32 {
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
