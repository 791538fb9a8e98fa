//! TUC-Chess: kings, rooks and pawns on 7×5 squares with prizes, decided by points.
//!
//! Squares are (row, column), both from 0; row 0 is Black's home, on top. What a prize is worth is hidden
//! until a piece takes it: [`Game::play`] counts it at its expected worth, and a server's word corrects that
//! (see [`Tuc::hear`]). Points are therefore counted in hundredths.
//!
//! Source: the course server of the Technical University of Crete, its editions of 2019, 2021 and 2022.

use arrayvec::ArrayVec;

use super::{
    ByColor, Color, Game, GameError, Key, MoveText, Moves, Outcome, Packed, PieceTo, Reason, Tactics,
    bits::{Bits, mixed, nth, steps},
};

mod board;
mod rules;
mod text;

pub use board::{Board, COLUMNS, Kind, ROWS, SQUARES, Square};
pub use rules::{Edition, Extra, Rules};

/// A point, in hundredths.
pub const POINT: i32 = 100;
/// Men on the board at the start.
const MEN: u8 = 20;
/// A side never has more men than squares.
const MOST_MEN: usize = SQUARES;

/// A position of TUC-Chess.
///
/// Its text form is the board from row 0 down (White's men are capitals, `*` is a prize), the side to move,
/// the points in hundredths, the server's count of men, the plies played, and the rules:
///
/// ```
/// use zeitnot_rules::{Game, tuc::Tuc};
///
/// let mut position = Tuc::start();
/// position.play(position.read("5040").unwrap());
/// assert_eq!(position.print(), "prkrp/ppppp/...../*****/P..../.PPPP/PRKRP b 0-0 20 1 2021");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuc {
    board: Board,
    side: Color,
    points: ByColor<i32>,
    /// As the server counts them: see [`Rules::miscounts`].
    men: u8,
    plies: u16,
    rules: Rules,
    /// Of the board and the side to move; see [`Tuc::key`].
    board_key: u64,
}

/// From a square to a square; all else follows from the board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Where the piece stands.
    pub from: Square,
    /// Where it goes.
    pub to: Square,
}

const SECOND_TO_MOVE: u64 = mixed(1 << 22);

const fn man_key(side: Color, kind: Kind, square: Square) -> u64 {
    mixed(1 << 23 | (((side as u64) << 2 | kind as u64) << 6) | square.index() as u64)
}

const fn prize_key(square: Square) -> u64 {
    mixed(1 << 23 | 1 << 10 | square.index() as u64)
}

/// What a move brings, as far as the board tells.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Proceeds {
    /// Points for the mover, without the prize.
    mover: i32,
    /// Points for the other side: an oddity of the original.
    other: i32,
    /// A prize is taken.
    prize: bool,
    /// What is captured.
    captured: Option<Kind>,
    /// The pawn leaves the board on the last row.
    leaves: bool,
}

impl Tuc {
    /// The start by these rules.
    pub fn start_by(rules: Rules) -> Self {
        Self::new(Board::start(), Color::White, ByColor([0; 2]), MEN, 0, rules)
    }

    fn new(board: Board, side: Color, points: ByColor<i32>, men: u8, plies: u16, rules: Rules) -> Self {
        let men_key = board.men().fold(0, |key, (square, side, kind)| key ^ man_key(side, kind, square));
        let turn = if side == Color::Black { SECOND_TO_MOVE } else { 0 };
        let board_key = Bits(board.prizes()).fold(men_key ^ turn, |key, at| key ^ prize_key(Square::new(at)));
        Tuc { board, side, points, men, plies, rules, board_key }
    }

    /// The pieces and prizes.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// By which rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The points of both sides, in hundredths.
    pub fn points(&self) -> ByColor<i32> {
        self.points
    }

    /// Points of the side to move above those of the other, in hundredths.
    pub fn lead(&self) -> i32 {
        self.points[self.side] - self.points[!self.side]
    }

    /// Plies played.
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// Does this move take a prize?
    pub fn takes_prize(&self, mv: Move) -> bool {
        self.board.prizes() & mv.to.bit() != 0
    }

    /// Plays a move whose prize, if it takes one, is worth so much, in hundredths of a point.
    pub fn play_for(&mut self, mv: Move, prize: i32) {
        let side = self.side;
        // A move that is none, which the trait rules out, passes.
        if let Some((_, kind)) = self.board.man_at(mv.from) {
            let proceeds = self.proceeds(mv, kind);
            self.lift(mv, side, kind, proceeds);
            self.points[side] += proceeds.mover + if proceeds.prize { prize } else { 0 };
            self.points[!side] += proceeds.other;
            self.men -= u8::from(proceeds.captured.is_some_and(|kind| kind != Kind::King));
            let uncounted = proceeds.captured.is_some() && self.rules.miscounts();
            self.men -= u8::from(proceeds.leaves && !uncounted);
        }
        self.board_key ^= SECOND_TO_MOVE;
        self.side = !side;
        self.plies = self.plies.saturating_add(1);
    }

