//! Files of the NTHU course of 2023 for MiniChess: the `state` that a program reads and the `action` that it writes.
//!
//! Both are integers separated by white space. Rows count from the sixth rank down, columns from the a-file.
//! Source: the course's referee.

use std::{fmt::Write, iter::Peekable};

use zeitnot_rules::{
    ByColor, Color, Game, GameError,
    minichess::{COLUMNS, Kind, MiniChess, Move, ROWS, Rules, SQUARES, Square},
};

/// Maximum number of bytes to read; a `state` is much shorter.
pub const MAX_STATE: u64 = 4096;
/// The side to move, and the squares of either side.
const NUMBERS: usize = 1 + 2 * SQUARES;
/// Meanings of the numbers: nothing, and the pieces in the order of [`Kind::ALL`].
const LETTERS: ByColor<&[u8; 7]> = ByColor([b".PRNBQK", b".prnbqk"]);

/// Error of parsing a `state`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StateError {
    /// Too few numbers.
    #[error("a state is {NUMBERS} whole numbers, but after {0} there is no further one")]
    TooShort(usize),
    /// Invalid side to move.
    #[error("a state begins with 0 for white to move or 1 for black, not with {0}")]
    Turn(i32),
    /// Invalid piece.
    #[error(
        "{side} has a {number} on {square}: expected 0 for nothing, or 1 to 6 for pawn, rook, knight, bishop, queen, king"
    )]
    Piece {
        /// Owner of the board.
        side: Color,
        /// Square.
        square: Square,
        /// Number found there.
        number: i32,
    },
    /// Two pieces on one square.
    #[error("both sides have a piece on {0}")]
    Shared(Square),
    /// Not a legal position.
    #[error(transparent)]
    Position(#[from] GameError),
}

/// Converts row and column of a file to a square.
fn square([row, column]: [i32; 2]) -> Option<Square> {
    let row = ROWS.checked_sub(1 + usize::try_from(row).ok()?)?;
    Square::at(row, usize::try_from(column).ok()?)
}

/// Iterates over the squares in file order.
fn squares() -> impl Iterator<Item = Square> {
    (0..ROWS).rev().flat_map(|row| (0..COLUMNS).map(move |column| Square::new(row * COLUMNS + column)))
}

/// Parses a `state` and ignores the rest of the file. The number of played plies is unknown and starts at zero.
///
/// # Errors
/// [`StateError`] with what was expected.
pub fn parse_state(text: &[u8]) -> Result<MiniChess, StateError> {
    let numbers: Vec<i32> = Numbers::of(text.iter().copied()).take(NUMBERS).collect();
    if numbers.len() < NUMBERS {
        return Err(StateError::TooShort(numbers.len()));
    }
    let turn = numbers[0];
    let [white, black] = [&numbers[1..=SQUARES], &numbers[1 + SQUARES..]];
    let turn = match turn {
        0 => 'W',
        1 => 'B',
        other => return Err(StateError::Turn(other)),
    };
    let mut board = String::new();
    for ((square, &white), &black) in squares().zip(white).zip(black) {
        if square.column() == 0 && !board.is_empty() {
            board.push('/');
        }
        let white = piece(Color::White, square, white)?;
        let black = piece(Color::Black, square, black)?;
        board.push(match (white, black) {
            ('.', piece) | (piece, '.') => piece,
            _ => return Err(StateError::Shared(square)),
        });
    }
    Ok(MiniChess::parse(Rules::Nthu2023, &format!("{board} {turn}"))?)
}

fn piece(side: Color, square: Square, number: i32) -> Result<char, StateError> {
    let letter = usize::try_from(number).ok().and_then(|number| LETTERS[side].get(number));
    letter.map(|&letter| char::from(letter)).ok_or(StateError::Piece { side, square, number })
}

/// Formats a `state`, byte for byte as the course's referee does.
pub fn print_state(position: &MiniChess) -> String {
    let board = position.board();
    let mut text = format!("{}\n", position.side_to_move() as u8);
    for side in Color::BOTH {
        for square in squares() {
            let piece = board.piece_at(square).filter(|&(color, _)| color == side);
            let number = piece.and_then(|(_, kind)| Kind::ALL.iter().position(|&other| other == kind));
            // Writing to a string cannot fail.
            let _ = write!(text, "{} ", number.map_or(0, |at| at + 1));
            if square.column() + 1 == COLUMNS {
                text.push('\n');
            }
        }
        text.push('\n');
    }
    text
}

/// Formats a move as a line with its end.
///
/// ```
/// use zeitnot_rules::{Game, minichess::{MiniChess, Rules}};
/// use zeitnot_wire::nthu::print_action;
///
/// let start = MiniChess::start(Rules::Nthu2023);
/// assert_eq!(print_action(start.read("a2a3").unwrap()), "4 0 3 0\n");
/// ```
pub fn print_action(mv: Move) -> String {
    let row = |square: Square| ROWS - 1 - square.row();
    format!("{} {} {} {}\n", row(mv.from), mv.from.column(), row(mv.to), mv.to.column())
}

/// Output of a program: groups of four numbers up to the first word that is not a number.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// Number of complete groups.
    pub groups: usize,
    /// The last complete group, if it names two squares: this is the move.
    pub last: Option<Move>,
}

impl Action {
    /// Parses an `action`. An incomplete group at the end is ignored.
    pub fn parse(text: &[u8]) -> Action {
        Action::read(text.iter().copied())
    }

