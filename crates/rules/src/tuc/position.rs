//! A position of TUC-Chess, and its rules.

use std::cmp::Ordering;

use super::{
    pieces::{self, Board, COLUMNS, Kind, Move, ROWS, Square},
    rules::{Extra, Rules},
};
use crate::{
    color::{ByColor, Color},
    error::GameError,
    game::{Game, Key, MoveText, Moves, Outcome, Packed, Reason},
    kind::GameKind,
    small::{Bits, Exchange, mix},
    tactics::{PieceTo, Tactics},
};

/// A point, in hundredths.
pub const POINT: i32 = 100;
/// Pieces on the board at the start.
const PIECES: u8 = 20;
/// No game brings more: a bound for positions from outside, in hundredths.
const MAX_POINTS: i32 = 100_000;

/// A position of TUC-Chess.
///
/// Its text form is the board from row 0 down (White's pieces are capitals, `*` is a prize), the side to move, the
/// points in hundredths, the server's count of pieces, the plies played, and the rules:
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
    /// The squares with a prize, as a bitboard.
    prizes: u64,
    color: Color,
    points: ByColor<i32>,
    /// As the server counts them: see [`Rules::miscounts`].
    piece_count: u8,
    plies: u16,
    rules: Rules,
}

const BLACK_TO_MOVE: u64 = mix(1 << 22);

const fn prize_key(square: usize) -> u64 {
    mix(1 << 23 | 1 << 10 | square as u64)
}

/// The result of a move, as far as the board tells.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Proceeds {
    /// Points for the mover, without the prize.
    mover: i32,
    /// Points for the other side: an oddity of the original.
    other: i32,
    /// A prize is taken.
    prize: bool,
    captured: Option<Kind>,
    /// The pawn leaves the board on the last row.
    leaves: bool,
}

impl Tuc {
    /// The start of a game by the default rules.
    pub fn start() -> Self {
        Tuc::start_by(Rules::default())
    }

