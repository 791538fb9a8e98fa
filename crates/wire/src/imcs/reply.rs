//! Messages of the server: numbered replies, lines of lists and lines of a game.

use std::{fmt, time::Duration};

use zeitnot_rules::{ByColor, Color};

use super::{
    ColorChoice, Message, WireError, color, field, is_move, letter, millis, minutes, shorten, whole_millis,
    whole_seconds,
};

/// One line of the server. Its beginning tells its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FromServer {
    /// `103 7 game waiting for offer acceptance`
    Waiting { game: u64 },
    /// `105 W 1:00 1:30 game starts`: the receiver's color and clock, then the opponent's clock.
    Starts { color: Color, yours: Duration, theirs: Duration },
    /// Any other numbered reply.
    Reply { code: u16, text: String },
    /// Line of a list.
    Entry(Entry),
    /// `.`: the end of a list.
    End,
    /// `! b5-b4`: the opponent's move.
    Moved(String),
    /// `2 W`: header of a board.
    Board { number: u32, color: Color },
    /// `p.ppp`: rank of a board.
    Rank(String),
    /// `? 01:00.000 01:30.000`: the receiver is to move; its own clock comes first.
    Prompt { yours: Duration, theirs: Duration },
    /// `- illegal move a2-a4`: the board and the prompt are sent again.
    Complaint(String),
    /// `= W wins on opponent time`
    Over(Verdict),
    /// `X fatal IO error: exiting`
    Fatal(String),
}

/// Line of a list; it begins with a space.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Entry {
    /// ` 1 alice W 0:10 0:20 1000 [offer]`
    Offer { game: u64, name: String, color: ColorChoice, theirs: Duration, yours: Duration, rating: i32 },
    /// ` 2 alice bob (1000/1000)  [in-progress]`
    Game { game: u64, names: ByColor<String>, ratings: ByColor<i32> },
    /// ` alice 1000`
    Rating { name: String, rating: i32 },
    /// Any other text.
    Text(String),
}

/// Result of a game: `W wins on opponent resignation`, `draw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `None`: a draw.
    pub winner: Option<Color>,
    /// Reason; empty after the capture of a king or the last move.
    pub how: String,
}

impl Verdict {
    /// Code of the numbered reply that follows.
    pub fn code(&self) -> u16 {
        match self.winner {
            None => 230,
            Some(Color::White) => 231,
            Some(Color::Black) => 232,
        }
    }

    fn read(text: &str) -> Option<Verdict> {
        let (who, how) = ["draw", "W wins", "B wins"]
            .into_iter()
            .find_map(|who| text.strip_prefix(who).map(|how| (who, how)))?;
        let winner = color(who.get(..1)?);
        // A reason follows a single space and is not empty.
        let how = match how.strip_prefix(' ') {
            Some(said) if !said.trim().is_empty() => said,
            None if how.is_empty() => how,
            _ => return None,
        };
        Some(Verdict { winner, how: how.to_owned() })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winner {
            None => f.write_str("draw")?,
            Some(color) => write!(f, "{} wins", letter(color))?,
        }
        if self.how.is_empty() { Ok(()) } else { write!(f, " {}", self.how) }
    }
}

impl Message for FromServer {
    fn parse(line: &str) -> Result<Self, WireError> {
        if let Some(entry) = line.strip_prefix(' ') {
            return Ok(FromServer::Entry(Entry::read(entry.trim_end())));
        }
        let line = line.trim_end();
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let verdict = || Verdict::read(rest).ok_or_else(|| field("=", "a result", rest));
        Ok(match first {
            "." => FromServer::End,
            "!" if is_move(rest) => FromServer::Moved(rest.to_owned()),
            "!" => return Err(field("!", "a move such as a2-a3", rest)),
            "?" => {
                let (yours, theirs) = pair(rest, whole_millis)
                    .ok_or_else(|| field("?", "two clocks such as 01:00.000", rest))?;
                FromServer::Prompt { yours, theirs }
            }
            "-" => FromServer::Complaint(rest.to_owned()),
            "=" => FromServer::Over(verdict()?),
            "X" => FromServer::Fatal(rest.to_owned()),
            _ if is_rank(line) => FromServer::Rank(line.to_owned()),
            _ => match (number(first), color(rest)) {
                (Some(number @ 1..=99), Some(color)) if first.len() < 3 => {
                    FromServer::Board { number, color }
                }
                (Some(100..=999), _) if first.len() == 3 => reply(first, rest)?,
                _ => return Err(WireError::Unknown(shorten(line))),
            },
        })
    }

