//! Universal Chess Interface on the side of the GUI, and UBGI, which extends it.
//!
//! Source: the UCI specification of April 2006 by Stefan Meyer-Kahlen.

use std::{fmt, iter::Peekable};

use zeitnot_rules::{ByColor, Color};

use super::{Setting, Spin, Thinking, number};
use crate::uci::{Go, UciScore, Words};

/// Output of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromEngine {
    /// Name of the engine.
    Name(String),
    /// Option of the engine.
    Option(Setting),
    /// End of the options.
    UciOk,
    /// All previous commands are done.
    ReadyOk,
    /// Progress of the search.
    Info(Thinking),
    /// Best move; `None`: there is no move.
    BestMove(Option<String>),
    /// Any other line.
    Other,
}

impl FromEngine {
    /// Parses one line; unreadable ones are [`FromEngine::Other`].
    pub fn parse(line: &str) -> FromEngine {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("uciok" | "ubgiok") => FromEngine::UciOk,
            Some("readyok") => FromEngine::ReadyOk,
            Some("id") if words.next() == Some("name") => FromEngine::Name(join(words)),
            Some("option") => setting(words).map_or(FromEngine::Other, FromEngine::Option),
            Some("bestmove") => {
                let mv = words.next().filter(|mv| !matches!(*mv, "(none)" | "0000" | "NULL" | "none"));
                FromEngine::BestMove(mv.map(str::to_owned))
            }
            Some("info") => info(words).map_or(FromEngine::Other, FromEngine::Info),
            _ => FromEngine::Other,
        }
    }
}

fn join<'l>(words: impl Iterator<Item = &'l str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// Parses `name NAME type KIND default … min … max … var … var …`.
fn setting<'l>(words: impl Iterator<Item = &'l str>) -> Option<Setting> {
    let words: Vec<_> = words.collect();
    let kind = words.iter().rposition(|word| *word == "type")?;
    let name = words.strip_prefix(&["name"])?.get(..kind - 1)?.join(" ");
    let rest = words.get(kind + 1..)?;
    let choices = rest.split(|word| *word == "var").skip(1).map(|words| words.join(" ")).collect();
    let is_button = rest.first() == Some(&"button");
    let number = |key: &str| rest.iter().skip_while(|word| **word != key).nth(1)?.parse::<i64>().ok();
    let spin = || Some(Spin { default: number("default")?, min: number("min")?, max: number("max")? });
    let spin = spin().filter(|spin| rest.first() == Some(&"spin") && spin.min <= spin.max);
    (!name.is_empty()).then_some(Setting { name, is_button, choices, spin })
}

/// Parses an `info` line with a principal variation. Of several variations only the first counts.
fn info<'l>(words: impl Iterator<Item = &'l str>) -> Option<Thinking> {
    let mut thinking = Thinking::default();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        match word {
            "string" => return None,
            "multipv" if words.next()? != "1" => return None,
            "depth" => thinking.depth = number(words.next()?, u16::MAX)?,
            "seldepth" => thinking.seldepth = number(words.next()?, u16::MAX)?,
            "nodes" => thinking.nodes = number(words.next()?, u64::MAX)?,
            "hashfull" => thinking.hashfull = number(words.next()?, 1000)?,
            "score" => thinking.score = score(&mut words),
            "pv" => thinking.pv = words.by_ref().map(str::to_owned).collect(),
            _ => {}
        }
    }
    (!thinking.pv.is_empty()).then_some(thinking)
}

fn score<'l>(words: &mut Peekable<impl Iterator<Item = &'l str>>) -> Option<UciScore> {
    let kind = words.next()?;
    let value = words.next()?.parse::<i64>().ok()?;
    let score = match kind {
        "cp" => UciScore::Cp(i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })),
        "mate" => UciScore::Mate(i16::try_from(value).unwrap_or(if value < 0 { i16::MIN } else { i16::MAX })),
        _ => return None,
    };
    words.next_if_eq(&"lowerbound");
    words.next_if_eq(&"upperbound").is_none().then_some(score)
}