    /// Parses the bytes of an `action`, which may be too long to be kept.
    pub fn read(text: impl Iterator<Item = u8>) -> Action {
        let mut action = Action::default();
        let mut numbers = Numbers::of(text);
        let mut group = || Some([numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?]);
        while let Some([from_row, from_column, to_row, to_column]) = group() {
            let squares = square([from_row, from_column]).zip(square([to_row, to_column]));
            action = Action { groups: action.groups + 1, last: squares.map(|(from, to)| Move { from, to }) };
        }
        action
    }
}

/// Integers of a text, as C++ streams read them: a number ends at the first character that does not fit,
/// and reading stops at the first word that is not a number or is too large.
struct Numbers<I: Iterator<Item = u8>> {
    /// `None` after an invalid number.
    text: Option<Peekable<I>>,
}

impl<I: Iterator<Item = u8>> Numbers<I> {
    fn of(text: I) -> Self {
        Numbers { text: Some(text.peekable()) }
    }
}

impl<I: Iterator<Item = u8>> Iterator for Numbers<I> {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        let number = self.text.as_mut().and_then(number);
        if number.is_none() {
            self.text = None;
        }
        number
    }
}

fn number(text: &mut Peekable<impl Iterator<Item = u8>>) -> Option<i32> {
    while text.next_if(u8::is_ascii_whitespace).is_some() {}
    let is_negative = text.next_if(|byte| matches!(byte, b'+' | b'-')) == Some(b'-');
    let mut number = None;
    while let Some(digit) = text.next_if(u8::is_ascii_digit) {
        let digit = i32::from(digit - b'0');
        let digit = if is_negative { -digit } else { digit };
        number = Some(number.unwrap_or(0_i32).checked_mul(10)?.checked_add(digit)?);
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: &str = "0\n0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n1 1 1 1 1 \n2 3 4 5 6 \n\n\
        6 5 4 3 2 \n1 1 1 1 1 \n0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n\n";

    #[test]
    fn the_start_equals_the_referees_file() {
        let start = MiniChess::start(Rules::Nthu2023);
        assert_eq!(print_state(&start), START);
        assert_eq!(parse_state(START.as_bytes()), Ok(start.clone()));
        assert_eq!(parse_state(format!("{START}junk 9").as_bytes()), Ok(start), "the rest is not read");
    }

    #[test]
    fn errors_name_the_fault() {
        let told = |text: &str| parse_state(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(told(""), "a state is 61 whole numbers, but after 0 there is no further one");
        assert!(told("0 0 0 x").contains("after 3 there"));
        assert!(told(&START.replacen('0', "2", 1)).contains("not with 2"));
        assert!(told(&START.replacen("2 3 4", "2 3 7", 1)).starts_with("white has a 7 on c1: expected 0"));
        let shared = START.replacen("0\n0", "0\n2", 1);
        assert_eq!(told(&shared), "both sides have a piece on a6");
        assert!(told(&START.replacen("2 3 4", "6 3 4", 1)).contains("more than one king"));
    }

    #[test]
    fn the_last_complete_group_counts() {
        let last = |text: &str| {
            let action = Action::parse(text.as_bytes());
            (action.groups, action.last.map(|mv| MiniChess::start(Rules::Nthu2023).write(mv).to_string()))
        };
        let is = |groups, mv: &str| (groups, Some(mv.to_owned()));
        assert_eq!(last("4 0 3 0\n"), is(1, "a2a3"));
        assert_eq!(last("4 0 3 0\n4 1 3 1\n4 2"), is(2, "b2b3"));
        assert_eq!(last("4 0 3 0\nx 4 1 3 1"), is(1, "a2a3"));
        assert_eq!(last("4 0 3 0x"), is(1, "a2a3"), "a number ends where it cannot go on");
        assert_eq!(last("4 0 3 0\n99999999999 1 3 1"), is(1, "a2a3"));
        assert_eq!(last("+4 -0 003 0 - 1 3 1"), is(1, "a2a3"));
        assert_eq!(last("4 0 3 0\n6 0 -1 5\n"), (2, None), "squares that are none");
        assert_eq!(last("hello"), (0, None));
        assert_eq!(last(""), (0, None));
    }

    fn any_game() -> impl Strategy<Value = MiniChess> {
        prop::collection::vec(any::<prop::sample::Index>(), 0..50).prop_map(|choices| {
            let mut position = MiniChess::start(Rules::Nthu2023);
            for choice in choices {
                let moves = position.moves();
                if moves.is_empty() {
                    break;
                }
                position.play(moves[choice.index(moves.len())]);
            }
            position
        })
    }

    proptest! {
        #[test]
        fn positions_and_moves_are_parsed_as_printed(position in any_game()) {
            let again = parse_state(print_state(&position).as_bytes()).unwrap();
            prop_assert_eq!((again.board(), again.side_to_move()), (position.board(), position.side_to_move()));
            let moves = position.moves();
            let text: String = moves.iter().map(|&mv| print_action(mv)).collect();
            prop_assert_eq!(Action::parse(text.as_bytes()), Action { groups: moves.len(), last: moves.last().copied() });
        }

        #[test]
        fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse_state(&bytes);
            let _ = Action::parse(&bytes);
        }

        #[test]
        fn arbitrary_numbers_never_panic(numbers in prop::collection::vec(-3..9, 0..80)) {
            let text: String = numbers.iter().map(|n| format!("{n} ")).collect();
            if let Ok(position) = parse_state(text.as_bytes()) {
                prop_assert_eq!(parse_state(print_state(&position).as_bytes()), Ok(position));
            }
            prop_assert_eq!(Action::parse(text.as_bytes()).groups, numbers.len() / 4);
        }
    }
}