    /// Changes the board by a move.
    fn lift(&mut self, mv: Move, side: Color, kind: Kind, proceeds: Proceeds) {
        if let Some((other, captured)) = self.board.man_at(mv.to) {
            self.board.take(mv.to, other, captured);
            self.board_key ^= man_key(other, captured, mv.to);
        }
        if proceeds.prize {
            self.board.remove_prize(mv.to);
            self.board_key ^= prize_key(mv.to);
        }
        self.board.take(mv.from, side, kind);
        self.board_key ^= man_key(side, kind, mv.from);
        if !proceeds.leaves {
            self.board.put(mv.to, side, kind);
            self.board_key ^= man_key(side, kind, mv.to);
        }
    }

    /// Puts a prize on a free square.
    pub fn put_prize(&mut self, square: Square) {
        if self.board.free() & square.bit() != 0 {
            self.board.put_prize(square);
            self.board_key ^= prize_key(square);
        }
    }

    /// Takes over what a server tells of a move: the move itself, whatever we think of it, who is to move
    /// now, a new prize, and the points (whole ones). Was it a move as we know them?
    pub fn hear(
        &mut self,
        mv: Move,
        to_move: Color,
        new_prize: Option<Square>,
        points: ByColor<u16>,
    ) -> bool {
        let known = self.side != to_move && self.all_moves().contains(&mv);
        if self.side == to_move {
            *self = self.with_side(!to_move);
        }
        if known {
            self.play_for(mv, 0);
        } else {
            self.force(mv);
        }
        if let Some(square) = new_prize {
            self.put_prize(square);
        }
        self.points = ByColor(points.0.map(|points| i32::from(points) * POINT));
        known
    }

    /// Moves whatever stands there: a message before this one was lost.
    fn force(&mut self, mv: Move) {
        let mut board = self.board.clone();
        if let Some((side, kind)) = board.man_at(mv.from) {
            board.take(mv.from, side, kind);
            if let Some((other, captured)) = board.man_at(mv.to) {
                board.take(mv.to, other, captured);
                self.men = self.men.saturating_sub(1);
            }
            board.remove_prize(mv.to);
            if kind != Kind::Pawn || mv.to.row() != board::last_row(side) {
                board.put(mv.to, side, kind);
            }
        }
        *self = Self::new(board, !self.side, self.points, self.men, self.plies.saturating_add(1), self.rules);
    }

    /// The same position with this side to move.
    fn with_side(&self, side: Color) -> Self {
        Self::new(self.board.clone(), side, self.points, self.men, self.plies, self.rules)
    }

    fn proceeds(&self, mv: Move, kind: Kind) -> Proceeds {
        let captured = self.board.man_at(mv.to).map(|(_, kind)| kind);
        let leaves = kind == Kind::Pawn && mv.to.row() == board::last_row(self.side);
        let mut proceeds = Proceeds {
            mover: captured.map_or(0, Kind::points) * POINT,
            other: 0,
            prize: self.takes_prize(mv),
            captured,
            leaves,
        };
        if leaves && captured.is_some() && self.rules.extra(self.side, mv) == Extra::ToTheOther {
            proceeds.other = POINT;
        } else if leaves {
            proceeds.mover += POINT;
        }
        proceeds
    }

    /// What a prize is expected to be worth, in hundredths of a point: the chance that it is worth one.
    pub fn prize(&self) -> i32 {
        self.rules.edition.settings().worth_percent.into()
    }

    /// The squares that this man may go to, by the rules that everybody keeps to.
    fn targets(&self, from: Square, kind: Kind) -> u64 {
        self.board.reach(from, kind, self.side) & !self.board.side(self.side)
    }

    /// The original lets a black pawn on row 5 jump to any square of row 6 where no man stands.
    fn jumps(&self, from: Square, kind: Kind) -> u64 {
        if kind == Kind::Pawn && self.side == Color::Black && from.row() == ROWS - 2 {
            board::row(ROWS - 1) & !self.board.occupied()
        } else {
            0
        }
    }

    /// All that the original server plays, jumps included.
    pub fn all_moves(&self) -> Moves<Move> {
        Tuc { rules: Rules { jumps: true, ..self.rules }, ..self.clone() }.moves()
    }

    /// Tells of each man of the side to move where it can go.
    #[inline]
    fn each_way(&self, mut tell: impl FnMut(Square, u64)) {
        if !self.board.has_both_kings() {
            return;
        }
        for kind in Kind::ALL {
            for from in Bits(self.board.of(kind) & self.board.side(self.side)).map(Square::new) {
                let jumps = if self.rules.jumps { self.jumps(from, kind) } else { 0 };
                tell(from, self.targets(from, kind) | jumps);
            }
        }
    }

