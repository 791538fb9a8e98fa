//! Chess Engine Communication Protocol, version 2, on the side of the GUI.
//!
//! Source: "Chess Engine Communication Protocol" by Tim Mann and H.G. Muller. Forms of version 1 that engines still use
//! are parsed as well.

use super::{Setting, Thinking, number};
use crate::uci::UciScore;

/// Output of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromEngine {
    /// Features, by name.
    Features(Vec<(String, String)>),
    /// Move.
    Move(String),
    /// Progress of the search.
    Thinking(Thinking),
    /// All commands before this `ping` are done.
    Pong(String),
    /// The engine resigns or claims that the game is over.
    GivesUp,
    /// The engine considers our move illegal.
    Illegal(String),
    /// Any other line.
    Other,
}

/// Scores from here on are mates: this plus the number of moves.
const MATE: i64 = 100_000;

impl FromEngine {
    /// Parses one line; unreadable ones are [`FromEngine::Other`].
    pub fn parse(line: &str) -> FromEngine {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "feature" => FromEngine::Features(features(rest)),
            "move" => match rest.split_whitespace().next() {
                Some(mv) => FromEngine::Move(mv.to_owned()),
                None => FromEngine::Other,
            },
            "pong" => FromEngine::Pong(rest.trim().to_owned()),
            "resign" | "1-0" | "0-1" | "1/2-1/2" => FromEngine::GivesUp,
            "Illegal" if rest.starts_with("move") => FromEngine::Illegal(rest.to_owned()),
            _ => old_move(line).or_else(|| thinking(line)).unwrap_or(FromEngine::Other),
        }
    }
}

/// Parses `12. ... e7e5`, the form of version 1.
fn old_move(line: &str) -> Option<FromEngine> {
    let (number, mv) = line.split_once(". ... ")?;
    number.parse::<u32>().ok()?;
    mv.split_whitespace().next().map(|mv| FromEngine::Move(mv.to_owned()))
}

/// Parses `ply score time nodes moves`. Some engines add a sign to the ply, more numbers before the moves, and brackets
/// or move numbers to these.
fn thinking(line: &str) -> Option<FromEngine> {
    let mut words = line.split_whitespace();
    let depth = number(words.next()?.trim_end_matches(['.', '+', '&', '-', '<', '>', '*']), u16::MAX)?;
    let score = words.next()?.parse::<i64>().ok()?;
    let _time: u64 = number(words.next()?, u64::MAX)?;
    let nodes = number(words.next()?, u64::MAX)?;
    let is_move = |word: &&str| word.chars().any(char::is_alphabetic);
    let pv: Vec<_> = words.map(|word| word.trim_matches(['(', ')', ','])).filter(is_move).collect();
    let plies = |mate: i64| i16::try_from(mate).unwrap_or(i16::MAX);
    let score = match score {
        mate if mate >= MATE => UciScore::Mate(plies(mate - MATE).max(1)),
        mate if mate <= -MATE => UciScore::Mate(-plies(-mate - MATE).max(1)),
        cp => UciScore::Cp(cp as i32),
    };
    let pv = pv.into_iter().map(str::to_owned).collect();
    Some(FromEngine::Thinking(Thinking { depth, score: Some(score), nodes, pv, ..Thinking::default() }))
}

/// Parses `name=value name="a value" …`.
fn features(mut rest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, value)) = rest.split_once('=') {
        let name = name.trim().to_owned();
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        found.push((name, value.to_owned()));
        rest = behind;
    }
    found
}

/// Parses the value of a feature `option`: `NAME -spin 1 0 10`, `NAME -button`.
pub fn setting(feature: &str) -> Option<Setting> {
    let (name, kind) = feature.split_once(" -")?;
    let is_button = matches!(kind.split_whitespace().next(), Some("button" | "save" | "reset"));
    Some(Setting { name: name.trim().to_owned(), is_button, choices: Vec::new(), spin: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn output_of_engines_is_parsed() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            FromEngine::parse(
                "feature myname=\"Phalanx XXV\" san=0 option=\"Randomizer (0-50) -slider 0 0 50\" done=1"
            ),
            FromEngine::Features(vec![
                pair("myname", "Phalanx XXV"),
                pair("san", "0"),
                pair("option", "Randomizer (0-50) -slider 0 0 50"),
                pair("done", "1"),
            ])
        );
        let plays = |mv: &str| FromEngine::Move(mv.into());
        assert_eq!(FromEngine::parse("move e7e5"), plays("e7e5"));
        assert_eq!(FromEngine::parse("1. ... e7e5"), plays("e7e5"));
        assert_eq!(FromEngine::parse("0-1 {White resigns}"), FromEngine::GivesUp);
        assert_eq!(
            FromEngine::parse("Illegal move: e2e5"),
            FromEngine::Illegal("move: e2e5".into()),
            "with or without a reason"
        );
        for line in ["move", "tellics set 1 Phalanx", "Hello", "", "1 2 3", "Error (unknown command): easy"] {
            assert_eq!(FromEngine::parse(line), FromEngine::Other, "{line}");
        }
    }

    #[test]
    fn search_progress_is_parsed_in_the_forms_of_several_engines() {
        for (line, depth, score, pv) in [
            ("  6    -15     31    20480 e7e5 Ng1-f3", 6, UciScore::Cp(-15), &["e7e5", "Ng1-f3"][..]),
            ("9. 12 100 99999 1. e4 e5 2. Nf3", 9, UciScore::Cp(12), &["e4", "e5", "Nf3"]),
            ("9+ 100003 100 99999 20 1000 0\te4", 9, UciScore::Mate(3), &["e4"]),
            (
                "  0      0     0        0  (e2-e4  d2-d4  , book1)",
                0,
                UciScore::Cp(0),
                &["e2-e4", "d2-d4", "book1"],
            ),
            ("5 -100002 1 1", 5, UciScore::Mate(-2), &[]),
        ] {
            let FromEngine::Thinking(told) = FromEngine::parse(line) else { panic!("{line}") };
            assert_eq!((told.depth, told.score), (depth, Some(score)), "{line}");
            assert_eq!(told.pv, pv, "{line}");
        }
    }

    #[test]
    fn options() {
        for (feature, name, is_button) in [
            ("Randomizer (0-50) -slider 0 0 50", "Randomizer (0-50)", false),
            ("verbose -spin 0 -2147483648 2147483647", "verbose", false),
            ("Clear -button", "Clear", true),
        ] {
            let told = setting(feature).unwrap();
            assert_eq!((told.name.as_str(), told.is_button), (name, is_button));
        }
        assert_eq!(setting("nothing"), None);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(line in "(feature |move |[0-9. ]{0,12}|-[0-9]{1,22} )?\\PC*") {
            if let FromEngine::Features(features) = FromEngine::parse(&line) {
                features.iter().for_each(|(_, value)| drop(setting(value)));
            }
        }
    }
}
