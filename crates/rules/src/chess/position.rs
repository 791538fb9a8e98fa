//! A position of chess or of a variant, with its key kept up to date.

use shakmaty::{
    Board, CastlingMode, CastlingSide, Color as ChessColor, EnPassantMode, Move, Piece, Position, Role,
    Square,
    san::SanPlus,
    zobrist::{Zobrist64, ZobristValue},
};

use super::{
    exchange, fen, notation, packing,
    rules::{ChessRules, FIFTY_MOVES},
};
use crate::{
    color::Color,
    error::GameError,
    game::{Game, Key, MoveText, Moves, Outcome, Packed, Reason},
    kind::GameKind,
    tactics::{PieceTo, Tactics},
};

/// A legal position of chess or of a variant.
///
/// ```
/// use zeitnot_rules::{Game, chess::Crazyhouse};
///
/// let mut position = Crazyhouse::start();
/// for text in ["e4", "d5", "exd5", "Qxd5", "P@e4"] {
///     position.play(position.read(text).unwrap());
/// }
/// assert_eq!(position.print(), "rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR[p] b KQkq - 0 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChessPosition<R: ChessRules> {
    pub(super) position: R,
    /// Kept with the move, as hashing from scratch costs more than the move itself.
    pub(super) key: Zobrist64,
    /// Whether the side to move must answer something; a search asks it several times.
    check: bool,
}

/// The change of one square by a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A piece leaves it.
    Taken,
    /// A piece comes to stand on it.
    Put,
}

/// The hash of a position from scratch.
pub(super) fn hash<R: ChessRules>(position: &R) -> Zobrist64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal) ^ Zobrist64(R::KEY_SALT)
}

fn castling<R: Position>(position: &R) -> Zobrist64 {
    let mut key = Zobrist64::default();
    let castles = position.castles();
    if castles.any() {
        for color in ChessColor::ALL {
            for side in CastlingSide::ALL {
                if castles.has(color, side) {
                    key ^= Zobrist64::zobrist_for_castling_right(color, side);
                }
            }
        }
    }
    key
}

/// The part of the key that the squares of a move do not tell: castling rights and en passant.
fn rights<R: Position>(position: &R) -> Zobrist64 {
    let mut key = castling(position);
    if let Some(square) = position.legal_ep_square() {
        key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
    }
    key
}

impl<R: ChessRules> ChessPosition<R> {
    pub(super) fn new(position: R) -> Self {
        ChessPosition { key: hash(&position), check: position.is_pressed(), position }
    }

    /// The usual start of a game.
    pub fn start() -> Self {
        ChessPosition::new(R::default())
    }