/// `position …`: the initial position (`None`: the standard one) and all moves since.
#[derive(Copy, Clone, Debug)]
#[allow(missing_docs)]
pub struct Position<'p> {
    pub words: Words,
    pub root: Option<&'p str>,
    pub moves: &'p [String],
}

impl fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.root {
            Some(root) if self.words == Words::Ubgi => write!(f, "position board {}", ubgi_board(root))?,
            Some(root) => write!(f, "position fen {root}")?,
            None => f.write_str("position startpos")?,
        }
        let mut word = " moves";
        self.moves.iter().try_for_each(|mv| write!(f, "{} {mv}", std::mem::take(&mut word)))
    }
}

/// Rewrites our text of a position of MiniChess: UBGI numbers the sides from 0, and does not count moves.
fn ubgi_board(text: &str) -> String {
    let mut words = text.split_whitespace();
    let (board, side) = (words.next().unwrap_or_default(), words.next());
    format!("{board} {}", u8::from(side == Some("B")))
}

/// `setoption …`; buttons have no value.
#[derive(Copy, Clone, Debug)]
#[allow(missing_docs)]
pub struct SetOption<'o> {
    pub name: &'o str,
    pub value: Option<&'o str>,
}

impl fmt::Display for SetOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setoption name {}", self.name)?;
        self.value.map_or(Ok(()), |value| write!(f, " value {value}"))
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("go")?;
        let time = ByColor(self.time);
        let increment = ByColor(self.increment);
        for (side, names) in Color::BOTH.into_iter().zip([["wtime", "winc"], ["btime", "binc"]]) {
            for (name, time) in names.into_iter().zip([time[side], increment[side]]) {
                time.map_or(Ok(()), |time| write!(f, " {name} {}", time.as_millis()))?;
            }
        }
        let move_time = self.move_time.map(|time| time.as_millis() as u64);
        for (name, value) in [
            ("movestogo", self.moves_to_go.map(u64::from)),
            ("movetime", move_time),
            ("depth", self.depth.map(u64::from)),
            ("nodes", self.nodes),
            ("mate", self.mate.map(u64::from)),
        ] {
            value.map_or(Ok(()), |value| write!(f, " {name} {value}"))?;
        }
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if self.ponder {
            f.write_str(" ponder")?;
        }
        if !self.search_moves.is_empty() {
            write!(f, " searchmoves {}", self.search_moves.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::uci::{FromGui, Words};

    #[test]
    fn output_of_stockfish_is_parsed() {
        let line = "info depth 12 seldepth 17 multipv 1 score cp -31 nodes 9000 nps 900000 hashfull 3 tbhits 0 time 10 pv e7e5 g1f3";
        let thinking = Thinking {
            depth: 12,
            seldepth: 17,
            score: Some(UciScore::Cp(-31)),
            nodes: 9000,
            hashfull: 3,
            pv: vec!["e7e5".into(), "g1f3".into()],
        };
        assert_eq!(FromEngine::parse(line), FromEngine::Info(thinking));
        let score = |text: &str| match FromEngine::parse(&format!("info depth 3 {text} pv e2e4")) {
            FromEngine::Info(thinking) => thinking.score,
            other => panic!("{other:?}"),
        };
        assert_eq!(score("score mate -3"), Some(UciScore::Mate(-3)));
        assert_eq!(score("score cp 7 lowerbound nodes 3"), Some(UciScore::Cp(7)));
        assert_eq!(score("score cp 7 upperbound nodes 3"), None);
        for line in [
            "info string NNUE evaluation using nn.nnue pv e2e4",
            "info depth 5 currmove e2e4 currmovenumber 1",
            "info depth 9 multipv 2 score cp 1 pv d2d4",
            "info depth x pv d2d4",
            "joho",
            "",
        ] {
            assert_eq!(FromEngine::parse(line), FromEngine::Other, "{line}");
        }
        assert_eq!(FromEngine::parse("bestmove e2e4 ponder e7e5"), FromEngine::BestMove(Some("e2e4".into())));
        assert_eq!(FromEngine::parse("bestmove (none)"), FromEngine::BestMove(None));
        assert_eq!(FromEngine::parse("id name Stockfish 15.1"), FromEngine::Name("Stockfish 15.1".into()));
    }

    #[test]
    fn options() {
        let option = |name: &str, is_button, choices: &[&str]| {
            let choices = choices.iter().map(|choice| choice.to_string()).collect();
            let spin = (name == "Hash").then_some(Spin { default: 16, min: 1, max: 33_554_432 });
            FromEngine::Option(Setting { name: name.into(), is_button, choices, spin })
        };
        for (line, expected) in [
            ("option name Clear Hash type button", option("Clear Hash", true, &[])),
            ("option name Hash type spin default 16 min 1 max 33554432", option("Hash", false, &[])),
            (
                "option name UCI_Variant type combo default chess var chess var king of the hill",
                option("UCI_Variant", false, &["chess", "king of the hill"]),
            ),
            ("option name type type string default <empty>", option("type", false, &[])),
            ("option name type spin", FromEngine::Other),
            ("option", FromEngine::Other),
            ("ubgiok", FromEngine::UciOk),
        ] {
            assert_eq!(FromEngine::parse(line), expected, "{line}");
        }
    }

    fn millis() -> impl Strategy<Value = Option<Duration>> {
        prop::option::of((0u64..1 << 38).prop_map(Duration::from_millis))
    }

    proptest! {
        #[test]
        fn printed_searches_are_parsed_back(
            time in [millis(), millis()], increment in [millis(), millis()], moves_to_go: Option<u32>,
            move_time in millis(), depth: Option<u16>, nodes in prop::option::of(0..i64::MAX as u64), mate: Option<u16>,
            infinite: bool, ponder: bool, search_moves in prop::collection::vec("[a-h][1-8][a-h][1-8]q?", 0..4),
        ) {
            let go = Go { time, increment, moves_to_go, move_time, depth, nodes, mate, infinite, ponder, search_moves };
            prop_assert_eq!(FromGui::parse(&go.to_string(), Words::Uci), Ok(FromGui::Go { go, ignored: String::new() }));
        }

        #[test]
        fn printed_positions_are_parsed_back(root in prop::option::of("[1-8pP/]{1,20} w - - 0 1"), moves in prop::collection::vec("[a-h][1-8][a-h][1-8]", 0..5)) {
            let line = Position { words: Words::Uci, root: root.as_deref(), moves: &moves }.to_string();
            prop_assert_eq!(FromGui::parse(&line, Words::Uci), Ok(FromGui::Position { root, moves }));
        }

        #[test]
        fn boards_of_ubgi_are_parsed_back(root in "[1-6pP./]{1,40}", black: bool, number in 1u16..99, moves in prop::collection::vec("[a-e][1-6][a-e][1-6]", 0..5)) {
            let text = format!("{root} {} {number}", if black { 'B' } else { 'W' });
            let line = Position { words: Words::Ubgi, root: Some(&text), moves: &moves }.to_string();
            let root = Some(format!("{root} {}", u8::from(black)));
            prop_assert_eq!(FromGui::parse(&line, Words::Ubgi), Ok(FromGui::Position { root, moves }));
        }

        #[test]
        fn garbage_never_panics(words in prop::collection::vec(prop_oneof![
            Just("info"), Just("depth"), Just("score"), Just("cp"), Just("mate"), Just("pv"), Just("option"), Just("name"),
            Just("type"), Just("var"), Just("bestmove"), Just("-99999999999999999999"), Just("7"), Just("multipv"), Just("1"),
        ], 0..12), tail in "\\PC*") {
            FromEngine::parse(&format!("{} {tail}", words.join(" ")));
            FromEngine::parse(&tail);
        }
    }
}