    fn to_line(&self) -> String {
        match self {
            FromServer::Waiting { game } => format!("103 {game} game waiting for offer acceptance"),
            FromServer::Starts { color, yours, theirs } => {
                let code = if *color == Color::White { 105 } else { 106 };
                format!("{code} {} {} {} game starts", letter(*color), minutes(*yours), minutes(*theirs))
            }
            FromServer::Reply { code, text } => format!("{code} {text}"),
            FromServer::Entry(entry) => format!(" {entry}"),
            FromServer::End => ".".to_owned(),
            FromServer::Moved(mv) => format!("! {mv}"),
            FromServer::Board { number, color } => format!("{number} {}", letter(*color)),
            FromServer::Rank(rank) => rank.clone(),
            FromServer::Prompt { yours, theirs } => format!("? {} {}", millis(*yours), millis(*theirs)),
            FromServer::Complaint(text) => format!("- {text}"),
            FromServer::Over(verdict) => format!("= {verdict}"),
            FromServer::Fatal(text) => format!("X {text}"),
        }
    }
}

/// Parses a number of digits only.
fn number<N: std::str::FromStr>(word: &str) -> Option<N> {
    word.parse().ok().filter(|_| word.bytes().all(|b| b.is_ascii_digit()))
}

fn is_rank(line: &str) -> bool {
    line.len() == 5 && line.bytes().all(|b| b".kqbnrpKQBNRP".contains(&b))
}

fn pair(text: &str, read: fn(&str) -> Option<Duration>) -> Option<(Duration, Duration)> {
    let (first, second) = text.split_once(' ')?;
    Some((read(first)?, read(second)?))
}

/// Parses a numbered reply. Codes 103, 105 and 106 have forms of their own.
fn reply(code: &str, text: &str) -> Result<FromServer, WireError> {
    let waiting = || number(text.strip_suffix(" game waiting for offer acceptance")?);
    let starts = |letter: &str| {
        let times = text.strip_prefix(letter)?.strip_prefix(' ')?.strip_suffix(" game starts")?;
        let (yours, theirs) = pair(times, whole_seconds)?;
        Some(FromServer::Starts { color: color(letter)?, yours, theirs })
    };
    match code {
        "103" => {
            let game = waiting().ok_or_else(|| field("103", "the number of a game", text))?;
            Ok(FromServer::Waiting { game })
        }
        "105" => starts("W").ok_or_else(|| field("105", "W and two times", text)),
        "106" => starts("B").ok_or_else(|| field("106", "B and two times", text)),
        _ => Ok(FromServer::Reply { code: number(code).unwrap_or_default(), text: text.to_owned() }),
    }
}

impl Entry {
    fn read(text: &str) -> Entry {
        let words: Vec<&str> = text.split_whitespace().take(8).collect();
        Entry::offer(&words)
            .or_else(|| Entry::game(&words))
            .or_else(|| Entry::rating(&words))
            .unwrap_or_else(|| Entry::Text(text.to_owned()))
    }

    fn offer(words: &[&str]) -> Option<Entry> {
        let [game, name, color, theirs, yours, rating, "[offer]"] = words else { return None };
        Some(Entry::Offer {
            game: number(game)?,
            name: (*name).to_owned(),
            color: ColorChoice::read(color)?,
            theirs: whole_seconds(theirs)?,
            yours: whole_seconds(yours)?,
            rating: rating.parse().ok()?,
        })
    }