    /// Reads a FEN.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn parse(text: &str) -> Result<Self, GameError> {
        fen::read(text).map(ChessPosition::new)
    }

    /// Like [`ChessPosition::parse`], with castling written as in Chess960 even where the position could be one of
    /// standard chess.
    ///
    /// # Errors
    /// As [`ChessPosition::parse`].
    pub fn parse_chess960(text: &str) -> Result<Self, GameError> {
        fen::read_as(text, CastlingMode::Chess960).map(ChessPosition::new)
    }

    /// The position in shakmaty's terms.
    #[inline]
    pub fn position(&self) -> &R {
        &self.position
    }

    /// The pieces.
    #[inline]
    pub fn board(&self) -> &Board {
        self.position.board()
    }

    /// The side to move, in shakmaty's terms.
    #[inline]
    pub fn turn(&self) -> ChessColor {
        self.position.turn()
    }

    /// Reports each piece that `mv` takes from a square or puts on one, in an order in which they follow one another:
    /// what a key, an evaluation or a network's accumulator needs to follow the move.
    #[inline(always)]
    pub fn changes(&self, mv: Move, mut report: impl FnMut(Change, Square, Piece)) {
        let us = self.turn();
        match mv {
            Move::Normal { role, from, capture, to, promotion } => {
                report(Change::Taken, from, role.of(us));
                if let Some(captured) = capture {
                    report(Change::Taken, to, captured.of(!us));
                }
                report(Change::Put, to, promotion.unwrap_or(role).of(us));
            }
            Move::EnPassant { from, to } => {
                report(Change::Taken, from, Role::Pawn.of(us));
                report(Change::Taken, Square::from_coords(to.file(), from.rank()), Role::Pawn.of(!us));
                report(Change::Put, to, Role::Pawn.of(us));
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                report(Change::Taken, king, Role::King.of(us));
                report(Change::Taken, rook, Role::Rook.of(us));
                report(Change::Put, side.king_to(us), Role::King.of(us));
                report(Change::Put, side.rook_to(us), Role::Rook.of(us));
            }
            Move::Put { role, to } => report(Change::Put, to, role.of(us)),
        }
        if mv.is_capture()
            && let Some(torn) = self.position.explosion(mv)
        {
            report(Change::Taken, mv.to(), mv.promotion().unwrap_or(mv.role()).of(us));
            let pieces = torn.into_iter().filter_map(|square| Some((square, self.board().piece_at(square)?)));
            pieces.for_each(|(square, piece)| report(Change::Taken, square, piece));
        }
    }

    /// The draws that need no lack of moves.
    fn draw(&self) -> Outcome {
        if self.position.is_insufficient_material() {
            Outcome::Draw(Reason::InsufficientMaterial)
        } else if R::FIFTY_MOVES && self.position.halfmoves() >= FIFTY_MOVES {
            Outcome::Draw(Reason::FiftyMoves)
        } else {
            Outcome::Ongoing
        }
    }

    /// The key after the pieces of `mv` have moved and the other side is to move.
    fn moved_key(&self, mv: Move) -> Zobrist64 {
        let mut key = self.key ^ Zobrist64::zobrist_for_white_turn();
        self.changes(mv, |_, square, piece| key ^= Zobrist64::zobrist_for_piece(square, piece));
        key
    }
}

impl<R: ChessRules> From<R> for ChessPosition<R> {
    fn from(position: R) -> Self {
        ChessPosition::new(position)
    }
}

impl From<ChessColor> for Color {
    fn from(color: ChessColor) -> Color {
        color.fold_wb(Color::White, Color::Black)
    }
}

impl From<Color> for ChessColor {
    fn from(color: Color) -> ChessColor {
        ChessColor::from_white(color == Color::White)
    }
}

impl<R: ChessRules> Game for ChessPosition<R> {
    type Move = Move;

    fn kind(&self) -> GameKind {
        R::KIND
    }

    fn start_position(&self) -> Self {
        Self::start()
    }

    fn parse_position(&self, text: &str) -> Result<Self, GameError> {
        Self::parse(text)
    }

    fn parse_chess960_position(&self, text: &str) -> Result<Self, GameError> {
        Self::parse_chess960(text)
    }

    fn print(&self) -> String {
        fen::print(&self.position)
    }

    fn side_to_move(&self) -> Color {
        self.turn().into()
    }

    fn moves(&self) -> Moves<Move> {
        if self.position.end().is_over() { Moves::new() } else { self.position.legal_moves() }
    }

    fn play(&mut self, mv: Move) {
        if R::KEY_FOLLOWS_PIECES {
            let key = self.moved_key(mv) ^ rights(&self.position);
            self.position.play_unchecked(mv);
            self.key = key ^ rights(&self.position);
        } else {
            let key = self.position.update_zobrist_hash(self.key, mv, EnPassantMode::Legal);
            self.position.play_unchecked(mv);
            self.key = key.unwrap_or_else(|| hash(&self.position));
        }
        self.check = self.position.is_pressed();
    }

    fn outcome(&self) -> Outcome {
        match self.position.end() {
            Outcome::Ongoing if self.position.legal_moves().is_empty() => self.no_moves_outcome(),
            Outcome::Ongoing => self.draw(),
            end => end,
        }
    }

    fn is_chess960(&self) -> bool {
        self.position.castles().mode() == CastlingMode::Chess960
    }

    fn piece_count(&self) -> usize {
        self.board().occupied().count()
    }

    fn can_win(&self, color: Color) -> bool {
        !self.position.has_insufficient_material(color.into())
    }

    fn key(&self) -> Key {
        Key(self.key.0)
    }