    /// Reads a position.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn parse(text: &str) -> Result<Self, GameError> {
        Tuc::parse_text(text).map_err(|why| GameError::position(text, GameKind::Tuc.name(), why))
    }

    /// The start of a game by these rules.
    pub fn start_by(rules: Rules) -> Self {
        Tuc {
            board: pieces::start(),
            prizes: Board::row(ROWS / 2),
            color: Color::White,
            points: ByColor([0; 2]),
            piece_count: PIECES,
            plies: 0,
            rules,
        }
    }

    /// The pieces.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The squares with a prize, as a bitboard.
    pub fn prizes(&self) -> u64 {
        self.prizes
    }

    /// The squares with neither a piece nor a prize, as a bitboard: a new prize may appear there.
    pub fn free_squares(&self) -> u64 {
        Board::ALL & !self.board.occupied() & !self.prizes
    }

    /// The squares that a piece can go to, those of its own color included.
    pub fn reach(&self, from: Square, kind: Kind, color: Color) -> u64 {
        self.board.reach(from, kind, color, self.prizes)
    }

    /// The rules of this game.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The points of both sides, in hundredths.
    pub fn points(&self) -> ByColor<i32> {
        self.points
    }

    /// The lead in points of the side to move, in hundredths.
    pub fn lead(&self) -> i32 {
        self.points[self.color] - self.points[!self.color]
    }

    /// Plies played.
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// The server's count of the pieces, which ends the game at two: see [`Rules::miscounts`].
    pub fn piece_count(&self) -> u8 {
        self.piece_count
    }

    /// Whether this move takes a prize.
    pub fn takes_prize(&self, mv: Move) -> bool {
        self.prizes & mv.to.bit() != 0
    }

    /// The expected value of a prize, in hundredths of a point: the chance that it is worth one.
    pub(crate) fn prize_value(&self) -> i32 {
        self.rules.edition.settings().worth_percent.into()
    }

    /// Plays a move whose prize, if it takes one, has this value in hundredths of a point.
    pub fn play_for(&mut self, mv: Move, prize: i32) {
        let color = self.color;
        // A move from an empty square, which the trait rules out, passes.
        if let Some(kind) = self.board.kind_at(mv.from) {
            let proceeds = self.proceeds(mv, kind);
            if let Some((other, captured)) = self.board.piece_at(mv.to) {
                self.board.take(mv.to, other, captured);
            }
            self.prizes &= !mv.to.bit();
            self.board.take(mv.from, color, kind);
            if !proceeds.leaves {
                self.board.put(mv.to, color, kind);
            }
            self.points[color] += proceeds.mover + if proceeds.prize { prize } else { 0 };
            self.points[!color] += proceeds.other;
            self.piece_count -= u8::from(proceeds.captured.is_some_and(|kind| kind != Kind::King));
            let uncounted = proceeds.captured.is_some() && self.rules.miscounts();
            self.piece_count -= u8::from(proceeds.leaves && !uncounted);
        }
        self.color = !color;
        self.plies = self.plies.saturating_add(1);
    }

    /// Puts a prize on a free square.
    pub fn put_prize(&mut self, square: Square) {
        self.prizes |= self.free_squares() & square.bit();
    }

    /// Takes over a server's report of a move: the move itself, even if it is not legal here, the side to move after
    /// it, a new prize, and the points (whole ones). Returns whether the move was legal.
    pub fn hear(
        &mut self,
        mv: Move,
        to_move: Color,
        new_prize: Option<Square>,
        points: ByColor<u16>,
    ) -> bool {
        let known = self.color != to_move && self.all_moves().contains(&mv);
        self.color = !to_move;
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

    /// Moves the piece on the square, of either side: an earlier message was lost.
    fn force(&mut self, mv: Move) {
        if let Some((color, kind)) = self.board.piece_at(mv.from) {
            self.board.take(mv.from, color, kind);
            if let Some((other, captured)) = self.board.piece_at(mv.to) {
                self.board.take(mv.to, other, captured);
                self.piece_count = self.piece_count.saturating_sub(1);
            }
            self.prizes &= !mv.to.bit();
            if kind != Kind::Pawn || mv.to.row() != Board::last_row(color) {
                self.board.put(mv.to, color, kind);
            }
        }
        self.color = !self.color;
        self.plies = self.plies.saturating_add(1);
    }

    fn proceeds(&self, mv: Move, kind: Kind) -> Proceeds {
        let captured = self.board.kind_at(mv.to);
        let leaves = kind == Kind::Pawn && mv.to.row() == Board::last_row(self.color);
        let mut proceeds = Proceeds {
            mover: captured.map_or(0, Kind::points) * POINT,
            other: 0,
            prize: self.takes_prize(mv),
            captured,
            leaves,
        };
        if leaves && captured.is_some() && self.rules.extra(self.color, mv) == Extra::ToTheOther {
            proceeds.other = POINT;
        } else if leaves {
            proceeds.mover += POINT;
        }
        proceeds
    }

    /// The squares that a piece of the side to move may go to.
    fn targets(&self, from: Square, kind: Kind) -> u64 {
        let jumps = if self.rules.jumps { self.jumps(from, kind) } else { 0 };
        self.reach(from, kind, self.color) & !self.board.color(self.color) | jumps
    }

    /// The original lets a black pawn on row 5 jump to any square of row 6 without a piece.
    fn jumps(&self, from: Square, kind: Kind) -> u64 {
        if kind == Kind::Pawn && self.color == Color::Black && from.row() == ROWS - 2 {
            Board::row(ROWS - 1) & !self.board.occupied()
        } else {
            0
        }
    }

    /// The moves that the original server plays, jumps included.
    pub(crate) fn all_moves(&self) -> Moves<Move> {
        Tuc { rules: Rules { jumps: true, ..self.rules }, ..self.clone() }.moves()
    }

    /// The side with more points wins, whoever captured the king.
    fn by_points(&self, reason: Reason) -> Outcome {
        self.leader().map_or(Outcome::Draw(reason), |winner| Outcome::Win(winner, reason))
    }

    fn parse_text(text: &str) -> Result<Tuc, String> {
        let mut words = text.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        let mut prizes = 0;
        let board = Board::parse(word(), "KRPkrp or '*' for a prize", |square, letter| {
            prizes |= square.bit();
            letter == '*'
        });
        let board = board.map_err(|error| error.to_string())?;
        let color = match word() {
            "w" => Color::White,
            "b" => Color::Black,
            _ => return Err("expected the side to move, w or b, after the board".into()),
        };
        let points = |text: &str| text.parse().ok().filter(|points| (0..=MAX_POINTS).contains(points));
        let points = word().split_once('-').and_then(|(white, black)| points(white).zip(points(black)));
        let (white, black) =
            points.ok_or("the third word is the points of both in hundredths, as 300-185")?;
        let piece_count = word().parse().ok().filter(|pieces| (2..=PIECES).contains(pieces));
        let piece_count = piece_count.ok_or("the fourth word is the count of pieces, 2 to 20")?;
        if u32::from(piece_count) < board.occupied().count_ones() {
            return Err("there are more pieces on the board than are counted".into());
        }
        let plies = word().parse().map_err(|_| "the fifth word is the plies played")?;
        let rules = word().parse::<Rules>().map_err(|_| "the last word is the rules: 2019, 2021 or 2022")?;
        Ok(Tuc { board, prizes, color, points: ByColor([white, black]), piece_count, plies, rules })
    }
}

