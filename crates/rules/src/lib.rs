//! The rules of the games, and nothing else: no clock that runs, no I/O, no search, no opinions.
//!
//! [`Game`] is what a referee and a player need to know of a game, [`Tactics`] what a searcher needs
//! besides, [`GameHistory`] is a game as played, [`DynGame`] one whose game is known at run time only. A new game is a file here and a row in `for_each_game!`.

use std::{
    fmt,
    hash::Hash,
    ops::{Index, IndexMut, Not},
    str::FromStr,
};

use arrayvec::{ArrayString, ArrayVec};
use serde::{Deserialize, Serialize};

mod bits;
pub mod chess;
mod dyn_game;
mod history;
pub mod minichess;
mod perft;
mod result;
mod time_control;
pub mod tuc;
pub mod variant;

pub use dyn_game::DynGame;
pub use history::GameHistory;
pub use perft::perft;
pub use result::GameResult;
pub use time_control::{BadTimeControl, Speed, TimeControl};

/// The color of a player; White moves first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// White.
    White,
    /// Black.
    Black,
}

impl Color {
    /// Both sides, the one who begins first.
    pub const BOTH: [Color; 2] = [Color::White, Color::Black];
}

impl Not for Color {
    type Output = Color;
    fn not(self) -> Color {
        match self {
            Color::White => Color::Black,
            Color::Black => Color::White,
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Color::White => "white",
            Color::Black => "black",
        })
    }
}

/// A pair of things, one for each [`Color`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByColor<T>(pub [T; 2]);

impl<T> ByColor<T> {
    /// The same for both.
    pub fn both(value: T) -> Self
    where
        T: Clone,
    {
        ByColor([value.clone(), value])
    }
}

impl<T> Index<Color> for ByColor<T> {
    type Output = T;
    fn index(&self, side: Color) -> &T {
        &self.0[side as usize]
    }
}

impl<T> IndexMut<Color> for ByColor<T> {
    fn index_mut(&mut self, side: Color) -> &mut T {
        &mut self.0[side as usize]
    }
}

/// How a game stands by its rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Ongoing,
    /// Nobody won.
    Draw(Reason),
    /// One side won.
    Win(Color, Reason),
}

impl Outcome {
    /// Is there nothing more to play?
    pub fn is_over(self) -> bool {
        self != Outcome::Ongoing
    }
}

/// Why the rules ended a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The side to move is in check and has no move.
    Checkmate,
    /// The side to move is not in check and has no move.
    Stalemate,
    /// No sequence of moves mates any more.
    InsufficientMaterial,
    /// The same position for the third time.
    ThreefoldRepetition,
    /// The same position more often than this game allows, where that is not three times.
    Repetition,
    /// A hundred plies without a capture or a pawn move.
    FiftyMoves,
    /// A king was captured.
    KingCaptured,
    /// The side to move could capture the king.
    KingEnPrise,
    /// The side to move has no move, and this game does not call that stalemate.
    NoMoves,
    /// As many moves as this game lasts are played.
    MoveLimit,
    /// Nothing but the kings is left.
    BareKings,
    /// What a variant of chess is won by, other than mate, has come about.
    VariantEnd,
}

