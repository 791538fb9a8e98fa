//! Pieces, kings, threats and passed pawns: the terms that change with every move.

use shakmaty::{Bitboard, Board, ByColor, Color, Role, Square, attacks};

use super::{
    bitboards::{ahead, pawn_attacks, rank_of, same_colour, way},
    terms::{self, Group, officer},
    trace::Trace,
};

/// Who attacks what: filled piece by piece, and then asked by the other terms.
pub struct Scene<'b> {
    board: &'b Board,
    sides: ByColor<Side>,
}

/// What one side does.
#[derive(Default)]
struct Side {
    king: Option<Square>,
    /// The squares around its king, and those two ranks ahead of it.
    ring: Bitboard,
    /// By [`Role`].
    by_role: [Bitboard; 7],
    all: Bitboard,
    /// Attacked at least twice.
    twice: Bitboard,
}

impl Side {
    fn attacks(&mut self, role: Role, squares: Bitboard) {
        self.twice |= self.all & squares;
        self.all |= squares;
        self.by_role[role as usize] |= squares;
    }
}

const OFFICERS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// Tells every term but those of [`super::pawns`] and of the pieces' places.
pub fn describe(board: &Board, passed: Bitboard, to: &mut impl Trace) {
    let mut scene = Scene::new(board);
    for us in Color::ALL {
        for role in OFFICERS {
            for square in scene.of(us, role) {
                scene.officer(us, role, square, to);
            }
        }
        if scene.of(us, Role::Bishop).more_than_one() {
            to.add(us, terms::BISHOP_PAIR.at(0), 1);
        }
    }
    for us in Color::ALL {
        scene.danger(us, to);
        scene.threats(us, to);
        for pawn in passed & board.by_color(us) {
            scene.passed(us, pawn, to);
        }
    }
}

impl<'b> Scene<'b> {
    /// Kings and pawns are there at once.
    fn new(board: &'b Board) -> Self {
        let sides = ByColor::new_with(|us| {
            let mut side = Side { king: board.king_of(us), ..Side::default() };
            if let Some(king) = side.king {
                let around = attacks::king_attacks(king);
                side.attacks(Role::King, around);
                side.ring = around | ahead(us, around) | Bitboard::from_square(king);
            }
            side.attacks(Role::Pawn, pawn_attacks(us, board.pawns() & board.by_color(us)));
            side
        });
        Scene { board, sides }
    }

    fn of(&self, us: Color, role: Role) -> Bitboard {
        self.board.by_piece(role.of(us))
    }

    fn officers(&self, us: Color) -> Bitboard {
        self.board.by_color(us) & !self.board.pawns() & !self.board.kings()
    }

