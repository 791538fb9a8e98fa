//! MiniChess on 6×5 squares, by the rules of three course servers.
//!
//! One move generator and one table of settings: what the servers do differently is in [`rules`]. There is
//! no notion of check; a king is captured like any piece. Squares are counted from a1, row by row.

use std::marker::PhantomData;

use super::{
    Color, Game, GameError, Key, MoveText, Moves, Outcome, Packed, PieceTo, Reason, Tactics,
    bits::{Bits, mixed, steps},
};

mod board;
mod rules;

pub use board::{Board, COLUMNS, Kind, ROWS, SQUARES, Square};
pub use rules::{AtTheLimit, Imcs2009, KingRule, Nthu2023, Nthu2026, Rules};

/// MiniChess on the Internet MiniChess Server of Portland State University.
pub type Imcs = MiniChess<Imcs2009>;
/// MiniChess as the NTHU course of 2023 played it, by files.
pub type Mini2023 = MiniChess<Nthu2023>;
/// MiniChess as the NTHU course of 2026 plays it, by UBGI.
pub type Mini2026 = MiniChess<Nthu2026>;

/// A position of MiniChess.
///
/// Its text form is the board from the sixth rank down, the side to move, and the number of the move:
///
/// ```
/// use zeitnot_rules::{Game, minichess::Imcs};
///
/// let mut position = Imcs::start();
/// position.play(position.read("a2-a3").unwrap());
/// assert_eq!(position.print(), "kqbnr/ppppp/...../P..../.PPPP/RNBQK B 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiniChess<R: Rules> {
    board: Board,
    side: Color,
    /// Played since the start of the game.
    plies: u16,
    /// Played since the last capture or pawn move.
    quiet_plies: u16,
    key: u64,
    rules: PhantomData<R>,
}

/// From a square to a square; all else follows from the board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Where the piece stands.
    pub from: Square,
    /// Where it goes.
    pub to: Square,
}

/// The key of the side to move, when it is the second.
const SECOND_TO_MOVE: u64 = mixed(1 << 20);

/// The key of a piece on a square.
const fn piece_key(side: Color, kind: Kind, square: Square) -> u64 {
    mixed((((side as u64) << 3 | kind as u64) << 6) | square.index() as u64)
}

/// Where the same board is another position at another time, for want of a rule of repetition.
fn ply_key<R: Rules>(plies: u16) -> u64 {
    if R::OCCURRENCES.is_none() { mixed(1 << 21 | u64::from(plies)) } else { 0 }
}

impl<R: Rules> MiniChess<R> {
    fn new(board: Board, side: Color, plies: u16) -> Self {
        let pieces = board.pieces().fold(0, |key, (square, side, kind)| key ^ piece_key(side, kind, square));
        let turn = if side == Color::Black { SECOND_TO_MOVE } else { 0 };
        let key = pieces ^ turn ^ ply_key::<R>(plies);
        MiniChess { board, side, plies, quiet_plies: 0, key, rules: PhantomData }
    }

    /// The pieces.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plies played since the start of the game.
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// The same board after so many plies: servers that do not tell it leave that to us.
    #[must_use]
    pub fn at_ply(&self, plies: u16) -> Self {
        Self::new(self.board.clone(), self.side, plies)
    }

    /// The same board with so many plies to come until the count decides, or as many as the game has.
    #[must_use]
    pub fn before_the_end(&self, left: u16) -> Self {
        self.at_ply(R::PLIES.saturating_sub(left))
    }

    /// Could this side take the other's king, if it were to move?
    fn attacks_king(&self, side: Color) -> bool {
        self.board.king(!side).is_some_and(|king| self.board.is_attacked(king, side))
    }

    fn has_both_kings(&self) -> bool {
        Color::BOTH.iter().all(|&side| self.board.king(side).is_some())
    }

    /// Where a man of this kind can go.
    fn targets(&self, from: Square, kind: Kind) -> u64 {
        let mut targets = self.board.reach(from, kind, self.side);
        if R::BISHOP_STEPS && kind == Kind::Bishop {
            targets |= board::STEPS[from.index()] & !self.board.occupied();
        }
        targets
    }

