//! PGN of tournament games: seven tags and a few more, moves with clocks.

use zeitnot_rules::{ByColor, TimeControl};
use zeitnot_wire::pgn::{self, Pgn};

use crate::{
    name::Name,
    referee::{GameRecord, Ply},
};

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) event: Name,
    /// Number of the game in its tournament, from 1.
    pub(crate) round: u32,
    pub(crate) names: ByColor<Name>,
    pub(crate) time_control: TimeControl,
    pub(crate) record: GameRecord,
}

impl Record {
    pub(crate) fn pgn(&self) -> String {
        let GameRecord { fen, plies, ending, .. } = &self.record;
        let ply = |ply: &Ply| pgn::Ply { text: ply.san.clone(), left: ply.left, eval: None };
        let plies = plies.iter().map(ply).collect();
        Pgn { tags: self.tags(), fen: fen.clone(), plies, result: ending.result_text() }.print()
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        let GameRecord { began, plies, ending, .. } = &self.record;
        let [white, black] = &self.names.0;
        vec![
            ("Event", self.event.to_string()),
            ("Site", "Zeitnot arena".to_owned()),
            ("Date", pgn::date(*began)),
            ("Round", self.round.to_string()),
            ("White", white.to_string()),
            ("Black", black.to_string()),
            ("Result", ending.result_text().to_owned()),
            ("UTCTime", pgn::time(*began)),
            ("TimeControl", self.time_control.to_string()),
            ("PlyCount", plies.len().to_string()),
            ("Termination", ending.cause.termination().to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::{ops::ControlFlow, time::Duration};

    use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
    use proptest::prelude::*;

    use super::*;
    use crate::referee::{Cause, Ending};
    use zeitnot_rules::{Color, GameResult, Reason};
    use zeitnot_wire::pgn::WIDTH;

    /// Collects the tags and then the moves, each with whether there is a comment.
    struct Collector;

    impl Visitor for Collector {
        type Tags = Vec<String>;
        type Movetext = Vec<String>;
        type Output = Vec<String>;

        fn begin_tags(&mut self) -> ControlFlow<Vec<String>, Vec<String>> {
            ControlFlow::Continue(Vec::new())
        }
        fn tag(
            &mut self,
            found: &mut Vec<String>,
            name: &[u8],
            value: RawTag<'_>,
        ) -> ControlFlow<Vec<String>> {
            let [name, value] = [name, value.as_bytes()].map(|text| std::str::from_utf8(text).unwrap());
            found.push(format!("{name} {}", unescape(value)));
            ControlFlow::Continue(())
        }
        fn begin_movetext(&mut self, found: Vec<String>) -> ControlFlow<Vec<String>, Vec<String>> {
            ControlFlow::Continue(found)
        }
        fn san(&mut self, found: &mut Vec<String>, san: SanPlus) -> ControlFlow<Vec<String>> {
            found.push(san.to_string());
            ControlFlow::Continue(())
        }
        fn comment(&mut self, found: &mut Vec<String>, _: RawComment<'_>) -> ControlFlow<Vec<String>> {
            *found.last_mut().unwrap() += " {}";
            ControlFlow::Continue(())
        }
        fn end_game(&mut self, found: Vec<String>) -> Vec<String> {
            found
        }
    }

    /// pgn-reader 0.29 decodes two escaped backslashes in a row as one, so `decode` cannot be used.
    fn unescape(raw: &str) -> String {
        let mut chars = raw.chars();
        std::iter::from_fn(|| chars.next().and_then(|c| if c == '\\' { chars.next() } else { Some(c) }))
            .collect()
    }

    fn record(names: [&str; 2], fen: Option<&str>, moves: &[&str]) -> Record {
        let ply = |(i, text): (usize, &&str)| Ply {
            san: (*text).to_owned(),
            left: Some(Duration::from_millis(2950 + 3_600_000 * i as u64)),
            spent: None,
            opinion: None,
        };
        Record {
            event: Name::try_from("class").unwrap(),
            round: 7,
            names: ByColor(names.map(|n| Name::try_from(n).unwrap())),
            time_control: "3+0.05".parse().unwrap(),
            record: GameRecord {
                began: time::macros::datetime!(2026-03-01 12:30:00 UTC),
                fen: fen.map(str::to_owned),
                plies: moves.iter().enumerate().map(ply).collect(),
                ending: Ending {
                    result: Some(GameResult::Won(Color::Black)),
                    cause: Cause::Rules(Reason::Checkmate),
                },
            },
        }
    }

    #[test]
    fn a_short_game_to_the_letter() {
        let pgn = record(["alice", "bob"], None, &["f3", "e5", "g4", "Qh4#"]).pgn();
        let expected = r#"[Event "class"]
[Site "Zeitnot arena"]
[Date "2026.03.01"]
[Round "7"]
[White "alice"]
[Black "bob"]
[Result "0-1"]
[UTCTime "12:30:00"]
[TimeControl "3+0.05"]
[PlyCount "4"]
[Termination "normal"]

1. f3 {[%clk 0:00:02.95]} 1... e5 {[%clk 1:00:02.95]} 2. g4 {[%clk 2:00:02.95]}
2... Qh4# {[%clk 3:00:02.95]} 0-1

"#;
        assert_eq!(pgn, expected);
    }

    #[test]
    fn numbers_follow_the_position() {
        let fen = "4k3/8/8/8/8/8/8/4K2R b K - 3 40";
        let pgn = record(["a", "b"], Some(fen), &["Kd7", "O-O"]).pgn();
        assert!(pgn.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 3 40\"]\n"), "{pgn}");
        assert!(pgn.contains("\n40... Kd7 {[%clk 0:00:02.95]} 41. O-O {"), "{pgn}");
    }

    proptest! {
        #[test]
        fn another_program_reads_what_we_write(
            white in "[!-~é]{1,20}", black in "[!-~小明]{1,20}", plies in 0..300_usize,
        ) {
            let shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
            let moves: Vec<_> = shuffle.iter().copied().cycle().take(plies).collect();
            let record = record([&white, &black], None, &moves);
            let pgn = record.pgn();
            prop_assert!(pgn.lines().skip_while(|line| line.starts_with('[')).all(|l| l.chars().count() <= WIDTH));
            let twice = pgn.clone() + &pgn;
            let games: Result<Vec<_>, _> = Reader::new(twice.as_bytes()).read_games(&mut Collector).collect();
            let games = games.unwrap();
            prop_assert_eq!(games.len(), 2);
            prop_assert_eq!(&games[0], &games[1]);
            let (tags, found) = games[0].split_at(games[0].len() - plies);
            prop_assert_eq!([&tags[4], &tags[5]], [&format!("White {white}"), &format!("Black {black}")]);
            let expected: Vec<_> = moves.iter().map(|san| format!("{san} {{}}")).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