    /// Polyglot's key: a pawn beside one that moved two squares counts, whether or not it may capture. Of variants only the
    /// board counts, as in python-chess, which writes their books.
    fn book_key(&self) -> Option<u64> {
        let position = &self.position;
        let mut key = castling(position);
        for (square, piece) in position.board().clone() {
            key ^= Zobrist64::zobrist_for_piece(square, piece);
        }
        if position.turn() == ChessColor::White {
            key ^= Zobrist64::zobrist_for_white_turn();
        }
        if let Some(square) = position.ep_square(EnPassantMode::PseudoLegal) {
            key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
        }
        Some(key.0)
    }

    fn reversible_plies(&self) -> u32 {
        self.position.reversible_plies()
    }

    fn read(&self, text: &str) -> Result<Move, GameError> {
        let legal = Some(()).filter(|()| !self.position.end().is_over());
        legal.and_then(|()| notation::read(&self.position, text)).ok_or_else(|| GameError::illegal(text))
    }

    fn write(&self, mv: Move) -> MoveText {
        notation::write(mv, self.position.castles().mode())
    }

    fn san(&self, mv: Move) -> String {
        SanPlus::from_move(self.position.clone(), mv).to_string()
    }

    fn pack(&self, mv: Move) -> Packed {
        packing::pack(mv)
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        packing::unpack(&self.position, packed).filter(|_| !self.position.end().is_over())
    }
}

impl<R: ChessRules> Tactics for ChessPosition<R> {
    fn rows(&self) -> usize {
        R::SIZE
    }

    fn columns(&self) -> usize {
        R::SIZE
    }

    fn piece_to(&self, mv: Move) -> PieceTo {
        PieceTo::new(mv.role() as usize - Role::Pawn as usize, mv.to() as usize)
    }

    fn target(&self, mv: Move) -> usize {
        // A castling move names its rook; the king's path ends elsewhere, but its square is as good a name.
        let (file, rank) = mv.to().coords();
        rank as usize * R::SIZE + file as usize
    }

    fn gain(&self, mv: Move) -> i32 {
        self.position.gain(mv)
    }

    fn piece_value(&self, mv: Move) -> i32 {
        exchange::value(mv.role())
    }

    fn material(&self) -> i32 {
        self.position.material()
    }

    fn quick_outcome(&self) -> Outcome {
        match self.position.end() {
            Outcome::Ongoing => match self.draw() {
                // A mate on the board counts for more than the fifty moves before it.
                Outcome::Draw(Reason::FiftyMoves) => self.outcome(),
                outcome => outcome,
            },
            end => end,
        }
    }

    fn no_moves_outcome(&self) -> Outcome {
        self.position.no_moves_outcome()
    }

    fn is_noisy(&self, mv: Move) -> bool {
        self.position.is_noisy(mv)
    }

    fn noisy_moves(&self) -> Moves<Move> {
        if self.position.end().is_over() { Moves::new() } else { self.position.noisy_moves() }
    }

    fn is_check(&self) -> bool {
        self.check
    }

    fn checkers(&self) -> Vec<String> {
        self.position.checkers().into_iter().map(|square| square.to_string()).collect()
    }

    fn gives_check(&self, mv: Move) -> bool {
        self.position.gives_check(mv)
    }

    /// Ignores castling rights that the move ends, captures en passant and what only variants have.
    fn key_ahead(&self, mv: Move) -> Option<Key> {
        Some(Key(self.moved_key(mv).0))
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        self.position.see_ge(mv, threshold)
    }

    fn pass(&self) -> Option<Self> {
        if self.check || !self.position.may_pass() {
            return None;
        }
        let mut key = self.key ^ Zobrist64::zobrist_for_white_turn();
        if let Some(square) = self.position.legal_ep_square() {
            key ^= Zobrist64::zobrist_for_en_passant_file(square.file());
        }
        let mut setup = self.position.to_setup(EnPassantMode::Always);
        setup.swap_turn();
        let position = R::set_up(setup, self.position.castles().mode()).ok()?;
        // The side that is not to move is never in check.
        Some(ChessPosition { position, key, check: false })
    }
}
