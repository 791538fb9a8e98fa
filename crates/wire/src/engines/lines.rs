//! The `lines` protocol, on the side of the GUI: one line asks for a move, one line answers.
//!
//! There is no handshake and no state: each line has everything that a program needs. A tab separates the fields, and
//! programs ignore those that a later version may append. The seventh is reserved: within a starter kit, the worker that
//! calls the participant's function gets there the Unix time in ms at which it gives up.

use std::{fmt, time::Duration};

/// Longest word that can be a move, as SAN with all its signs.
const MAX_MOVE: usize = 16;

/// Question for a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Question<'q> {
    /// Name of the game.
    pub game: &'q str,
    /// Present position, in the game's text form.
    pub position: &'q str,
    /// Clock of the program, or its time for this move.
    pub time: Duration,
    /// Clock of the opponent; zero without clocks: then `time` is for this move only.
    pub opponent: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Legal moves, in coordinates.
    pub moves: &'q [String],
}

impl fmt::Display for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { game, position, time, opponent, increment, moves } = self;
        let [time, opponent, increment] = [time, opponent, increment].map(|time| time.as_millis());
        write!(f, "{game}\t{position}\t{time}\t{opponent}\t{increment}\t{}", moves.join(" "))
    }
}

/// Returns the move of an answer; `None` if the line is something else.
pub fn parse_answer(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let word = words.next().filter(|word| words.next().is_none() && word.len() <= MAX_MOVE)?;
    // In every notation, all moves but castling name a rank.
    (word.contains(|c: char| c.is_ascii_digit()) || word.starts_with("O-O")).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_is_one_line_of_fields() {
        let question = Question {
            game: "chess",
            position: "7k/5Q2/8/8/8/8/8/7K b - - 0 1",
            time: Duration::from_millis(59_300),
            opponent: Duration::from_secs(60),
            increment: Duration::ZERO,
            moves: &["h8g8".to_owned(), "h8h7".to_owned()],
        };
        let line = "chess\t7k/5Q2/8/8/8/8/8/7K b - - 0 1\t59300\t60000\t0\th8g8 h8h7";
        assert_eq!(question.to_string(), line);
    }

    #[test]
    fn an_answer_is_one_word() {
        for (line, mv) in
            [("e2e4", Some("e2e4")), (" Nf3+ \r", Some("Nf3+")), ("O-O", Some("O-O")), ("P@e4", Some("P@e4"))]
        {
            assert_eq!(parse_answer(line), mv);
        }
        for line in ["", " ", "Hello", "I play e2e4", "Traceback-(most-recent-call-last):"] {
            assert_eq!(parse_answer(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn programs_read_what_was_asked(
            game in "[a-z-]{1,16}", position in "[a-zA-Z1-8./-]{1,60}( [a-z0-9-]{1,6}){0,6}", times in any::<[u32; 3]>(),
            moves in prop::collection::vec("[a-h][1-8][a-h][1-8][qrbn]?", 1..220), later in "(\t[a-z ]{0,9}){0,2}",
        ) {
            let [time, opponent, increment] = times.map(|time| Duration::from_millis(time.into()));
            let question = Question { game: &game, position: &position, time, opponent, increment, moves: &moves };
            let line = format!("{question}{later}");
            prop_assert!(!line.contains(['\n', '\r']));
            let fields: Vec<_> = line.split('\t').collect();
            let millis = |at: usize| Duration::from_millis(fields[at].parse().unwrap());
            let list: Vec<String> = fields[5].split(' ').map(str::to_owned).collect();
            let read = Question {
                game: fields[0], position: fields[1], time: millis(2), opponent: millis(3), increment: millis(4), moves: &list,
            };
            prop_assert_eq!(read, question);
            for mv in &moves {
                prop_assert_eq!(parse_answer(mv), Some(mv.as_str()));
            }
        }

        #[test]
        fn garbage_never_panics(line in "\\PC*") {
            prop_assert!(parse_answer(&line).is_none_or(|mv| line.contains(mv)));
        }
    }
}
