//! Gardner's minichess: chess on 5×5 squares, without double steps and castling.
//!
//! The board is the corner at a1 of the usual one. What leads from one of its squares to another does not leave it on
//! the way, so the attacks, checks and pins of chess are those of this game.
//!
//! Source: Martin Gardner, "Mathematical Games", Scientific American, 1969; solved as a draw by Mhalla and Prost,
//! "Gardner's Minichess Variant is Solved" (2013).

use std::num::NonZeroU32;

use shakmaty::{
    Bitboard, Board, ByColor, ByRole, Castles, CastlingMode, Chess, Color, Move, MoveList, Outcome, Position,
    Rank, RemainingChecks, Role, Setup, Square,
};

use super::{
    captures, fen, gives_check,
    rules::{ChessRules, SetUp},
};
use crate::kind::GameKind;

/// Rows and columns.
const SIZE: usize = 5;
/// White's pawns promote here.
const LAST: Rank = Rank::Fifth;
const START: &str = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1";
const SQUARES: Bitboard = Bitboard(0x1f_1f_1f_1f_1f);
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// A position of Gardner's minichess, as one of chess with empty squares beyond its board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GardnerRules(Chess);

impl GardnerRules {
    /// The moves of this game among those of chess.
    fn adapt(&self, moves: &MoveList) -> MoveList {
        let mut adapted = MoveList::new();
        for &mv in moves.iter().filter(|mv| SQUARES.contains(mv.to())) {
            match mv {
                Move::Normal { role: role @ Role::Pawn, from, capture, to, .. } if to.rank() == LAST => {
                    let promote = |piece| Move::Normal { role, from, capture, to, promotion: Some(piece) };
                    adapted.extend(PROMOTIONS.map(promote));
                }
                Move::Normal { role: Role::Pawn, from, to, .. } if from.rank().distance(to.rank()) > 1 => {}
                _ => adapted.push(mv),
            }
        }
        adapted
    }
}

impl Default for GardnerRules {
    fn default() -> Self {
        fen::read(START).unwrap_or_else(|error| unreachable!("{error}"))
    }
}

impl SetUp for GardnerRules {
    fn set_up(setup: Setup, mode: CastlingMode) -> Result<Self, String> {
        let board = &setup.board;
        if !board.occupied().is_subset(SQUARES) {
            return Err("the board has 5×5 squares".to_owned());
        }
        if (board.pawns() & LAST).any() {
            return Err("illegal position: pawns on backrank".to_owned());
        }
        let setup = Setup { castling_rights: Bitboard::EMPTY, ep_square: None, ..setup };
        Chess::set_up(setup, mode).map(GardnerRules)
    }
}

impl Position for GardnerRules {
    fn board(&self) -> &Board {
        self.0.board()
    }

    fn promoted(&self) -> Bitboard {
        self.0.promoted()
    }

    fn pockets(&self) -> Option<&ByColor<ByRole<u8>>> {
        self.0.pockets()
    }

    fn turn(&self) -> Color {
        self.0.turn()
    }

    fn castles(&self) -> &Castles {
        self.0.castles()
    }

    fn maybe_ep_square(&self) -> Option<Square> {
        self.0.maybe_ep_square()
    }

    fn remaining_checks(&self) -> Option<&ByColor<RemainingChecks>> {
        self.0.remaining_checks()
    }

    fn halfmoves(&self) -> u32 {
        self.0.halfmoves()
    }

    fn fullmoves(&self) -> NonZeroU32 {
        self.0.fullmoves()
    }

    fn legal_moves(&self) -> MoveList {
        self.adapt(&self.0.legal_moves())
    }

    fn san_candidates(&self, role: Role, to: Square) -> MoveList {
        self.adapt(&self.0.san_candidates(role, to))
    }

    fn is_variant_end(&self) -> bool {
        false
    }

    fn has_insufficient_material(&self, color: Color) -> bool {
        self.0.has_insufficient_material(color)
    }

    fn variant_outcome(&self) -> Outcome {
        Outcome::Unknown
    }

    fn play_unchecked(&mut self, mv: Move) {
        self.0.play_unchecked(mv);
    }
}

impl ChessRules for GardnerRules {
    const KIND: GameKind = GameKind::Gardner;
    const SIZE: usize = SIZE;
    const KEY_FOLLOWS_PIECES: bool = true;

    fn is_noisy(&self, mv: Move) -> bool {
        captures::is_noisy(mv)
    }

    fn gives_check(&self, mv: Move) -> bool {
        gives_check::gives_check(&self.0, mv)
    }
}

#[cfg(test)]
mod tests {
    use super::START;
    use crate::{
        Color, Game, GameHistory, MoveText, Outcome, Reason, Tactics,
        chess::{Chess, Gardner},
    };

    fn outcome(fen: &str) -> Outcome {
        Gardner::parse(fen).unwrap().outcome()
    }

    /// The moves of a piece, as they are written.
    fn moves(fen: &str, from: &str) -> Vec<String> {
        let position = Gardner::parse(fen).unwrap();
        let all = position.moves().into_iter().map(|mv| position.write(mv).to_string());
        let mut own: Vec<_> = all.filter(|text| text.starts_with(from)).collect();
        own.sort_unstable();
        own
    }