/// No game of ours has more legal moves than this in one position (shakmaty's own bound for the variants of
/// chess, where men are dropped).
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
    /// The name in configurations.
    const NAME: &'static str;
    /// Has chance a part in it that only the server knows? Then what it tells of a position is taken over
    /// without a word.
    const CHANCE: bool = false;
    /// The game is drawn when a position stands for the so-manieth time.
    const OCCURRENCES: usize = 3;
    /// One move; meaningful only in the position it was made for.
    type Move: Copy + Eq + fmt::Debug + Send + Sync + 'static;

    /// Where a game begins when nobody says otherwise.
    fn start() -> Self;

    /// Reads a position in the game's own text form (for chess a FEN).
    ///
    /// # Errors
    /// [`GameError::Position`] with what is wrong with it.
    fn parse(position: &str) -> Result<Self, GameError>;

    /// The same, with castling as Chess960 writes it even where the position could be one of standard chess.
    ///
    /// # Errors
    /// As [`Game::parse`].
    fn parse_chess960(position: &str) -> Result<Self, GameError> {
        Self::parse(position)
    }

    /// Writes the position; [`Game::parse`] reads it back.
    fn print(&self) -> String;

    /// Who is to move?
    fn side(&self) -> Color;

    /// All legal moves.
    fn moves(&self) -> Moves<Self::Move>;

    /// Plays a move that came from [`Game::moves`], [`Game::read`] or [`Game::unpack`] of this position.
    fn play(&mut self, mv: Self::Move);

    /// What the position alone says; repetition belongs to [`GameHistory`].
    fn outcome(&self) -> Outcome;

    /// Is its castling that of Chess960, which is written as the king that takes its rook?
    fn is_chess960(&self) -> bool {
        false
    }

    /// Men on the board; 0 in a game where nobody asks for them.
    fn men(&self) -> usize {
        0
    }

    /// Can this side still win, by any play at all? Whoever cannot wins nothing by the clock.
    fn can_win(&self, _side: Color) -> bool {
        true
    }

    /// Identifies the position for repetition and for tables.
    fn key(&self) -> Key;

    /// Under which Polyglot's opening books hold the position; `None`: there are no books for this game.
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

    /// Writes a move as game records show it (SAN for chess).
    fn record(&self, mv: Self::Move) -> String {
        self.write(mv).to_string()
    }

    /// Packs a move for a table.
    fn pack(&self, mv: Self::Move) -> Packed;

    /// `None` unless the move is legal here: a torn or colliding table entry is harmless.
    fn unpack(&self, packed: Packed) -> Option<Self::Move>;
}

/// What one searcher needs to know about the moves of any game: facts of the rules, not opinions.
///
/// Most have defaults, so that a new game searches (plainly) on its first day.
pub trait Tactics: Game {
    /// Which kind of piece goes where.
    fn piece_to(&self, mv: Self::Move) -> PieceTo;

    /// Where the piece goes, below [`SQUARES`].
    fn target(&self, mv: Self::Move) -> usize;

    /// Material won at once by the plain values of the pieces, in centipawns; 0 for a quiet move.
    fn gain(&self, mv: Self::Move) -> i32;

    /// The material value of the piece that moves, in centipawns.
    fn worth(&self, mv: Self::Move) -> i32;

    /// One of the legal moves, if there are any: `choose` is told how many there are, and says which. For
    /// random games, where a list of all is more than is needed.
    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<Self::Move> {
        let moves = self.moves();
        if moves.is_empty() { None } else { moves.get(choose(moves.len())).copied() }
    }

    /// Is this one of the [`Tactics::noisy_moves`]?
    fn is_noisy(&self, mv: Self::Move) -> bool {
        self.gain(mv) > 0
    }

    /// The legal moves with a [`Tactics::gain`] worth trying at the leaves: those that are
    /// [noisy](Tactics::is_noisy).
    fn noisy_moves(&self) -> Moves<Self::Move> {
        let mut moves = self.moves();
        moves.retain(|mv| self.is_noisy(*mv));
        moves
    }

    /// What can be said of the position without generating its moves; [`Tactics::stuck`] says the rest.
    fn settled(&self) -> Outcome {
        self.outcome()
    }

    /// How the game stands when the side to move has no legal move.
    fn stuck(&self) -> Outcome {
        self.outcome()
    }

    /// Is the side to move in check?
    fn is_check(&self) -> bool {
        false
    }

    /// Does a move give check?
    fn gives_check(&self, mv: Self::Move) -> bool {
        let mut after = self.clone();
        after.play(mv);
        after.is_check()
    }

    /// A guess at the key of the position behind a move, without playing it: right for most moves, which is enough to
    /// bring memory near. `None`: the game has no quick one.
    fn key_ahead(&self, _: Self::Move) -> Option<Key> {
        None
    }

    /// Does the exchange that `mv` begins on its target square win at least `threshold` centipawns?
    fn exchange(&self, mv: Self::Move, threshold: i32) -> bool {
        self.gain(mv) >= threshold
    }

    /// The position with the other side to move; `None` where passing would prove nothing (in check,
    /// or with so little material that zugzwang is likely), which switches null-move pruning off.
    fn pass(&self) -> Option<Self> {
        None
    }
}

