//! A position of MiniChess, and its rules.

use super::{
    pieces::{self, Board, Kind, Move, Square},
    rules::{self, AtTheLimit, KingRule, Rules, Settings},
};
use crate::{
    color::Color,
    error::GameError,
    game::{Game, Key, Margin, MoveText, Moves, Outcome, Packed, Reason},
    kind::GameKind,
    small::{Exchange, ORTHOGONAL, mix, steps},
    tactics::{PieceTo, Tactics},
};

/// A position of MiniChess.
///
/// Its text form is the board from the sixth rank down, the side to move, and the number of the move:
///
/// ```
/// use zeitnot_rules::{Game, minichess::{MiniChess, Rules}};
///
/// let mut position = MiniChess::start(Rules::Imcs);
/// position.play(position.read("a2-a3").unwrap());
/// assert_eq!(position.print(), "kqbnr/ppppp/...../P..../.PPPP/RNBQK B 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiniChess {
    board: Board,
    color: Color,
    /// Played since the start of the game.
    plies: u16,
    /// Played since the last capture or pawn move.
    quiet_plies: u16,
    rules: Rules,
}

/// The key of the side to move, when it is Black.
const BLACK_TO_MOVE: u64 = mix(1 << 20);
/// The end by the count of plies is near when no more than this many are left: a search can reach it, so that the same
/// board at another ply is another position to its tables. Earlier they are more useful without the ply.
const NEAR_THE_END: u16 = 32;
/// Where a bishop may step to an empty square.
const STEPS: [u64; pieces::SQUARES] = steps::<{ pieces::COLUMNS }, { pieces::SQUARES }>(&ORTHOGONAL);

impl MiniChess {
    fn settings(&self) -> &'static Settings {
        self.rules.settings()
    }

    /// The rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The usual start of a game by these rules.
    pub fn start(rules: Rules) -> Self {
        MiniChess { board: pieces::start(), color: Color::White, plies: 0, quiet_plies: 0, rules }
    }

    /// Reads a position of a game by these rules.
    ///
    /// # Errors
    /// [`GameError::Position`] with the reason.
    pub fn parse(rules: Rules, text: &str) -> Result<Self, GameError> {
        let error =
            |why: &dyn std::fmt::Display| GameError::position(text, rules.settings().kind.name(), why);
        let mut words = text.split_whitespace();
        let board = Board::parse(words.next().unwrap_or_default(), "KQRBNPkqrbnp", |_, _| false);
        let board = board.map_err(|why| error(&why))?;
        let color = match words.next() {
            Some("W" | "w" | "0") => Color::White,
            Some("B" | "b" | "1") => Color::Black,
            _ => return Err(error(&"expected the side to move, W or B, after the board")),
        };
        let number = match words.next().map_or(Ok(1), str::parse::<u16>) {
            Ok(number @ 1..=10_000) => number,
            _ => return Err(error(&"expected the number of the move, from 1, as the third word")),
        };
        if words.next().is_some() {
            return Err(error(&"expected only a board, a side and a number"));
        }
        Ok(MiniChess { board, color, plies: 2 * (number - 1) + color as u16, quiet_plies: 0, rules })
    }

    /// The pieces.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plies played since the start of the game.
    pub fn plies(&self) -> u16 {
        self.plies
    }

    /// The same board after this many plies, which some servers do not tell.
    #[must_use]
    pub fn at_ply(&self, plies: u16) -> Self {
        MiniChess { plies, quiet_plies: 0, ..self.clone() }
    }

    /// The same board with `left` plies to the end of the game, or with as many as a game has.
    #[must_use]
    pub fn before_the_end(&self, left: u16) -> Self {
        self.at_ply(self.settings().plies.saturating_sub(left))
    }

    /// Whether this side could capture the other's king if it were to move.
    fn attacks_king(&self, color: Color) -> bool {
        let king = self.board.king(!color);
        king.is_some_and(|king| self.board.attackers(king, color, self.board.occupied()) != 0)
    }

    /// The squares that a piece of the side to move can go to.
    fn targets(&self, from: Square, kind: Kind) -> u64 {
        let mut targets = self.board.reach(from, kind, self.color, 0);
        if self.settings().bishop_steps && kind == Kind::Bishop {
            targets |= STEPS[from.index()] & !self.board.occupied();
        }
        targets & !self.board.color(self.color)
    }

    /// The outcome when the plies are used up.
    fn at_the_limit(&self) -> Outcome {
        let balance = self.balance();
        let reason = Reason::Material(Margin(balance.unsigned_abs() as u16));
        match balance {
            0 => Outcome::Draw(Reason::MoveLimit),
            1.. => Outcome::Win(Color::White, reason),
            _ => Outcome::Win(Color::Black, reason),
        }
    }

    /// White's lead in material by the count that decides when the plies are used up; 0 if none does.
    pub fn balance(&self) -> i32 {
        match self.settings().at_the_limit {
            AtTheLimit::Draw => 0,
            AtTheLimit::Material => pieces::balance(&self.board, rules::course_value),
        }
    }

    /// The plies played, as a part of keys.
    fn ply_key(&self) -> u64 {
        mix(1 << 21 | u64::from(self.plies))
    }

    /// Whether the king is attacked, and can be captured after every move.
    fn is_checkmate(&self) -> bool {
        self.is_check()
            && self.moves().into_iter().map(|mv| self.after(mv)).all(|child| child.attacks_king(child.color))
    }
}

