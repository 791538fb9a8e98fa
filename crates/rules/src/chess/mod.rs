//! Standard chess and Chess960, on shakmaty.
//!
//! [`Chess`] wraps shakmaty's position and keeps its key up to date with the move, because hashing from
//! scratch costs more than the move itself. The fields behind it stay private to the rules: a searcher
//! sees [`Game`] and [`Tactics`], an evaluator reads the board by [`Chess::board`].

use shakmaty::{
    Board, CastlingMode, CastlingSide, EnPassantMode, Move, Piece, Position, Role, Setup, Square,
    fen::Fen,
    san::SanPlus,
    zobrist::{Zobrist64, ZobristValue},
};

use super::{Color, Game, GameError, Key, MoveText, Moves, Outcome, Packed, PieceTo, Reason, Tactics};

pub(super) mod checks;
pub(super) mod exchange;
mod noisy;
pub(super) mod notation;
pub(super) mod packing;
pub(super) mod setup;
mod shuffled;

pub use shuffled::shuffled;

/// Plies without a capture or a pawn move that make a draw.
pub const FIFTY_MOVES: u32 = 100;

/// A legal position of chess.
///
/// ```
/// use zeitnot_rules::{Game, chess::Chess};
///
/// let mut position = Chess::start();
/// position.play(position.read("e2-e4").unwrap());
/// assert_eq!(position.print(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chess {
    position: shakmaty::Chess,
    /// `position.zobrist_hash(EnPassantMode::Legal)`, kept with the move.
    key: Zobrist64,
    /// Is the side to move in check? A search asks it several times.
    check: bool,
}

impl Chess {
    /// Reads a FEN; how castling is written then follows from `mode`, not from the position.
    ///
    /// # Errors
    /// [`GameError::Position`] with what is wrong with it.
    pub fn parse_as(text: &str, mode: CastlingMode) -> Result<Self, GameError> {
        let position: shakmaty::Chess = setup::read_as(text, Self::NAME, mode)?;
        Ok(Chess::from(position))
    }

    /// As shakmaty has it.
    pub fn position(&self) -> &shakmaty::Chess {
        &self.position
    }

    /// The pieces.
    pub fn board(&self) -> &Board {
        self.position.board()
    }

    /// Whose turn it is, in shakmaty's terms.
    pub fn turn(&self) -> shakmaty::Color {
        self.position.turn()
    }

    /// All that a FEN says of the position.
    pub fn setup(&self) -> Setup {
        self.position.to_setup(EnPassantMode::Legal)
    }

    /// Can a side castle as only in Chess960?
    pub fn is_chess960(&self) -> bool {
        self.position.castles().mode() == CastlingMode::Chess960
    }

    /// The part of the key that the move's squares do not tell: castling rights and en passant.
    fn rights(&self) -> Zobrist64 {
        let mut key = Zobrist64::default();
        let castles = self.position.castles();
        if castles.any() {
            for color in shakmaty::Color::ALL {
                for side in CastlingSide::ALL {
                    if castles.has(color, side) {
                        key ^= Zobrist64::zobrist_for_castling_right(color, side);
                    }
                }
            }
        }
        if let Some(square) = self.position.legal_ep_square() {
            key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
        }
        key
    }

    /// Tells each piece that `mv` takes from a square or puts on one: what a key, an evaluation or a
    /// network's accumulator needs to follow the move.
    pub fn changes(&self, mv: Move, mut tell: impl FnMut(Change, Square, Piece)) {
        let us = self.turn();
        match mv {
            Move::Normal { role, from, capture, to, promotion } => {
                tell(Change::Taken, from, role.of(us));
                if let Some(captured) = capture {
                    tell(Change::Taken, to, captured.of(!us));
                }
                tell(Change::Put, to, promotion.unwrap_or(role).of(us));
            }
            Move::EnPassant { from, to } => {
                tell(Change::Taken, from, Role::Pawn.of(us));
                tell(Change::Taken, Square::from_coords(to.file(), from.rank()), Role::Pawn.of(!us));
                tell(Change::Put, to, Role::Pawn.of(us));
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                tell(Change::Taken, king, Role::King.of(us));
                tell(Change::Taken, rook, Role::Rook.of(us));
                tell(Change::Put, side.king_to(us), Role::King.of(us));
                tell(Change::Put, side.rook_to(us), Role::Rook.of(us));
            }
            Move::Put { role, to } => tell(Change::Put, to, role.of(us)),
        }
    }
}

/// What a move does to one square.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A piece leaves it.
    Taken,
    /// A piece comes to stand on it.
    Put,
}

impl From<shakmaty::Chess> for Chess {
    fn from(position: shakmaty::Chess) -> Self {
        Chess { key: position.zobrist_hash(EnPassantMode::Legal), check: position.is_check(), position }
    }
}