/// Kinds of pieces, at most: move-ordering tables have fixed sizes.
pub const KINDS: usize = 6;
/// Squares of a board, at most.
pub const SQUARES: usize = 64;

/// A kind of piece, of either colour, and the square it goes to: what move ordering knows of a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PieceTo(u16);

impl PieceTo {
    /// How many there are.
    pub const COUNT: usize = KINDS * SQUARES;

    /// A kind below [`KINDS`], a square below [`SQUARES`].
    pub const fn new(kind: usize, square: usize) -> PieceTo {
        debug_assert!(kind < KINDS && square < SQUARES);
        PieceTo((kind * SQUARES + square) as u16)
    }

    /// Below [`PieceTo::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A move in coordinates, short enough to live on the stack.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct MoveText(ArrayString<8>);

impl MoveText {
    /// No move.
    pub const NONE: MoveText = MoveText(ArrayString::new_const());

    /// `None` if the text is longer than any move is.
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

/// What can be wrong with a position or a move from outside.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum GameError {
    /// Text that is no position.
    #[error("'{text}' is no position of {game}: {why}")]
    Position {
        /// What was given, shortened.
        text: String,
        /// The game's name.
        game: &'static str,
        /// What the rules say.
        why: String,
    },
    /// Text that is no legal move.
    #[error("'{0}' is no legal move here")]
    Move(String),
}

impl GameError {
    fn position(text: &str, game: &'static str, why: impl fmt::Display) -> Self {
        GameError::Position { text: shorten(text), game, why: why.to_string() }
    }

    fn illegal(text: &str) -> Self {
        GameError::Move(shorten(text))
    }
}

/// Text from outside as an error line can bear it: short, and with nothing in it that moves a cursor.
fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

// ---- registry -----------------------------------------------------------------------------------

/// The list of games, once. Each layer hands in a macro of its own and gets every row.
#[macro_export]
macro_rules! for_each_game {
    ($callback:ident) => {
        $callback! {
            Chess => $crate::chess::Chess,
            MinichessImcs => $crate::minichess::Imcs,
            Minichess2023 => $crate::minichess::Mini2023,
            Minichess2026 => $crate::minichess::Mini2026,
            Tuc => $crate::tuc::Tuc,
            Crazyhouse => $crate::variant::Crazyhouse,
            Atomic => $crate::variant::Atomic,
            Antichess => $crate::variant::Antichess,
            Horde => $crate::variant::Horde,
            KingOfTheHill => $crate::variant::KingOfTheHill,
            RacingKings => $crate::variant::RacingKings,
            ThreeCheck => $crate::variant::ThreeCheck,
        }
    };
}

/// Calls [`Visitor::visit`] with the game's type: where a name becomes a type.
pub trait Visitor {
    /// What the visit returns.
    type Out;
    /// Runs with the type of the game.
    fn visit<G: Tactics>(self) -> Self::Out;
}

macro_rules! ids {
    ($($id:ident => $ty:ty),* $(,)?) => {
        /// Which game.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub enum GameKind {
            $(#[doc = concat!("[`", stringify!($ty), "`]")] $id),*
        }

        impl GameKind {
            /// Every game we know.
            pub const ALL: &[GameKind] = &[$(GameKind::$id),*];

            /// The name in configurations.
            pub fn name(self) -> &'static str {
                match self { $(GameKind::$id => <$ty as Game>::NAME),* }
            }

            /// Runs a visitor with this game's type.
            pub fn with<V: Visitor>(self, visitor: V) -> V::Out {
                match self { $(GameKind::$id => visitor.visit::<$ty>()),* }
            }
        }
    };
}
for_each_game!(ids);

impl FromStr for GameKind {
    type Err = UnknownGame;

    fn from_str(name: &str) -> Result<Self, UnknownGame> {
        GameKind::ALL.iter().copied().find(|g| g.name() == name).ok_or_else(|| UnknownGame(shorten(name)))
    }
}

/// A game nobody taught us.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown game '{0}'; known: {known}", known = GameKind::ALL.iter().map(|g| g.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownGame(String);