impl Game for MiniChess {
    type Move = Move;

    fn kind(&self) -> GameKind {
        self.settings().kind
    }

    fn repetition_limit(&self) -> usize {
        self.settings().repetition_limit.unwrap_or(usize::MAX)
    }

    fn start_position(&self) -> Self {
        Self::start(self.rules)
    }

    fn parse_position(&self, text: &str) -> Result<Self, GameError> {
        Self::parse(self.rules, text)
    }

    fn print(&self) -> String {
        let color = if self.color == Color::White { 'W' } else { 'B' };
        format!("{} {color} {}", self.board, self.plies / 2 + 1)
    }

    fn side_to_move(&self) -> Color {
        self.color
    }

    fn moves(&self) -> Moves<Move> {
        self.board.moves(self.color, |from, kind| self.targets(from, kind))
    }

    fn play(&mut self, mv: Move) {
        // A move from an empty square, which the trait rules out, passes.
        if let Some(kind) = self.board.kind_at(mv.from) {
            let captured = self.board.kind_at(mv.to);
            if let Some(captured) = captured {
                self.board.take(mv.to, !self.color, captured);
            }
            self.board.take(mv.from, self.color, kind);
            self.board.put(mv.to, self.color, kind.after(mv.to, self.color));
            let quiet = captured.is_none() && kind != Kind::Pawn;
            self.quiet_plies = if quiet { self.quiet_plies.saturating_add(1) } else { 0 };
        }
        self.plies = self.plies.saturating_add(1);
        self.color = !self.color;
    }

    fn outcome(&self) -> Outcome {
        let outcome = self.quick_outcome();
        if outcome.is_over() {
            outcome
        } else if self.moves().is_empty() {
            self.no_moves_outcome()
        } else if self.settings().checkmate && self.is_checkmate() {
            Outcome::Win(!self.color, Reason::Checkmate)
        } else {
            Outcome::Ongoing
        }
    }

    /// Without a rule of repetition, the same board at another ply is another position.
    fn key(&self) -> Key {
        let color = if self.color == Color::Black { BLACK_TO_MOVE } else { 0 };
        let never_repeats = self.settings().repetition_limit.is_none();
        let ply = if never_repeats { self.ply_key() } else { 0 };
        Key(self.board.key() ^ color ^ ply)
    }

