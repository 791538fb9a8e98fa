//! PGN export: tags, then the moves with clock and evaluation comments.

use std::time::Duration;

use time::{OffsetDateTime, macros::format_description};

/// Maximum length of a line in the standard's export format.
pub const WIDTH: usize = 80;

/// Value of the tag `Date` if it is unknown.
pub const UNKNOWN_DATE: &str = "????.??.??";
/// Value of the tag `UTCTime` if it is unknown.
pub const UNKNOWN_TIME: &str = "??:??:??";

/// Formats the value of the tags `Date` and `UTCDate`.
pub fn date(at: OffsetDateTime) -> String {
    at.format(format_description!("[year].[month].[day]")).unwrap_or_else(|_| UNKNOWN_DATE.to_owned())
}

/// Formats the value of the tag `UTCTime`.
pub fn time(at: OffsetDateTime) -> String {
    at.format(format_description!("[hour]:[minute]:[second]")).unwrap_or_else(|_| UNKNOWN_TIME.to_owned())
}

/// Game to export.
#[derive(Clone, Debug, Default)]
pub struct Pgn {
    /// Names and values in order. `SetUp` and `FEN` are added from `fen`.
    pub tags: Vec<(&'static str, String)>,
    /// Initial position, unless it is the standard one.
    pub fen: Option<String>,
    /// Moves.
    pub plies: Vec<Ply>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
}

/// Move of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ply {
    /// In SAN.
    pub text: String,
    /// The mover's clock after the move and its increment.
    pub left: Option<Duration>,
    /// Evaluation as in `[%eval 0.25,12]`: pawns or `#moves` for White, and the depth.
    pub eval: Option<String>,
    /// Position after the move, where the moves alone do not lead to it.
    pub position: Option<String>,
}

impl Pgn {
    /// Returns the text, with an empty line at its end.
    ///
    /// ```
    /// use zeitnot_wire::pgn::{Pgn, Ply};
    /// let e4 = Ply { text: "e4".into(), ..Ply::default() };
    /// let pgn = Pgn { tags: vec![("White", "me".into())], plies: vec![e4], result: "*", ..Pgn::default() };
    /// assert_eq!(pgn.print(), "[White \"me\"]\n\n1. e4 *\n\n");
    /// ```
    pub fn print(&self) -> String {
        let mut out = String::new();
        for (name, value) in &self.tags {
            tag(&mut out, name, value);
        }
        if let Some(fen) = &self.fen {
            tag(&mut out, "SetUp", "1");
            tag(&mut out, "FEN", fen);
        }
        out.push('\n');
        wrap(&mut out, self.words().iter().map(String::as_str).chain([self.result]));
        out.push('\n');
        out
    }

    /// Returns the words of the move text. A comment is one word, so that it is not broken into lines.
    fn words(&self) -> Vec<String> {
        let (mut number, mut white) = self.fen.as_deref().map_or((1, true), first_move);
        let mut words = Vec::new();
        let mut numbered = false;
        for ply in &self.plies {
            match white {
                true => words.push(format!("{number}.")),
                // A move of Black is numbered if it does not directly follow White's.
                false if !numbered => words.push(format!("{number}...")),
                false => {}
            }
            words.push(ply.text.clone());
            let comment = ply.comment();
            numbered = white && comment.is_none();
            words.extend(comment);
            number += u32::from(!white);
            white = !white;
        }
        words
    }
}

impl Ply {
    fn comment(&self) -> Option<String> {
        let eval = self.eval.as_ref().map(|eval| format!("[%eval {eval}]"));
        let clock = self.left.map(|left| format!("[%clk {}]", clock(left)));
        let position = self.position.as_ref().map(|position| format!("[%fen {position}]"));
        let parts: Vec<_> = eval.into_iter().chain(clock).chain(position).collect();
        (!parts.is_empty()).then(|| format!("{{{}}}", parts.join(" ")))
    }
}

/// Returns the number of the first move and whether White plays it.
fn first_move(fen: &str) -> (u32, bool) {
    // Three-check positions have an additional field with a `+`.
    let mut fields = fen.split(' ').filter(|field| !field.contains('+'));
    let white = fields.nth(1) != Some("b");
    let number = fields.nth(3).and_then(|field| field.parse().ok()).unwrap_or(1);
    (number, white)
}

/// Appends a tag. Control characters are removed, so that a value stays on one line.
fn tag(out: &mut String, name: &str, value: &str) {
    out.extend(["[", name, " \""]);
    for c in value.chars().filter(|c| !c.is_control()) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str("\"]\n");
}

/// `h:mm:ss.cc`
fn clock(left: Duration) -> String {
    let seconds = left.as_secs();
    let hundredths = left.subsec_millis() / 10;
    format!("{}:{:02}:{:02}.{hundredths:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Wraps words into lines.
fn wrap<'w>(out: &mut String, words: impl Iterator<Item = &'w str>) {
    let mut column = 0;
    for word in words {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ply(text: &str, left: Option<u64>, eval: Option<&str>) -> Ply {
        let (left, eval) = (left.map(Duration::from_millis), eval.map(str::to_owned));
        Ply { text: text.into(), left, eval, position: None }
    }

    #[test]
    fn comments_are_there_where_something_is_known() {
        let plies = vec![
            ply("e4", None, None),
            ply("e5", Some(59_870), None),
            ply("Nf3", Some(60_000), Some("0.25,12")),
            ply("Nc6", None, Some("#-3,9")),
            ply("a3", None, None),
        ];
        let text = Pgn { plies, result: "0-1", ..Pgn::default() }.print();
        let expected = "\n1. e4 e5 {[%clk 0:00:59.87]} 2. Nf3 {[%eval 0.25,12] [%clk 0:01:00.00]} 2... Nc6\n\
                        {[%eval #-3,9]} 3. a3 0-1\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_value_stays_in_its_quotes_and_on_its_line() {
        let text = Pgn { tags: vec![("White", "a\"]\n[\\".into())], result: "*", ..Pgn::default() }.print();
        assert_eq!(text, "[White \"a\\\"][\\\\\"]\n\n*\n\n");
    }
}