impl Game for Tuc {
    const HAS_CHANCE: bool = true;
    type Move = Move;

    fn kind(&self) -> GameKind {
        GameKind::Tuc
    }

    fn repetition_limit(&self) -> usize {
        usize::MAX
    }

    fn start_position(&self) -> Self {
        Self::start()
    }

    fn parse_position(&self, text: &str) -> Result<Self, GameError> {
        Tuc::parse(text)
    }

    fn print(&self) -> String {
        let board = self.board.print(|square| if self.prizes & square.bit() != 0 { '*' } else { '.' });
        let color = if self.color == Color::White { 'w' } else { 'b' };
        let ByColor([white, black]) = self.points;
        let Tuc { piece_count, plies, rules, .. } = self;
        format!("{board} {color} {white}-{black} {piece_count} {plies} {rules}")
    }

    fn side_to_move(&self) -> Color {
        self.color
    }

    fn moves(&self) -> Moves<Move> {
        self.board.moves(self.color, |from, kind| self.targets(from, kind))
    }

    fn play(&mut self, mv: Move) {
        self.play_for(mv, self.prize_value());
    }

    fn outcome(&self) -> Outcome {
        match self.quick_outcome() {
            Outcome::Ongoing if self.moves().is_empty() => self.no_moves_outcome(),
            outcome => outcome,
        }
    }

    fn leader(&self) -> Option<Color> {
        match self.lead().cmp(&0) {
            Ordering::Greater => Some(self.color),
            Ordering::Equal => None,
            Ordering::Less => Some(!self.color),
        }
    }

    /// Of board, side, lead and count: the lead decides the value of the position.
    fn key(&self) -> Key {
        let color = if self.color == Color::Black { BLACK_TO_MOVE } else { 0 };
        let prizes = Bits(self.prizes).fold(0, |key, square| key ^ prize_key(square));
        let lead = (self.points[Color::White] - self.points[Color::Black]) as u16;
        let count = mix(1 << 24 | u64::from(lead) << 8 | u64::from(self.piece_count));
        Key(self.board.key() ^ color ^ prizes ^ count)
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
        mv.pack()
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        self.board.unpack(packed, self.color, |from, kind| self.targets(from, kind))
    }
}

impl Tactics for Tuc {
    const WHITE_ASCENDS: bool = false;

    fn rows(&self) -> usize {
        ROWS
    }

    fn columns(&self) -> usize {
        COLUMNS
    }

    fn pick(&self, choose: impl FnOnce(usize) -> usize) -> Option<Move> {
        self.board.pick(self.color, |from, kind| self.targets(from, kind), choose)
    }

    fn piece_to(&self, mv: Move) -> PieceTo {
        let kind = self.board.kind_at(mv.from).map_or(0, |kind| kind as usize);
        PieceTo::new(kind, mv.to.index())
    }

    fn target(&self, mv: Move) -> usize {
        mv.to.index()
    }

    fn gain(&self, mv: Move) -> i32 {
        let Some(kind) = self.board.kind_at(mv.from) else { return 0 };
        let proceeds = self.proceeds(mv, kind);
        proceeds.mover - proceeds.other + if proceeds.prize { self.prize_value() } else { 0 }
    }

    fn piece_value(&self, mv: Move) -> i32 {
        self.board.kind_at(mv.from).map_or(0, |kind| kind.points() * POINT)
    }

    fn material(&self) -> i32 {
        self.lead()
    }

    fn quick_outcome(&self) -> Outcome {
        if !self.board.has_both_kings() {
            self.by_points(Reason::KingCaptured)
        } else if self.piece_count == 2 {
            self.by_points(Reason::BareKings)
        } else {
            Outcome::Ongoing
        }
    }

    /// The original would wait for ever; here the points decide.
    fn no_moves_outcome(&self) -> Outcome {
        self.by_points(Reason::NoMoves)
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        let Some(kind) = self.board.kind_at(mv.from) else { return false };
        let exchange = Exchange {
            color: self.color,
            balance: self.gain(mv) - threshold,
            arrives: (!self.proceeds(mv, kind).leaves).then_some(kind),
            obstacles: self.prizes,
        };
        self.board.wins(mv, &exchange, |kind| kind.points() * POINT)
    }
}
