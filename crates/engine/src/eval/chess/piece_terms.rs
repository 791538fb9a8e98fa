//! Mobility, king danger, threats and passed pawns.
//!
//! Sources: Chess Programming Wiki, "Mobility", "King Safety", "Outposts" and "Passed Pawn"; the terms follow
//! Stockfish's classical evaluation.

use shakmaty::{Bitboard, Board, ByColor, Color, Role, Square, attacks};

use super::{
    bitboards::{ahead, forward_file, pawn_attacks, relative_rank, same_color_squares},
    terms::{self, Group, piece_index},
    trace::Trace,
};

/// Attack maps of both sides, filled piece by piece.
pub(crate) struct AttackMaps<'b> {
    board: &'b Board,
    sides: ByColor<SideAttacks>,
}

/// Attack maps of one side.
#[derive(Default)]
struct SideAttacks {
    king: Option<Square>,
    /// King ring: the squares around the king, extended by a rank ahead.
    ring: Bitboard,
    /// Attacks by [`Role`].
    by_role: [Bitboard; 7],
    all: Bitboard,
    /// Squares attacked at least twice.
    twice: Bitboard,
}

impl SideAttacks {
    fn attacks(&mut self, role: Role, squares: Bitboard) {
        self.twice |= self.all & squares;
        self.all |= squares;
        self.by_role[role as usize] |= squares;
    }
}

const PIECES: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// Traces all terms but those of [`super::pawn_terms`] and the piece-square values.
pub(crate) fn describe(board: &Board, passed: Bitboard, to: &mut impl Trace) {
    let mut maps = AttackMaps::new(board);
    for us in Color::ALL {
        for role in PIECES {
            for square in maps.of(us, role) {
                maps.piece(us, role, square, to);
            }
        }
        if maps.of(us, Role::Bishop).more_than_one() {
            to.add(us, terms::BISHOP_PAIR.at(0), 1);
        }
    }
    for us in Color::ALL {
        maps.danger(us, to);
        maps.threats(us, to);
        for pawn in passed & board.by_color(us) {
            maps.passed(us, pawn, to);
        }
    }
}

impl<'b> AttackMaps<'b> {
    fn new(board: &'b Board) -> Self {
        let sides = ByColor::new_with(|us| {
            let mut side = SideAttacks { king: board.king_of(us), ..SideAttacks::default() };
            if let Some(king) = side.king {
                let around = attacks::king_attacks(king);
                side.attacks(Role::King, around);
                side.ring = around | ahead(us, around) | Bitboard::from_square(king);
            }
            side.attacks(Role::Pawn, pawn_attacks(us, board.pawns() & board.by_color(us)));
            side
        });
        AttackMaps { board, sides }
    }

    fn of(&self, us: Color, role: Role) -> Bitboard {
        self.board.by_piece(role.of(us))
    }

    fn pieces(&self, us: Color) -> Bitboard {
        self.board.by_color(us) & !self.board.pawns() & !self.board.kings()
    }

    /// Traces a knight, bishop, rook or queen and adds its attacks.
    fn piece(&mut self, us: Color, role: Role, square: Square, to: &mut impl Trace) {
        let (board, theirs) = (self.board, self.sides.get(!us));
        let (our_pawns, their_pawns) = (self.of(us, Role::Pawn), self.of(!us, Role::Pawn));
        // X-rays through own sliders that move the same way.
        let seen = match role {
            Role::Bishop => attacks::bishop_attacks(square, board.occupied() & !self.of(us, Role::Queen)),
            Role::Rook => {
                let through = board.rooks_and_queens() & board.by_color(us);
                attacks::rook_attacks(square, board.occupied() & !through)
            }
            Role::Queen => attacks::queen_attacks(square, board.occupied()),
            _ => attacks::knight_attacks(square),
        };
        let blocked = our_pawns & ahead(!us, board.occupied());
        let room = !(theirs.by_role[Role::Pawn as usize] | blocked | self.of(us, Role::King));
        const MOBILITY: [Group; 4] =
            [terms::KNIGHT_MOBILITY, terms::BISHOP_MOBILITY, terms::ROOK_MOBILITY, terms::QUEEN_MOBILITY];
        to.add(us, MOBILITY[piece_index(role)].at((seen & room).count()), 1);

        let ring_attacks = (seen & theirs.ring).count() as i32;
        if ring_attacks > 0 {
            to.danger(!us, terms::DANGER_ATTACKERS.at(piece_index(role)), 1);
            to.danger(!us, terms::DANGER_RING_ATTACKS.at(0), ring_attacks);
        }
        match role {
            Role::Knight | Role::Bishop => {
                if (3..6).contains(&relative_rank(us, square)) && !self.can_be_driven(us, square) {
                    let supported = self.sides.get(us).by_role[Role::Pawn as usize].contains(square);
                    to.add(us, terms::OUTPOST.at(2 * piece_index(role) + usize::from(supported)), 1);
                }
                if role == Role::Bishop {
                    let pawns = (our_pawns & same_color_squares(square)).count() as i32;
                    to.add(us, terms::BISHOP_PAWNS.at(0), pawns);
                }
            }
            Role::Rook => {
                let file = Bitboard::from_file(square.file());
                if (our_pawns & file).is_empty() {
                    to.add(us, terms::ROOK_FILE.at(usize::from((their_pawns & file).is_empty())), 1);
                }
            }
            _ => {}
        }
        self.sides.get_mut(us).attacks(role, seen);
    }

