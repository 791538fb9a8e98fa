//! A position of any game and its rules.

use std::{fmt, hash::Hash};

use arrayvec::{ArrayString, ArrayVec};

use crate::{color::Color, error::GameError, kind::GameKind};

/// The state of a game by its rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Ongoing,
    /// A draw.
    Draw(Reason),
    /// One side has won.
    Win(Color, Reason),
}

impl Outcome {
    /// Whether the game has ended.
    pub fn is_over(self) -> bool {
        self != Outcome::Ongoing
    }
}

/// The rule that ended a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The side to move is in check and has no move.
    Checkmate,
    /// The side to move is not in check and has no move.
    Stalemate,
    /// No sequence of moves mates any more.
    InsufficientMaterial,
    /// The third occurrence of a position.
    ThreefoldRepetition,
    /// More occurrences of a position than the game allows, where the limit is not three.
    Repetition,
    /// A hundred plies without a capture or a pawn move.
    FiftyMoves,
    /// A king was captured.
    KingCaptured,
    /// The side to move could capture the king.
    KingEnPrise,
    /// The side to move has no move, and this game does not call that stalemate.
    NoMoves,
    /// All the moves that this game lasts are played, and nobody has won.
    MoveLimit,
    /// All the moves that this game lasts are played, and the side with more material wins by this margin.
    Material(Margin),
    /// Only the kings are left.
    BareKings,
    /// The goal of this variant of chess, other than mate, is reached.
    VariantEnd(GameKind),
}

/// The lead of the side that wins by a count, in the points of that count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Margin(pub u16);

/// An upper bound of the legal moves in one position of any game (shakmaty's own bound for the variants of chess with
/// drops).
pub const MAX_MOVES: usize = 450;

/// The moves of one position, on the stack.
pub type Moves<M> = ArrayVec<M, MAX_MOVES>;

/// A move in 16 bits, for tables and the decision slot; only [`Game::unpack`] gives it meaning again.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Packed(pub u16);

impl Packed {
    /// No move: no game packs a move into all zeros.
    pub const NONE: Packed = Packed(0);
}

/// The identity of a position: equal keys are the same position for the rule of repetition.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key(pub u64);

/// A position of one game and the rules that hold in it. Cheap to clone (copy-make).
pub trait Game: Clone + fmt::Debug + Send + Sync + 'static {
    /// Whether the server decides parts of the game by chance. Its reports of the position are then taken over as they
    /// are.
    const HAS_CHANCE: bool = false;
    /// One move; meaningful only in the position it was made for.
    type Move: Copy + Eq + fmt::Debug + Send + Sync + 'static;

    /// The game that this is a position of.
    fn kind(&self) -> GameKind;

    /// The game is drawn at this occurrence of a position.
    fn repetition_limit(&self) -> usize {
        3
    }

    /// The usual start of this game.
    fn start_position(&self) -> Self;

    /// Reads a position of this game in its own text form (for chess a FEN).
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    fn parse_position(&self, text: &str) -> Result<Self, GameError>;

    /// Like [`Game::parse_position`], with castling written as in Chess960 even where the position could be one of
    /// standard chess.
    ///
    /// # Errors
    /// As [`Game::parse_position`].
    fn parse_chess960_position(&self, text: &str) -> Result<Self, GameError> {
        self.parse_position(text)
    }

    /// Writes the position; [`Game::parse_position`] reads it back.
    fn print(&self) -> String;

    /// The side to move.
    fn side_to_move(&self) -> Color;

    /// All legal moves.
    fn moves(&self) -> Moves<Self::Move>;

    /// Plays a move that came from [`Game::moves`], [`Game::read`] or [`Game::unpack`] of this position.
    fn play(&mut self, mv: Self::Move);

    /// The position after such a move.
    #[inline]
    fn after(&self, mv: Self::Move) -> Self {
        let mut after = self.clone();
        after.play(mv);
        after
    }

    /// The outcome as far as the position alone decides it; repetition belongs to [`GameHistory`](crate::GameHistory).
    fn outcome(&self) -> Outcome;

    /// The side that wins if the game is adjudicated here, where points decide.
    fn leader(&self) -> Option<Color> {
        None
    }

    /// Whether castling is written as in Chess960, as the king that takes its rook.
    fn is_chess960(&self) -> bool {
        false
    }

    /// Pieces on the board; 0 in a game where the count is not used.
    fn piece_count(&self) -> usize {
        0
    }

    /// Whether this side can still win by any sequence of moves. A side that cannot does not win on time either.
    fn can_win(&self, _color: Color) -> bool {
        true
    }

    /// Identifies the position for the rule of repetition; tables of search results use
    /// [`Tactics::table_key`](crate::Tactics::table_key).
    fn key(&self) -> Key;

    /// The key of the position in Polyglot's opening books; `None` for a game without books.
    fn book_key(&self) -> Option<u64> {
        None
    }

    /// Plies since the last move that cannot be taken back: positions before it never come again.
    fn reversible_plies(&self) -> u32;

    /// Reads a legal move as protocols write it: `e2e4`, `e7e8q`, also `e2-e4`, `e7-e8=Q`, `O-O`.
    ///
    /// # Errors
    /// [`GameError::Move`] if it is unreadable or not legal here.
    fn read(&self, text: &str) -> Result<Self::Move, GameError>;

    /// Writes a move in coordinates (`e2e4`, `e7e8q`), as engines and protocol adapters exchange it.
    fn write(&self, mv: Self::Move) -> MoveText;

    /// Writes a move as game records show it: SAN for chess, coordinates for games without it.
    fn san(&self, mv: Self::Move) -> String {
        self.write(mv).to_string()
    }

    /// Packs a move for a table.
    fn pack(&self, mv: Self::Move) -> Packed;

    /// Unpacks a move. `None` unless it is legal here: a torn or colliding table entry is harmless.
    fn unpack(&self, packed: Packed) -> Option<Self::Move>;
}

/// A move in coordinates, short enough to live on the stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct MoveText(ArrayString<8>);

impl MoveText {
    /// No move.
    pub const NONE: MoveText = MoveText(ArrayString::new_const());

    /// `None` if the text is longer than any move.
    ///
    /// ```
    /// use zeitnot_rules::MoveText;
    /// assert_eq!(MoveText::new("e7e8q").unwrap().as_str(), "e7e8q");
    /// assert!(MoveText::new("Resignation").is_none());
    /// ```
    pub fn new(text: &str) -> Option<MoveText> {
        ArrayString::from(text).ok().map(MoveText)
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MoveText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