/// Which kind of piece goes where.
pub(super) fn piece_to(mv: Move) -> PieceTo {
    PieceTo::new(mv.role() as usize - Role::Pawn as usize, mv.to() as usize)
}

impl From<shakmaty::Color> for Color {
    fn from(color: shakmaty::Color) -> Color {
        color.fold_wb(Color::White, Color::Black)
    }
}

impl Game for Chess {
    const NAME: &'static str = "chess";
    type Move = Move;

    fn start() -> Self {
        Chess::from(shakmaty::Chess::default())
    }

    fn parse(text: &str) -> Result<Self, GameError> {
        let position: shakmaty::Chess = setup::read(text, Self::NAME)?;
        Ok(Chess::from(position))
    }

    fn parse_chess960(text: &str) -> Result<Self, GameError> {
        Chess::parse_as(text, CastlingMode::Chess960)
    }

    fn print(&self) -> String {
        Fen::from_position(&self.position, EnPassantMode::Legal).to_string()
    }

    fn side(&self) -> Color {
        self.turn().into()
    }

    fn moves(&self) -> Moves<Move> {
        self.position.legal_moves()
    }

    fn play(&mut self, mv: Move) {
        self.key ^= self.rights();
        let mut key = self.key;
        self.changes(mv, |_, square, piece| key ^= Zobrist64::zobrist_for_piece(square, piece));
        self.key = key;
        self.position.play_unchecked(mv);
        self.key ^= self.rights();
        self.key ^= Zobrist64::zobrist_for_white_turn();
        self.check = self.position.is_check();
    }

    fn is_chess960(&self) -> bool {
        self.position.castles().mode() == CastlingMode::Chess960
    }

    fn men(&self) -> usize {
        self.board().occupied().count()
    }

    fn outcome(&self) -> Outcome {
        if self.position.legal_moves().is_empty() {
            self.stuck()
        } else if self.position.is_insufficient_material() {
            Outcome::Draw(Reason::InsufficientMaterial)
        } else if self.position.halfmoves() >= FIFTY_MOVES {
            Outcome::Draw(Reason::FiftyMoves)
        } else {
            Outcome::Ongoing
        }
    }

    fn can_win(&self, side: Color) -> bool {
        !self.position.has_insufficient_material(shakmaty::Color::from_white(side == Color::White))
    }

    fn key(&self) -> Key {
        Key(self.key.0)
    }

    /// Polyglot hashes as shakmaty does, but for pawns: one beside a pawn that moved two squares counts, whether
    /// or not it may capture.
    fn book_key(&self) -> Option<u64> {
        Some(self.position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0)
    }

    fn reversible_plies(&self) -> u32 {
        self.position.halfmoves()
    }

    fn read(&self, text: &str) -> Result<Move, GameError> {
        notation::read(&self.position, text).ok_or_else(|| GameError::illegal(text))
    }

    fn write(&self, mv: Move) -> MoveText {
        notation::write(mv, self.position.castles().mode())
    }

    fn record(&self, mv: Move) -> String {
        SanPlus::from_move(self.position.clone(), mv).to_string()
    }

    fn pack(&self, mv: Move) -> Packed {
        packing::pack(mv)
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        packing::unpack(&self.position, packed)
    }
}

impl Tactics for Chess {
    fn piece_to(&self, mv: Move) -> PieceTo {
        piece_to(mv)
    }

    fn target(&self, mv: Move) -> usize {
        // A castling move names its rook; the king's path ends elsewhere, but its square is as good a name.
        mv.to() as usize
    }

    fn gain(&self, mv: Move) -> i32 {
        let captured = mv.capture().map_or(0, exchange::value);
        let promoted = mv.promotion().map_or(0, |role| exchange::value(role) - exchange::value(Role::Pawn));
        captured + promoted
    }

    fn worth(&self, mv: Move) -> i32 {
        exchange::value(mv.role())
    }

    fn settled(&self) -> Outcome {
        if self.position.is_insufficient_material() {
            Outcome::Draw(Reason::InsufficientMaterial)
        } else if self.position.halfmoves() >= FIFTY_MOVES {
            // A mate on the board counts for more than the fifty moves before it.
            self.outcome()
        } else {
            Outcome::Ongoing
        }
    }

    fn stuck(&self) -> Outcome {
        match self.is_check() {
            true => Outcome::Win(!self.side(), Reason::Checkmate),
            false => Outcome::Draw(Reason::Stalemate),
        }
    }

    fn is_noisy(&self, mv: Move) -> bool {
        noisy::is_noisy(mv)
    }

    fn noisy_moves(&self) -> Moves<Move> {
        noisy::moves(&self.position)
    }

    fn is_check(&self) -> bool {
        self.check
    }

    fn gives_check(&self, mv: Move) -> bool {
        checks::gives_check(&self.position, mv)
    }