    /// The moves of the side to move onto these squares.
    fn moves_onto(&self, onto: u64) -> Moves<Move> {
        let mut moves = Moves::new();
        for (from, kind) in self.board.men(self.side) {
            for to in Bits(self.targets(from, kind) & onto) {
                moves.push(Move { from, to: Square::new(to) });
            }
        }
        moves
    }

    /// What stands at the end of the counted plies.
    fn at_the_limit(&self) -> Outcome {
        let balance = match R::AT_THE_LIMIT {
            AtTheLimit::Draw => 0,
            AtTheLimit::Material => self.board.balance(rules::course_worth),
        };
        match balance {
            0 => Outcome::Draw(Reason::MoveLimit),
            1.. => Outcome::Win(Color::White, Reason::MoveLimit),
            _ => Outcome::Win(Color::Black, Reason::MoveLimit),
        }
    }

    /// Where every move leaves the king where it can be taken, and it is attacked already.
    fn is_checkmate(&self) -> bool {
        self.is_check()
            && self.moves().into_iter().all(|mv| {
                let mut child = self.clone();
                child.play(mv);
                child.attacks_king(child.side)
            })
    }
}

impl<R: Rules> Game for MiniChess<R> {
    const NAME: &'static str = R::NAME;
    const OCCURRENCES: usize = match R::OCCURRENCES {
        Some(times) => times,
        None => usize::MAX,
    };
    type Move = Move;

    fn start() -> Self {
        Self::new(Board::start(), Color::White, 0)
    }

    fn parse(text: &str) -> Result<Self, GameError> {
        let error = |why: &str| GameError::position(text, Self::NAME, why);
        let mut words = text.split_whitespace();
        let board = Board::parse(words.next().unwrap_or_default()).map_err(error)?;
        let side = match words.next() {
            Some("W" | "w" | "0") => Color::White,
            Some("B" | "b" | "1") => Color::Black,
            _ => return Err(error("behind the board stands who is to move, W or B")),
        };
        let number = match words.next().map_or(Ok(1), str::parse::<u16>) {
            Ok(number @ 1..=10_000) => number,
            _ => return Err(error("the third word is the number of the move, from 1")),
        };
        if words.next().is_some() {
            return Err(error("there is more than board, side and number"));
        }
        Ok(Self::new(board, side, 2 * (number - 1) + side as u16))
    }

    fn print(&self) -> String {
        let side = if self.side == Color::White { 'W' } else { 'B' };
        format!("{} {side} {}", self.board, self.plies / 2 + 1)
    }

    fn side(&self) -> Color {
        self.side
    }

    fn moves(&self) -> Moves<Move> {
        if self.has_both_kings() { self.moves_onto(!self.board.side(self.side)) } else { Moves::new() }
    }

    fn play(&mut self, mv: Move) {
        let side = self.side;
        // A move that is none, which the trait rules out, passes.
        if let Some(kind) = self.board.kind_at(mv.from) {
            let captured = self.board.kind_at(mv.to);
            if let Some(captured) = captured {
                self.board.take(mv.to, !side, captured);
                self.key ^= piece_key(!side, captured, mv.to);
            }
            let arrives = kind.after(mv.to, side);
            self.board.take(mv.from, side, kind);
            self.board.put(mv.to, side, arrives);
            self.key ^= piece_key(side, kind, mv.from) ^ piece_key(side, arrives, mv.to);
            let quiet = captured.is_none() && kind != Kind::Pawn;
            self.quiet_plies = if quiet { self.quiet_plies.saturating_add(1) } else { 0 };
        }
        // A game is over long before; but who says what was played need not have stopped there.
        let plies = self.plies.saturating_add(1);
        self.key ^= SECOND_TO_MOVE ^ ply_key::<R>(self.plies) ^ ply_key::<R>(plies);
        self.plies = plies;
        self.side = !side;
    }

    fn outcome(&self) -> Outcome {
        let settled = self.settled();
        if settled.is_over() {
            settled
        } else if self.moves().is_empty() {
            self.stuck()
        } else if R::CHECKMATE && self.is_checkmate() {
            Outcome::Win(!self.side, Reason::Checkmate)
        } else {
            Outcome::Ongoing
        }
    }