    /// Who has more points wins, whoever took the king.
    fn by_points(&self, reason: Reason) -> Outcome {
        let [first, second] = self.points.0;
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Outcome::Win(Color::White, reason),
            std::cmp::Ordering::Equal => Outcome::Draw(reason),
            std::cmp::Ordering::Less => Outcome::Win(Color::Black, reason),
        }
    }
}

impl Game for Tuc {
    const NAME: &'static str = "tuc";
    const CHANCE: bool = true;
    const OCCURRENCES: usize = usize::MAX;
    type Move = Move;

    fn start() -> Self {
        Tuc::start_by(Rules::default())
    }

    fn parse(text: &str) -> Result<Self, GameError> {
        text::parse(text).map_err(|why| GameError::position(text, Self::NAME, why))
    }

    fn print(&self) -> String {
        text::print(self)
    }

    fn side(&self) -> Color {
        self.side
    }

    fn moves(&self) -> Moves<Move> {
        let mut moves = Moves::new();
        self.each_way(|from, targets| {
            Bits(targets).for_each(|to| moves.push(Move { from, to: Square::new(to) }));
        });
        moves
    }

    fn play(&mut self, mv: Move) {
        self.play_for(mv, self.prize());
    }

    fn outcome(&self) -> Outcome {
        match self.settled() {
            Outcome::Ongoing if self.moves().is_empty() => self.stuck(),
            outcome => outcome,
        }
    }

    /// Of board, side, lead and count: by how much one leads is the heart of the position.
    fn key(&self) -> Key {
        let lead = (self.points[Color::White] - self.points[Color::Black]) as u16;
        Key(self.board_key ^ mixed(1 << 24 | u64::from(lead) << 8 | u64::from(self.men)))
    }

    fn reversible_plies(&self) -> u32 {
        0
    }

    fn read(&self, text: &str) -> Result<Move, GameError> {
        let mv = Move::parse(text).filter(|mv| self.moves().contains(mv));
        mv.ok_or_else(|| GameError::illegal(text))
    }

    fn write(&self, mv: Move) -> MoveText {
        // Four digits always fit.
        MoveText::new(&mv.to_string()).unwrap_or(MoveText::NONE)
    }

    fn pack(&self, mv: Move) -> Packed {
        Packed(1 << 12 | (mv.from.index() as u16) << 6 | mv.to.index() as u16)
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        let square = |bits: u16| Some(usize::from(bits & 63)).filter(|&s| s < SQUARES).map(Square::new);
        let (from, to) = square(packed.0 >> 6).zip(square(packed.0)).filter(|_| packed.0 >> 12 == 1)?;
        let (_, kind) = self.board.man_at(from).filter(|&(side, _)| side == self.side)?;
        let jumps = if self.rules.jumps { self.jumps(from, kind) } else { 0 };
        let reaches = (self.targets(from, kind) | jumps) & to.bit() != 0;
        (reaches && self.board.has_both_kings()).then_some(Move { from, to })
    }
}

impl Tactics for Tuc {
    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<Move> {
        let mut ways = ArrayVec::<(Square, u64), MOST_MEN>::new();
        let mut count = 0;
        self.each_way(|from, targets| {
            count += targets.count_ones() as usize;
            ways.push((from, targets));
        });
        if count == 0 {
            return None;
        }
        let mut left = choose(count);
        for (from, targets) in ways {
            let here = targets.count_ones() as usize;
            if left < here {
                return Some(Move { from, to: Square::new(nth(targets, left)) });
            }
            left -= here;
        }
        None
    }

    fn piece_to(&self, mv: Move) -> PieceTo {
        let kind = self.board.man_at(mv.from).map_or(0, |(_, kind)| kind as usize);
        PieceTo::new(kind, mv.to.index())
    }

    fn target(&self, mv: Move) -> usize {
        mv.to.index()
    }

    fn gain(&self, mv: Move) -> i32 {
        let Some((_, kind)) = self.board.man_at(mv.from) else { return 0 };
        let proceeds = self.proceeds(mv, kind);
        proceeds.mover - proceeds.other + if proceeds.prize { self.prize() } else { 0 }
    }

    fn worth(&self, mv: Move) -> i32 {
        self.board.man_at(mv.from).map_or(0, |(_, kind)| kind.points() * POINT)
    }

    fn settled(&self) -> Outcome {
        if !self.board.has_both_kings() {
            self.by_points(Reason::KingCaptured)
        } else if self.men == 2 {
            self.by_points(Reason::BareKings)
        } else {
            Outcome::Ongoing
        }
    }

    /// The original would wait for ever; what counts then are the points.
    fn stuck(&self) -> Outcome {
        self.by_points(Reason::NoMoves)
    }
}

#[cfg(test)]
mod tests;