    #[test]
    fn mates_stalemates_and_lack_of_material_end_the_game() {
        let won = |color| Outcome::Win(color, Reason::Checkmate);
        let draw = Outcome::Draw;
        for (fen, expected) in [
            ("4k/4Q/4K/5/5 b - - 0 1", won(Color::White)),
            // In chess the king could go to the sixth rank, or beyond the e-file.
            ("R3k/5/4K/5/5 b - - 0 1", won(Color::White)),
            ("5/5/4k/5/r3K w - - 0 1", won(Color::Black)),
            ("4k/5/3QK/5/5 b - - 0 1", draw(Reason::Stalemate)),
            ("k4/5/K4/5/5 w - - 0 1", draw(Reason::InsufficientMaterial)),
            ("k4/5/K4/5/4N w - - 0 1", draw(Reason::InsufficientMaterial)),
            ("k4/5/K4/1p3/5 w - - 0 1", Outcome::Ongoing),
            ("k4/5/K4/5/3RR w - - 99 60", Outcome::Ongoing),
            ("k4/5/K4/5/3RR w - - 100 60", draw(Reason::FiftyMoves)),
        ] {
            assert_eq!(outcome(fen), expected, "{fen}");
        }
    }

    #[test]
    fn the_third_time_is_a_draw() {
        let mut game = GameHistory::new(Gardner::parse("k4/5/5/5/3RK w - - 0 1").unwrap());
        for text in ["d1c1", "a5a4", "c1d1", "a4a5"].into_iter().cycle().take(8) {
            assert_eq!(game.outcome(), Outcome::Ongoing);
            game.play(game.now().read(text).unwrap());
        }
        assert_eq!(game.outcome(), Outcome::Draw(Reason::ThreefoldRepetition));
    }

    #[test]
    fn pawns_go_one_square_and_promote_to_four_pieces() {
        assert_eq!(moves(START, "b2"), ["b2b3"]);
        assert_eq!(moves("4k/1P3/5/5/4K w - - 0 1", "b4"), ["b4b5b", "b4b5n", "b4b5q", "b4b5r"]);
        assert_eq!(moves("4k/5/5/1p3/R3K b - - 0 1", "b2").len(), 8);
        let position = Gardner::parse("2r1k/1P3/5/5/4K w - - 0 1").unwrap();
        let mv = position.read("bxc5=N").unwrap();
        assert_eq!(
            (position.write(mv), position.gain(mv)),
            (MoveText::new("b4c5n").unwrap(), 500 + 320 - 100)
        );
        assert!(position.noisy_moves().iter().all(|mv| position.write(*mv).as_str().ends_with('q')));
        assert!(["b4b5", "b4b5k", "b4c5p", "b5=K"].iter().all(|text| position.read(text).is_err()));
        let queen = position.read("bxc5=Q+").unwrap();
        assert!(position.gives_check(queen) && position.see_ge(queen, 500 + 800));
    }

    #[test]
    fn pinned_pieces_and_kings_stay_within_the_rules() {
        // On the file of the pin; not out of it, and not off the board.
        assert_eq!(moves("4r/3k1/4R/5/4K w - - 0 1", "e3"), ["e3e2", "e3e4", "e3e5"]);
        assert!(moves("4r/3k1/4N/5/4K w - - 0 1", "e3").is_empty());
        assert_eq!(moves("4k/5/5/5/R3K w - - 0 1", "e1"), ["e1d1", "e1d2", "e1e2"]);
    }

    #[test]
    fn text_is_that_of_the_small_board() {
        assert_eq!(Gardner::start().print(), START);
        let fen = "r3k/1ppp1/5/P1P1P/1RKQ1 b - - 7 12";
        let position = Gardner::parse(fen).unwrap();
        assert_eq!((position.print(), position.rows(), position.columns()), (fen.to_owned(), 5, 5));
        let rook = position.read("a5a2").unwrap();
        assert_eq!((position.target(rook), position.san(rook).as_str()), (5, "Rxa2"));
        // Rights that this game does not have are left out.
        let rights = Gardner::parse("rnbqk/ppppp/5/PPPPP/RNBQK w Q - 0 1").unwrap();
        assert_eq!(rights.print(), START);
        for fen in [
            Chess::start().print().as_str(),
            "rnbqk/ppppp/5/PPPPP w - - 0 1",
            "rnbqk/ppppp/5/5/PPPPP/RNBQK w - - 0 1",
            "rnbqk/ppppp/6/PPPPP/RNBQK w - - 0 1",
            "rnbqk/ppppp/4/PPPPP/RNBQK w - - 0 1",
            "rnbqk/ppppp/8/PPPPP/RNBQK w - - 0 1",
            "rnbqk/ppppp/5/PPPPP/RNBQ1 w - - 0 1",
            "rnbqk/ppppp/5/PPPPP/RNBPK w - - 0 1",
            "rnbPk/ppppp/5/PPPPP/RNBQK w - - 0 1",
            "rnbqp/ppppk/5/PPPPP/RNBQK w - - 0 1",
            "R3k/5/5/5/4K w - - 0 1",
        ] {
            assert!(Gardner::parse(fen).is_err(), "{fen}");
        }
    }
}