    /// Castling rights that the move ends, and captures en passant, are not looked at.
    fn key_ahead(&self, mv: Move) -> Option<Key> {
        let mut key = self.key ^ Zobrist64::zobrist_for_white_turn();
        self.changes(mv, |_, square, piece| key ^= Zobrist64::zobrist_for_piece(square, piece));
        Some(Key(key.0))
    }

    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        exchange::wins(self.board(), mv, self.turn(), threshold)
    }

    fn pass(&self) -> Option<Self> {
        let board = self.board();
        let officers = self.position.us() & !board.pawns() & !board.kings();
        // One minor piece runs out of good moves almost as soon as a bare king does.
        let zugzwang_is_near = officers.count() < 2 && (officers & board.rooks_and_queens()).is_empty();
        if zugzwang_is_near || self.is_check() {
            return None;
        }
        let mut key = self.key;
        if let Some(square) = self.position.legal_ep_square() {
            key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
        }
        key ^= Zobrist64::zobrist_for_white_turn();
        let position = self.position.clone().swap_turn().ok()?;
        Some(Chess { position, key, check: false })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{GameHistory, perft};

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    /// Positions along random games from roots with much castling, en passant and promotion in them.
    fn random_game() -> impl Strategy<Value = GameHistory<Chess>> {
        let roots = prop::sample::select(vec![
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            KIWIPETE,
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        ]);
        (roots, prop::collection::vec(any::<prop::sample::Index>(), 0..120)).prop_map(|(root, choices)| {
            let mut line = GameHistory::new(Chess::parse(root).unwrap());
            for choice in choices {
                let moves = line.now().moves();
                if moves.is_empty() {
                    break;
                }
                line.play(moves[choice.index(moves.len())]);
            }
            line
        })
    }

    proptest! {
        #[test]
        fn the_key_is_shakmatys(line in random_game()) {
            let now = line.now();
            prop_assert_eq!(now.key, now.position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal));
            if let Some(passed) = now.pass() {
                prop_assert_eq!(passed.key, passed.position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal));
            }
        }

        #[test]
        fn positions_and_moves_come_back_from_text_and_bits(line in random_game()) {
            let now = line.now();
            let again = Chess::parse_as(&now.print(), now.position.castles().mode()).unwrap();
            prop_assert_eq!(again.key, now.key);
            for mv in now.moves() {
                prop_assert_eq!(now.unpack(now.pack(mv)), Some(mv));
                prop_assert_eq!(now.read(now.write(mv).as_str()), Ok(mv));
                prop_assert_eq!(now.read(&now.record(mv)), Ok(mv));
                prop_assert_ne!(now.pack(mv), Packed::NONE);
            }
        }

        #[test]
        fn any_bits_unpack_to_a_legal_move_or_to_none(line in random_game(), bits: u16) {
            if let Some(mv) = line.now().unpack(Packed(bits)) {
                prop_assert!(line.now().moves().contains(&mv));
            }
        }

        #[test]
        fn noisy_moves_are_the_captures_and_queen_promotions(line in random_game()) {
            let now = line.now();
            if !now.is_check() {
                let mut all = now.moves();
                all.retain(|m| now.is_noisy(*m));
                let mut noisy = now.noisy_moves();
                let order = |m: &Move| now.pack(*m).0;
                all.sort_by_key(order);
                noisy.sort_by_key(order);
                prop_assert_eq!(all, noisy);
            }
        }

        #[test]
        fn checks_are_seen_before_the_move_is_played(line in random_game()) {
            let now = line.now();
            for mv in now.moves() {
                let mut after = now.clone();
                after.play(mv);
                prop_assert_eq!(now.gives_check(mv), after.is_check(), "{} {:?}", now.print(), mv);
            }
        }

        #[test]
        fn hostile_text_never_panics(text in ".{0,80}") {
            let _ = Chess::parse(&text);
            let _ = Chess::start().read(&text);
        }
    }

    #[test]
    fn kiwipete() {
        assert_eq!(perft(&Chess::parse(KIWIPETE).unwrap(), 3), 97_862);
    }

    #[test]
    fn ends() {
        for (fen, outcome) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Outcome::Draw(Reason::Stalemate)),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 99 80", Outcome::Win(Color::White, Reason::Checkmate)),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 80", Outcome::Win(Color::White, Reason::Checkmate)),
            ("7k/8/6K1/8/8/8/8/R7 b - - 99 80", Outcome::Ongoing),
            ("7k/8/6K1/8/8/8/8/R7 b - - 100 80", Outcome::Draw(Reason::FiftyMoves)),
            ("7k/8/6K1/8/8/8/8/B7 b - - 0 80", Outcome::Draw(Reason::InsufficientMaterial)),
        ] {
            assert_eq!(Chess::parse(fen).unwrap().outcome(), outcome, "{fen}");
        }
    }
}
