//! PGN of tournament games: seven tags and a few more, moves with clocks.

use zeitnot_rules::{ByColor, GameError, GameKind, GameResult};
use zeitnot_wire::pgn::{self, Pgn, Ply};

use crate::{
    database::{GameEnd, GameHeader, GameState},
    replay::Replay,
};

/// Termination of a game that the arena does not know the end of.
const UNTERMINATED: &str = "unterminated";

/// Prints a game of the tournament of that name.
pub(crate) fn print(event: &str, header: &GameHeader, plies: Vec<Ply>, end: Option<&GameEnd>) -> String {
    let tags = tags(event, header, plies.len(), end);
    Pgn { tags, fen: header.start.clone(), plies, result: end.map_or("*", GameEnd::result_text) }.print()
}

/// Prints a game from the database.
///
/// # Errors
/// [`GameError`] of the first move that does not fit the rules.
pub(crate) fn print_stored(event: &str, game: &GameState) -> Result<String, GameError> {
    let plies = Replay::new(game)?.plies.into_iter();
    let plies = plies.map(|ply| Ply { text: ply.san, left: ply.left, eval: None }).collect();
    Ok(print(event, &game.header, plies, game.end.as_ref()))
}

/// Line by which a game is found again in a file.
pub(crate) fn id_tag(header: &GameHeader) -> String {
    format!("[GameId \"{}\"]", header.id)
}

fn tags(
    event: &str,
    header: &GameHeader,
    plies: usize,
    end: Option<&GameEnd>,
) -> Vec<(&'static str, String)> {
    let GameHeader { id, round, names: ByColor([white, black]), time_control, repeats, began, .. } = header;
    let unknown = |text: Option<String>, mark: &str| text.unwrap_or_else(|| mark.to_owned());
    let mut tags = vec![
        ("Event", event.to_owned()),
        ("Site", "Zeitnot arena".to_owned()),
        ("Date", pgn::date(*began)),
        ("Round", unknown(round.map(|round| round.to_string()), "-")),
        ("White", white.clone()),
        ("Black", black.clone()),
        ("Result", end.map_or("*", GameEnd::result_text).to_owned()),
        ("GameId", id.to_string()),
        ("UTCTime", pgn::time(*began)),
        ("TimeControl", unknown(time_control.clone(), "-")),
        ("PlyCount", plies.to_string()),
        ("Termination", end.map_or(UNTERMINATED, |end| &end.termination).to_owned()),
    ];
    if header.kind != GameKind::Chess {
        tags.push(("Variant", header.kind.name().to_owned()));
    }
    // The other game was broken off.
    tags.extend(repeats.clone().map(|id| ("Repeats", id)));
    if let Some(GameEnd { result, note, corrected, .. }) = end {
        let at_board = result.map_or("*", GameResult::as_str).to_owned();
        tags.extend(corrected.map(|_| ("ResultAtBoard", at_board)));
        tags.extend(note.as_ref().map(|note| ("Note", note.to_string())));
    }
    tags
}

#[cfg(test)]
mod tests {
    use std::{ops::ControlFlow, time::Duration};

    use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
    use proptest::prelude::*;

    use super::*;
    use crate::database::{MoveList, Source};
    use zeitnot_rules::Color;
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

    fn game(names: [&str; 2], start: Option<&str>, repeats: Option<&str>) -> (GameHeader, GameEnd) {
        let began = time::macros::datetime!(2026-03-01 12:30:00 UTC);
        let header = GameHeader {
            id: "1a2b".into(),
            source: Source::Contest,
            kind: GameKind::Chess,
            tournament: None,
            round: Some(7),
            opening: None,
            names: ByColor(names.map(str::to_owned)),
            time_control: Some("3+0.05".into()),
            start: start.map(str::to_owned),
            repeats: repeats.map(str::to_owned),
            began,
        };
        let end = GameEnd {
            result: Some(GameResult::Won(Color::Black)),
            reason: "Checkmate".into(),
            termination: "normal".into(),
            place: None,
            at: began,
            note: None,
            corrected: None,
        };
        (header, end)
    }

    fn left(ply: usize) -> Option<Duration> {
        Some(Duration::from_millis(2950 + 3_600_000 * ply as u64))
    }

    fn print_game(names: [&str; 2], start: Option<&str>, moves: &[&str]) -> String {
        let (header, end) = game(names, start, None);
        let ply = |(i, text): (usize, &&str)| Ply { text: (*text).to_owned(), left: left(i), eval: None };
        print("class", &header, moves.iter().enumerate().map(ply).collect(), Some(&end))
    }

    const SHORT: &str = r#"[Event "class"]
[Site "Zeitnot arena"]
[Date "2026.03.01"]
[Round "7"]
[White "alice"]
[Black "bob"]
[Result "0-1"]
[GameId "1a2b"]
[UTCTime "12:30:00"]
[TimeControl "3+0.05"]
[PlyCount "4"]
[Termination "normal"]

1. f3 {[%clk 0:00:02.95]} 1... e5 {[%clk 1:00:02.95]} 2. g4 {[%clk 2:00:02.95]}
2... Qh4# {[%clk 3:00:02.95]} 0-1

"#;

    #[test]
    fn a_short_game_to_the_letter() {
        assert_eq!(print_game(["alice", "bob"], None, &["f3", "e5", "g4", "Qh4#"]), SHORT);
    }

    #[test]
    fn a_stored_game_is_printed_as_the_played_one() {
        let (header, end) = game(["alice", "bob"], None, None);
        let mut moves = MoveList::default();
        for (ply, mv) in ["f2f3", "e7e5", "g2g4", "d8h4"].into_iter().enumerate() {
            moves.push(mv, left(ply));
        }
        let stored = GameState { header: header.into(), moves, end: Some(end) };
        assert_eq!(print_stored("class", &stored).unwrap(), SHORT);
        assert!(SHORT.contains(&id_tag(&stored.header)));

        let (header, _) = game(["alice", "bob"], None, Some("0f"));
        let mut running = GameState { header: header.into(), end: None, ..stored };
        let pgn = print_stored("class", &running).unwrap();
        assert!(pgn.contains("[Termination \"unterminated\"]\n[Repeats \"0f\"]\n"), "{pgn}");
        assert!(pgn.ends_with("2... Qh4# {[%clk 3:00:02.95]} *\n\n"), "{pgn}");
        running.moves.push("e2e4", None);
        assert!(print_stored("class", &running).is_err());
    }

    #[test]
    fn numbers_follow_the_position() {
        let fen = "4k3/8/8/8/8/8/8/4K2R b K - 3 40";
        let pgn = print_game(["a", "b"], Some(fen), &["Kd7", "O-O"]);
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
            let pgn = print_game([&white, &black], None, &moves);
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