    /// Returns whether an enemy pawn can ever attack this square.
    fn can_be_driven(&self, us: Color, square: Square) -> bool {
        let beside = super::bitboards::adjacent_files(square.file());
        let ahead = super::bitboards::forward_ranks(us, square.rank());
        (self.of(!us, Role::Pawn) & beside & ahead).any()
    }

    /// Traces the danger for a king.
    fn danger(&self, us: Color, to: &mut impl Trace) {
        let (ours, theirs) = (self.sides.get(us), self.sides.get(!us));
        let Some(king) = ours.king else { return };
        let by = |side: &SideAttacks, role: Role| side.by_role[role as usize];
        let held = ours.all & !(by(ours, Role::King) | by(ours, Role::Queen)) | ours.twice;
        let weak = theirs.all & !held;
        let safe = !self.board.by_color(!us) & (!ours.all | weak & theirs.twice);

        let occupied = self.board.occupied() & !self.of(us, Role::Queen);
        let diagonal = attacks::bishop_attacks(king, occupied);
        let straight = attacks::rook_attacks(king, occupied);
        let ways = [attacks::knight_attacks(king), diagonal, straight, diagonal | straight];
        for (role, way) in PIECES.into_iter().zip(ways) {
            let checks = (way & by(theirs, role) & safe).count() as i32;
            if checks > 0 {
                to.danger(us, terms::DANGER_SAFE_CHECKS.at(piece_index(role)), checks.min(2));
            }
        }
        let flank = match king.file() as u32 {
            0..=2 => 0x0f0f_0f0f_0f0f_0f0f,
            3..=4 => 0x3c3c_3c3c_3c3c_3c3c,
            _ => 0xf0f0_f0f0_f0f0_f0f0,
        };
        let home = us.fold_wb(0x0000_00ff_ffff_ffff, 0xffff_ffff_ff00_0000);
        let on_flank = (theirs.all & Bitboard(flank & home)).count() as i32;
        to.danger(us, terms::DANGER_WEAK_RING.at(0), (weak & ours.ring).count() as i32);
        to.danger(us, terms::DANGER_FLANK.at(0), on_flank);
        to.danger(us, terms::DANGER_NO_QUEEN.at(0), i32::from(self.of(!us, Role::Queen).is_empty()));
        to.danger(us, terms::DANGER_BASE.at(0), 1);
    }

    fn threats(&self, us: Color, to: &mut impl Trace) {
        let (ours, theirs) = (self.sides.get(us), self.sides.get(!us));
        let board = self.board;
        let pieces = self.pieces(!us);
        let undefended = board.by_color(!us) & !board.kings() & !theirs.all;
        let by = |role: Role| ours.by_role[role as usize];
        for role in PIECES {
            let targets = self.of(!us, role);
            let attacked = |attacks: Bitboard| (targets & attacks).count() as i32;
            to.add(us, terms::THREAT_BY_PAWN.at(piece_index(role)), attacked(by(Role::Pawn)));
            let minors = by(Role::Knight) | by(Role::Bishop);
            to.add(us, terms::THREAT_BY_MINOR.at(1 + piece_index(role)), attacked(minors));
            to.add(us, terms::THREAT_BY_ROOK.at(1 + piece_index(role)), attacked(by(Role::Rook)));
        }
        let pawns = undefended & board.pawns();
        let minors = by(Role::Knight) | by(Role::Bishop);
        to.add(us, terms::THREAT_BY_MINOR.at(0), (pawns & minors).count() as i32);
        to.add(us, terms::THREAT_BY_ROOK.at(0), (pawns & by(Role::Rook)).count() as i32);
        to.add(us, terms::THREAT_BY_KING.at(0), (undefended & by(Role::King)).count() as i32);
        to.add(us, terms::HANGING.at(0), (pieces & undefended & ours.all).count() as i32);

        let free = !board.occupied();
        let once = ahead(us, self.of(us, Role::Pawn)) & free;
        let third = Bitboard::from_rank(us.fold_wb(shakmaty::Rank::Third, shakmaty::Rank::Sixth));
        let reached = once | ahead(us, once & third) & free;
        let safe = !theirs.by_role[Role::Pawn as usize] & (ours.all | !theirs.all);
        let pushes = pawn_attacks(us, reached & safe) & pieces;
        to.add(us, terms::THREAT_BY_PAWN_PUSH.at(0), pushes.count() as i32);
    }

    /// Traces the further terms of a passed pawn.
    fn passed(&self, us: Color, pawn: Square, to: &mut impl Trace) {
        /// Ranks before this do not count.
        const NEAR: usize = 3;
        let rank = relative_rank(us, pawn);
        if rank < NEAR {
            return;
        }
        let theirs = self.sides.get(!us);
        let way = forward_file(us, pawn);
        let next = ahead(us, Bitboard::from_square(pawn));
        if (next & self.board.occupied()).any() {
            to.add(us, terms::PASSED_BLOCKED.at(rank), 1);
        } else if (next & theirs.all).is_empty() {
            to.add(us, terms::PASSED_SAFE.at(rank), 1);
        }
        if (way & (theirs.all | self.board.by_color(!us))).is_empty() {
            to.add(us, terms::PASSED_FREE_PATH.at(rank), 1);
        }
        let Some(next) = next.first() else { return };
        let weight = (rank - NEAR + 1) as i32;
        for (side, group) in [(us, terms::PASSED_OUR_KING), (!us, terms::PASSED_THEIR_KING)] {
            if let Some(king) = self.sides.get(side).king {
                to.add(us, group.at(king.distance(next) as usize), weight);
            }
        }
    }
}