    /// A knight, bishop, rook or queen.
    fn officer(&mut self, us: Color, role: Role, square: Square, to: &mut impl Trace) {
        let (board, theirs) = (self.board, self.sides.get(!us));
        let (our_pawns, their_pawns) = (self.of(us, Role::Pawn), self.of(!us, Role::Pawn));
        // Sliders look through those of their own that move the same way.
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
        to.add(us, MOBILITY[officer(role)].at((seen & room).count()), 1);

        let looks = (seen & theirs.ring).count() as i32;
        if looks > 0 {
            to.danger(!us, terms::DANGER_ATTACKERS.at(officer(role)), 1);
            to.danger(!us, terms::DANGER_LOOKS.at(0), looks);
        }
        match role {
            Role::Knight | Role::Bishop => {
                if (3..6).contains(&rank_of(us, square)) && !self.can_be_driven(us, square) {
                    let supported = self.sides.get(us).by_role[Role::Pawn as usize].contains(square);
                    to.add(us, terms::OUTPOST.at(2 * officer(role) + usize::from(supported)), 1);
                }
                if role == Role::Bishop {
                    let pawns = (our_pawns & same_colour(square)).count() as i32;
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

    /// Can a pawn of theirs come to attack this square?
    fn can_be_driven(&self, us: Color, square: Square) -> bool {
        let beside = super::bitboards::beside(square.file());
        let ahead = super::bitboards::ranks_ahead(us, square.rank());
        (self.of(!us, Role::Pawn) & beside & ahead).any()
    }

    /// What threatens our king.
    fn danger(&self, us: Color, to: &mut impl Trace) {
        let (ours, theirs) = (self.sides.get(us), self.sides.get(!us));
        let Some(king) = ours.king else { return };
        let by = |side: &Side, role: Role| side.by_role[role as usize];
        let held = ours.all & !(by(ours, Role::King) | by(ours, Role::Queen)) | ours.twice;
        let weak = theirs.all & !held;
        let safe = !self.board.by_color(!us) & (!ours.all | weak & theirs.twice);

        let occupied = self.board.occupied() & !self.of(us, Role::Queen);
        let diagonal = attacks::bishop_attacks(king, occupied);
        let straight = attacks::rook_attacks(king, occupied);
        let ways = [attacks::knight_attacks(king), diagonal, straight, diagonal | straight];
        for (role, way) in OFFICERS.into_iter().zip(ways) {
            let checks = (way & by(theirs, role) & safe).count() as i32;
            if checks > 0 {
                to.danger(us, terms::DANGER_CHECKS.at(officer(role)), checks.min(2));
            }
        }
        let flank = match king.file() as u32 {
            0..=2 => 0x0f0f_0f0f_0f0f_0f0f,
            3..=4 => 0x3c3c_3c3c_3c3c_3c3c,
            _ => 0xf0f0_f0f0_f0f0_f0f0,
        };
        let home = us.fold_wb(0x0000_00ff_ffff_ffff, 0xffff_ffff_ff00_0000);
        let on_flank = (theirs.all & Bitboard(flank & home)).count() as i32;
        to.danger(us, terms::DANGER_WEAK.at(0), (weak & ours.ring).count() as i32);
        to.danger(us, terms::DANGER_FLANK.at(0), on_flank);
        to.danger(us, terms::DANGER_NO_QUEEN.at(0), i32::from(self.of(!us, Role::Queen).is_empty()));
        to.danger(us, terms::DANGER_ANYWHERE.at(0), 1);
    }

    /// What we threaten to take.
    fn threats(&self, us: Color, to: &mut impl Trace) {
        let (ours, theirs) = (self.sides.get(us), self.sides.get(!us));
        let board = self.board;
        let officers = self.officers(!us);
        let undefended = board.by_color(!us) & !board.kings() & !theirs.all;
        let by = |role: Role| ours.by_role[role as usize];
        for role in OFFICERS {
            let targets = self.of(!us, role);
            let attacked = |attacks: Bitboard| (targets & attacks).count() as i32;
            to.add(us, terms::PAWN_ATTACKS.at(officer(role)), attacked(by(Role::Pawn)));
            let minors = by(Role::Knight) | by(Role::Bishop);
            to.add(us, terms::MINOR_ATTACKS.at(1 + officer(role)), attacked(minors));
            to.add(us, terms::ROOK_ATTACKS.at(1 + officer(role)), attacked(by(Role::Rook)));
        }
        let pawns = undefended & board.pawns();
        let minors = by(Role::Knight) | by(Role::Bishop);
        to.add(us, terms::MINOR_ATTACKS.at(0), (pawns & minors).count() as i32);
        to.add(us, terms::ROOK_ATTACKS.at(0), (pawns & by(Role::Rook)).count() as i32);
        to.add(us, terms::KING_ATTACKS.at(0), (undefended & by(Role::King)).count() as i32);
        to.add(us, terms::HANGING.at(0), (officers & undefended & ours.all).count() as i32);

        let free = !board.occupied();
        let once = ahead(us, self.of(us, Role::Pawn)) & free;
        let third = Bitboard::from_rank(us.fold_wb(shakmaty::Rank::Third, shakmaty::Rank::Sixth));
        let reached = once | ahead(us, once & third) & free;
        let safe = !theirs.by_role[Role::Pawn as usize] & (ours.all | !theirs.all);
        let pushes = pawn_attacks(us, reached & safe) & officers;
        to.add(us, terms::PUSH_ATTACKS.at(0), pushes.count() as i32);
    }

    /// A pawn that no other can stop; who else does?
    fn passed(&self, us: Color, pawn: Square, to: &mut impl Trace) {
        /// Ranks before this are too far away to matter.
        const NEAR: usize = 3;
        let rank = rank_of(us, pawn);
        if rank < NEAR {
            return;
        }
        let theirs = self.sides.get(!us);
        let way = way(us, pawn);
        let next = ahead(us, Bitboard::from_square(pawn));
        if (next & self.board.occupied()).any() {
            to.add(us, terms::PASSED_BLOCKED.at(rank), 1);
        } else if (next & theirs.all).is_empty() {
            to.add(us, terms::PASSED_SAFE.at(rank), 1);
        }
        if (way & (theirs.all | self.board.by_color(!us))).is_empty() {
            to.add(us, terms::PASSED_FREE.at(rank), 1);
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
