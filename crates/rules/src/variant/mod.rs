//! The variants of chess that Lichess has, on shakmaty: one position type for all, and what each does
//! differently as its [`Rules`].

use std::fmt::Debug;

use shakmaty::{CastlingMode, EnPassantMode, Move, fen::Fen, san::SanPlus, variant, zobrist::Zobrist64};

use super::{
    Color, Game, GameError, Key, MoveText, Moves, Outcome, Packed, PieceTo, Reason, Tactics,
    chess::{self, FIFTY_MOVES, exchange, notation, packing, setup},
};

mod rules;

pub use rules::Rules;

/// Captured men change sides and are dropped onto the board.
pub type Crazyhouse = Variant<variant::Crazyhouse>;
/// A capture explodes, and takes all around it but pawns.
pub type Atomic = Variant<variant::Atomic>;
/// Who has no man or no move left wins, and who can capture must.
pub type Antichess = Variant<variant::Antichess>;
/// White has pawns and no king.
pub type Horde = Variant<variant::Horde>;
/// A king in the middle wins.
pub type KingOfTheHill = Variant<variant::KingOfTheHill>;
/// The king that is first on the last rank wins, and nobody may give check.
pub type RacingKings = Variant<variant::RacingKings>;
/// The third check wins.
pub type ThreeCheck = Variant<variant::ThreeCheck>;

/// A legal position of a variant.
///
/// ```
/// use zeitnot_rules::{Game, variant::Crazyhouse};
///
/// let mut position = Crazyhouse::start();
/// for text in ["e4", "d5", "exd5", "Qxd5", "P@e4"] {
///     position.play(position.read(text).unwrap());
/// }
/// assert_eq!(position.print(), "rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR[p] b KQkq - 0 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant<P: Rules> {
    position: P,
    /// Kept with the move. The same men on the same squares are another position in another game: tables
    /// hold those of all.
    key: Zobrist64,
}

impl<P: Rules> Variant<P> {
    /// As shakmaty has it.
    pub fn position(&self) -> &P {
        &self.position
    }

    fn new(position: P) -> Self {
        Variant { key: hash(&position), position }
    }
}

/// The position's own hash, and the game's.
fn hash<P: Rules>(position: &P) -> Zobrist64 {
    let name = P::NAME
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal) ^ Zobrist64(name)
}

impl<P: Rules> Game for Variant<P> {
    const NAME: &'static str = P::NAME;
    type Move = Move;

    fn start() -> Self {
        Variant::new(P::default())
    }

    fn parse(text: &str) -> Result<Self, GameError> {
        setup::read(text, P::NAME).map(Variant::new)
    }

    fn parse_chess960(text: &str) -> Result<Self, GameError> {
        setup::read_as(text, P::NAME, CastlingMode::Chess960).map(Variant::new)
    }

    fn print(&self) -> String {
        Fen::from_position(&self.position, EnPassantMode::Legal).to_string()
    }

    fn side(&self) -> Color {
        self.position.turn().into()
    }

    fn moves(&self) -> Moves<Move> {
        if self.position.end().is_over() { Moves::new() } else { self.position.legal_moves() }
    }

    fn play(&mut self, mv: Move) {
        let key = self.position.update_zobrist_hash(self.key, mv, EnPassantMode::Legal);
        self.position.play_unchecked(mv);
        self.key = key.unwrap_or_else(|| hash(&self.position));
    }

    fn is_chess960(&self) -> bool {
        self.position.castles().mode() == CastlingMode::Chess960
    }

    fn men(&self) -> usize {
        self.position.board().occupied().count()
    }

    fn outcome(&self) -> Outcome {
        match self.position.end() {
            Outcome::Ongoing if self.position.legal_moves().is_empty() => self.stuck(),
            Outcome::Ongoing => self.drawn(),
            end => end,
        }
    }

    fn can_win(&self, side: Color) -> bool {
        let color = shakmaty::Color::from_white(side == Color::White);
        !self.position.has_insufficient_material(color)
    }

    fn key(&self) -> Key {
        Key(self.key.0)
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

    fn record(&self, mv: Move) -> String {
        SanPlus::from_move(self.position.clone(), mv).to_string()
    }

    fn pack(&self, mv: Move) -> Packed {
        packing::pack(mv)
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        packing::unpack(&self.position, packed).filter(|_| !self.position.end().is_over())
    }
}

impl<P: Rules> Variant<P> {
    /// Is it a draw, though there are moves?
    fn drawn(&self) -> Outcome {
        if self.position.is_insufficient_material() {
            Outcome::Draw(Reason::InsufficientMaterial)
        } else if P::FIFTY_MOVES && self.position.halfmoves() >= FIFTY_MOVES {
            Outcome::Draw(Reason::FiftyMoves)
        } else {
            Outcome::Ongoing
        }
    }
}

impl<P: Rules> Tactics for Variant<P> {
    fn piece_to(&self, mv: Move) -> PieceTo {
        chess::piece_to(mv)
    }

    fn target(&self, mv: Move) -> usize {
        mv.to() as usize
    }

    fn gain(&self, mv: Move) -> i32 {
        self.position.gain(mv)
    }

    fn worth(&self, mv: Move) -> i32 {
        exchange::value(mv.role())
    }

    fn settled(&self) -> Outcome {
        match self.position.end() {
            Outcome::Ongoing => match self.drawn() {
                // A mate on the board counts for more than the fifty moves before it.
                Outcome::Draw(Reason::FiftyMoves) => self.outcome(),
                drawn => drawn,
            },
            end => end,
        }
    }

    fn stuck(&self) -> Outcome {
        self.position.stuck()
    }

    fn is_check(&self) -> bool {
        self.position.is_pressed()
    }

    fn exchange(&self, mv: Move, threshold: i32) -> bool {
        self.position.exchange(mv, threshold)
    }

    fn pass(&self) -> Option<Self> {
        let may = self.position.may_pass() && !self.position.is_pressed();
        let passed = may.then(|| self.position.clone().swap_turn().ok())??;
        Some(Variant::new(passed))
    }
}

#[cfg(test)]
mod tests;