    fn key(&self) -> Key {
        Key(self.key)
    }

    fn reversible_plies(&self) -> u32 {
        if R::OCCURRENCES.is_some() { u32::from(self.quiet_plies) } else { 0 }
    }

    fn read(&self, text: &str) -> Result<Move, GameError> {
        let squares = match text.as_bytes() {
            &[a, b, c, d] | &[a, b, b'-', c, d] => Square::parse([a, b]).zip(Square::parse([c, d])),
            _ => None,
        };
        let mv = squares.map(|(from, to)| Move { from, to });
        mv.filter(|mv| self.moves().contains(mv)).ok_or_else(|| GameError::illegal(text))
    }

    fn write(&self, mv: Move) -> MoveText {
        // Four letters always fit.
        MoveText::new(&format!("{}{}", mv.from, mv.to)).unwrap_or(MoveText::NONE)
    }

    fn pack(&self, mv: Move) -> Packed {
        Packed(1 << 10 | (mv.from.index() as u16) << 5 | mv.to.index() as u16)
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        let square = |bits: u16| Some(usize::from(bits & 31)).filter(|&s| s < SQUARES).map(Square::new);
        let (from, to) = square(packed.0 >> 5).zip(square(packed.0)).filter(|_| packed.0 >> 10 == 1)?;
        let kind = self.board.kind_at(from).filter(|_| self.board.side(self.side) & from.bit() != 0)?;
        let reaches = self.targets(from, kind) & !self.board.side(self.side) & to.bit() != 0;
        (reaches && self.has_both_kings()).then_some(Move { from, to })
    }
}

impl<R: Rules> Tactics for MiniChess<R> {
    fn piece_to(&self, mv: Move) -> PieceTo {
        let kind = self.board.kind_at(mv.from).map_or(0, |kind| kind as usize);
        PieceTo::new(kind, mv.to.index())
    }

    fn target(&self, mv: Move) -> usize {
        mv.to.index()
    }

    fn gain(&self, mv: Move) -> i32 {
        let captured = self.board.kind_at(mv.to).map_or(0, rules::worth);
        let promoted = match self.board.kind_at(mv.from) {
            Some(kind) => rules::worth(kind.after(mv.to, self.side)) - rules::worth(kind),
            None => 0,
        };
        captured + promoted
    }

    fn worth(&self, mv: Move) -> i32 {
        self.board.kind_at(mv.from).map_or(0, rules::worth)
    }

    fn noisy_moves(&self) -> Moves<Move> {
        let far = board::LAST_ROWS & self.board.reach_of_pawns_near_the_end(self.side);
        let mut moves = if self.has_both_kings() {
            self.moves_onto(self.board.side(!self.side) | far)
        } else {
            Moves::new()
        };
        moves.retain(|mv| self.gain(*mv) > 0);
        moves
    }

    fn settled(&self) -> Outcome {
        if let Some(side) = Color::BOTH.into_iter().find(|&side| self.board.king(side).is_none()) {
            return Outcome::Win(!side, Reason::KingCaptured);
        }
        let limit = self.plies >= R::PLIES;
        match R::KING {
            KingRule::EnPriseAfterTheLimit if limit => self.at_the_limit(),
            KingRule::EnPriseAfterTheLimit | KingRule::EnPriseBeforeTheLimit
                if self.attacks_king(self.side) =>
            {
                Outcome::Win(self.side, Reason::KingEnPrise)
            }
            _ if limit => self.at_the_limit(),
            _ => Outcome::Ongoing,
        }
    }

    fn stuck(&self) -> Outcome {
        Outcome::Win(!self.side, Reason::NoMoves)
    }

    fn is_check(&self) -> bool {
        self.attacks_king(!self.side)
    }

    fn pass(&self) -> Option<Self> {
        let officers = self.board.side(self.side) & !self.board.of(Kind::Pawn) & !self.board.of(Kind::King);
        if officers.count_ones() < 2 || self.is_check() {
            return None;
        }
        let mut passed = self.clone();
        passed.key ^= SECOND_TO_MOVE;
        passed.side = !self.side;
        Some(passed)
    }
}

#[cfg(test)]
mod tests;