    fn game(words: &[&str]) -> Option<Entry> {
        let [game, white, black, ratings, "[in-progress]"] = words else { return None };
        let (first, second) = ratings.strip_prefix('(')?.strip_suffix(')')?.split_once('/')?;
        Some(Entry::Game {
            game: number(game)?,
            names: ByColor([(*white).to_owned(), (*black).to_owned()]),
            ratings: ByColor([first.parse().ok()?, second.parse().ok()?]),
        })
    }

    fn rating(words: &[&str]) -> Option<Entry> {
        let [name, rating] = words else { return None };
        Some(Entry::Rating { name: (*name).to_owned(), rating: rating.parse().ok()? })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Offer { game, name, color, theirs, yours, rating } => {
                let theirs = minutes(*theirs);
                let yours = minutes(*yours);
                write!(f, "{game} {name} {color} {theirs} {yours} {rating} [offer]")
            }
            // Two spaces, as the server sends them.
            Entry::Game { game, names: ByColor([white, black]), ratings: ByColor([first, second]) } => {
                write!(f, "{game} {white} {black} ({first}/{second})  [in-progress]")
            }
            Entry::Rating { name, rating } => write!(f, "{name} {rating}"),
            Entry::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::PARTS, *};
    use crate::testing::{garbled, lines, same_line, same_message};

    const SERVER: &str = "103 <number> game waiting for offer acceptance|\
        (105 W|106 B) <minutes> <minutes> game starts|[2-9][0-9]{2} <text>|\
        \u{20}<number> <word> [WB?] <minutes> <minutes> <rating> \\[offer\\]|\
        \u{20}<number> <word> <word> \\(<rating>/<rating>\\)  \\[in-progress\\]|\u{20}<word> <rating>|\
        \u{20}[a-zé]{1,8}( [a-zé,.]{1,8}){2,4}|\\.|! <move>|[1-9][0-9]? [WB]|[.kqbnrpKQBNRP]{5}|\\? <clock> <clock>|\
        - <text>|= (draw|[WB] wins)( on opponent (time|resignation|disconnect))?|X <text>";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_are_printed_as_they_were(line in lines(SERVER, PARTS)) {
            same_line::<FromServer>(&line)?;
        }

        #[test]
        fn any_line_is_parsed_or_refused(line in garbled(lines(SERVER, PARTS))) {
            same_message::<FromServer>(&line)?;
        }
    }

    /// Lines of a captured session.
    #[test]
    fn the_lines_of_the_server() {
        for line in [
            "100 imcs 2.5",
            "103 2 game waiting for offer acceptance",
            "105 W 1:00 1:30 game starts",
            "106 B 1:30 1:00 game starts",
            "211 2 available games",
            " 1 alice W 0:10 0:20 1000 [offer]",
            " 2 alice bob (1000/1000)  [in-progress]",
            " alice 1016",
            ".",
            "! b5-b4",
            "2 W",
            "p.ppp",
            "? 01:00.000 01:30.000",
            "- illegal move a2-a4",
            "= W wins on opponent disconnect",
            "= draw",
            "X fatal IO error: exiting",
        ] {
            assert_eq!(FromServer::parse(line).unwrap().to_line(), line);
        }
        let entry = FromServer::parse(" 1 alice W 0:10 0:20 1000 [offer]").unwrap();
        assert!(matches!(entry, FromServer::Entry(Entry::Offer { rating: 1000, .. })), "{entry:?}");
        for odd in
            ["W send move request failed: gone", "105 Q", "! a2a3", "? 1 2", "= A wins", "1000 x", "0 W"]
        {
            assert!(FromServer::parse(odd).is_err(), "{odd}");
        }
    }
}