    fn reversible_plies(&self) -> u32 {
        if self.settings().repetition_limit.is_some() { u32::from(self.quiet_plies) } else { 0 }
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
        MoveText::new(&mv.to_string()).unwrap_or(MoveText::NONE)
    }

    fn pack(&self, mv: Move) -> Packed {
        mv.pack()
    }

    fn unpack(&self, packed: Packed) -> Option<Move> {
        self.board.unpack(packed, self.color, |from, kind| self.targets(from, kind))
    }
}

impl Tactics for MiniChess {
    fn rows(&self) -> usize {
        pieces::ROWS
    }

    fn columns(&self) -> usize {
        pieces::COLUMNS
    }

    fn piece_to(&self, mv: Move) -> PieceTo {
        let kind = self.board.kind_at(mv.from).map_or(0, |kind| kind as usize);
        PieceTo::new(kind, mv.to.index())
    }

    fn target(&self, mv: Move) -> usize {
        mv.to.index()
    }

    fn gain(&self, mv: Move) -> i32 {
        let captured = self.board.kind_at(mv.to).map_or(0, rules::value);
        let promoted = match self.board.kind_at(mv.from) {
            Some(kind) => rules::value(kind.after(mv.to, self.color)) - rules::value(kind),
            None => 0,
        };
        captured + promoted
    }

    fn piece_value(&self, mv: Move) -> i32 {
        self.board.kind_at(mv.from).map_or(0, rules::value)
    }

    fn material(&self) -> i32 {
        let lead = pieces::balance(&self.board, rules::value);
        if self.color == Color::White { lead } else { -lead }
    }

    fn noisy_moves(&self) -> Moves<Move> {
        let captures = self.board.color(!self.color);
        let last_row = Board::row(Board::last_row(self.color));
        self.board.moves(self.color, |from, kind| {
            self.targets(from, kind) & if kind == Kind::Pawn { captures | last_row } else { captures }
        })
    }

    fn quick_outcome(&self) -> Outcome {
        if let Some(color) = Color::BOTH.into_iter().find(|&color| self.board.king(color).is_none()) {
            return Outcome::Win(!color, Reason::KingCaptured);
        }
        let limit = self.plies >= self.settings().plies;
        match self.settings().king {
            KingRule::EnPriseAfterTheLimit if limit => self.at_the_limit(),
            KingRule::EnPriseAfterTheLimit | KingRule::EnPriseBeforeTheLimit
                if self.attacks_king(self.color) =>
            {
                Outcome::Win(self.color, Reason::KingEnPrise)
            }
            _ if limit => self.at_the_limit(),
            _ => Outcome::Ongoing,
        }
    }

    fn no_moves_outcome(&self) -> Outcome {
        Outcome::Win(!self.color, Reason::NoMoves)
    }

    fn is_check(&self) -> bool {
        self.attacks_king(!self.color)
    }

    fn plies_left(&self) -> Option<u32> {
        Some(self.settings().plies.saturating_sub(self.plies).into())
    }

    fn table_key(&self) -> Key {
        let has_ply = self.settings().repetition_limit.is_none();
        let far = self.plies.saturating_add(NEAR_THE_END) < self.settings().plies;
        let Key(key) = self.key();
        Key(if has_ply || far { key } else { key ^ self.ply_key() })
    }

    fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        let Some(kind) = self.board.kind_at(mv.from) else { return false };
        let exchange = Exchange {
            color: self.color,
            balance: self.gain(mv) - threshold,
            arrives: Some(kind.after(mv.to, self.color)),
            obstacles: 0,
        };
        self.board.wins(mv, &exchange, rules::value)
    }

    fn pass(&self) -> Option<Self> {
        let own = self.board.color(self.color);
        let officers = own & !self.board.of(Kind::Pawn) & !self.board.of(Kind::King);
        if officers.count_ones() < 2 || self.is_check() {
            return None;
        }
        Some(MiniChess { color: !self.color, plies: self.plies.saturating_add(1), ..self.clone() })
    }
}
