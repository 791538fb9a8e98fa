//! PGN of games: seven tags and a few more, moves with clocks and evaluations. All games of an arena are printed here.

use std::{fmt::Display, time::Duration};

use zeitnot_rules::{Color, DynGame, GameError, GameKind, GameResult};
use zeitnot_wire::{
    lichess::{Variant, VariantKey},
    pgn::{self, Pgn},
};

use crate::{
    database::GameRow,
    live::{
        stored,
        view::{Game, Numbering, Ply, Score, Thought},
    },
};

/// Termination of a game that has not ended, or that the arena does not know the end of.
const UNTERMINATED: &str = "unterminated";

/// Tag by which a file is searched for a game that a kill may have kept from it.
const ID: &str = "GameId";

/// Site of a game that no other server referees.
const ARENA: &str = "Zeitnot arena";

/// Prints a game. `site` is the address where it was played; `None`: on an arena.
pub fn print(game: &Game, site: Option<&str>) -> String {
    let results = Color::BOTH.map(|color| GameResult::Won(color).as_str()).into_iter();
    let mut results = results.chain([GameResult::Draw.as_str()]);
    let result = results.find(|known| game.summary.result.as_deref() == Some(known)).unwrap_or("*");
    let has_chance = game.summary.kind == GameKind::Tuc.name();
    let plies = game.plies.iter().map(|ply| {
        let Ply { san, left_ms, thought, fen, .. } = ply;
        let (left, eval) = (left_ms.map(Duration::from_millis), thought.as_ref().map(eval));
        pgn::Ply { text: san.clone(), left, eval, position: has_chance.then(|| fen.clone()) }
    });
    let tags = tags(game, site.unwrap_or(ARENA), result);
    Pgn { tags, fen: own_start(game), plies: plies.collect(), result }.print()
}

/// Prints a game of the database that belongs to the tournament of that name.
///
/// # Errors
/// [`GameError`] of the first move that does not fit the rules.
pub fn print_stored(tournament: Option<String>, game: &GameRow) -> Result<String, GameError> {
    // The tags hold the number, whichever kind it is.
    let tournament = tournament.map(|name| (name, Numbering::Games));
    stored::view(game, tournament).map(|game| print(&game, None))
}

/// Prints a game of the database, or a comment if it does not fit the rules.
pub fn print_or_explain(tournament: Option<String>, game: &GameRow) -> String {
    print_stored(tournament, game).unwrap_or_else(|error| explain(&game.header.id, &error))
}

/// Prints a comment in place of a game.
pub(crate) fn explain(id: &str, why: &dyn Display) -> String {
    format!("; game {id} cannot be shown: {why}\n\n")
}

/// Returns the id of a game if this line of its PGN is the tag that has it.
pub(crate) fn read_id_tag(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_prefix(ID)?.strip_prefix(" \"")?.strip_suffix("\"]")
}

/// Evaluation as Lichess exports it, with the depth.
fn eval(Thought { score, depth, .. }: &Thought) -> String {
    match score {
        Score::Cp(cp) => format!("{:.2},{depth}", f64::from(*cp) / 100.0),
        Score::Mate(moves) => format!("#{moves},{depth}"),
    }
}

/// Initial position, unless it is the usual one of chess, or of a variant that begins as chess does.
fn own_start(game: &Game) -> Option<String> {
    let kind = game.summary.kind.parse().ok()?;
    let is_other = matches!(kind, GameKind::Horde | GameKind::RacingKings | GameKind::Gardner);
    let usual = || is_other.then(|| game.start_fen.clone());
    DynGame::begin(kind, Some(&game.start_fen)).ok()?.own_start().or_else(usual)
}

fn tags(game: &Game, site: &str, result: &str) -> Vec<(&'static str, String)> {
    let Game { summary, plies, number, termination, repeats, result_at_board, note, .. } = game;
    let unknown = |text: Option<String>, mark: &str| text.unwrap_or_else(|| mark.to_owned());
    // By RFC 3339: `2026-03-01T12:30:00.25Z`.
    let (date, time) = summary.started.split_once('T').unwrap_or_default();
    let date = date.replace('-', ".");
    let mut tags = vec![
        ("Event", unknown(summary.tournament.clone(), "?")),
        ("Site", site.to_owned()),
        ("Date", date.clone()),
        ("Round", unknown(number.map(|number| number.to_string()), "-")),
        ("White", summary.white.name.clone()),
        ("Black", summary.black.name.clone()),
        ("Result", result.to_owned()),
        (ID, summary.id.clone()),
        ("UTCDate", date),
        ("UTCTime", time.chars().take("12:30:00".len()).collect()),
        ("TimeControl", unknown(summary.time_control.clone(), "-")),
        ("PlyCount", plies.len().to_string()),
        ("Termination", unknown(termination.clone(), UNTERMINATED)),
    ];
    let (white, black) = (&summary.white, &summary.black);
    for (elo, title, player) in [("WhiteElo", "WhiteTitle", white), ("BlackElo", "BlackTitle", black)] {
        // Ratings of PGN are positive.
        tags.extend(player.rating.filter(|&rating| rating > 0).map(|rating| (elo, rating.to_string())));
        tags.extend(player.bot.filter(|&bot| bot).map(|_| (title, "BOT".to_owned())));
    }
    if summary.kind != GameKind::Chess.name() {
        // By the names of Lichess, which other programs read.
        let known = summary.kind.parse().ok().and_then(VariantKey::of);
        let name = known.map_or_else(|| summary.kind.clone(), |key| Variant::from(key).name);
        tags.push(("Variant", name));
    } else if summary.chess960 {
        tags.push(("Variant", Variant::from(VariantKey::Chess960).name));
    }
    // The other game was broken off.
    tags.extend(repeats.clone().map(|id| ("Repeats", id)));
    tags.extend(result_at_board.clone().map(|result| ("ResultAtBoard", result)));
    tags.extend(note.clone().map(|note| ("Note", note)));
    tags
}

#[cfg(test)]
mod tests {
    use std::{ops::ControlFlow, sync::Arc};

    use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
    use proptest::prelude::*;

    use super::*;
    use crate::database::{GameEnd, GameHeader, MoveList, Person, Source};
    use zeitnot_rules::ByColor;
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

    fn game(names: [&str; 2], start: Option<&str>, repeats: Option<&str>) -> GameRow {
        let began = time::macros::datetime!(2026-03-01 12:30:00.25 UTC);
        let header = GameHeader {
            id: "1a2b".into(),
            source: Source::Contest,
            kind: GameKind::Chess,
            tournament: None,
            round: Some(7),
            opening: None,
            players: ByColor(names.map(Person::named)),
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
        GameRow { header: header.into(), moves: MoveList::default(), end: Some(end) }
    }

    fn left(ply: usize) -> Duration {
        Duration::from_millis(2950 + 3_600_000 * ply as u64)
    }

    fn played(mut game: GameRow, moves: &[&str]) -> GameRow {
        for (ply, mv) in moves.iter().enumerate() {
            game.moves.push(mv, (Some(left(ply)), None));
        }
        game
    }

    fn print_played(game: &GameRow) -> String {
        print_stored(Some("class".to_owned()), game).unwrap()
    }

    const SHORT: &str = r#"[Event "class"]
[Site "Zeitnot arena"]
[Date "2026.03.01"]
[Round "7"]
[White "alice"]
[Black "bob"]
[Result "0-1"]
[GameId "1a2b"]
[UTCDate "2026.03.01"]
[UTCTime "12:30:00"]
[TimeControl "3+0.05"]
[PlyCount "4"]
[Termination "normal"]

1. f3 {[%clk 0:00:02.95]} 1... e5 {[%clk 1:00:02.95]} 2. g4 {[%clk 2:00:02.95]}
2... Qh4# {[%clk 3:00:02.95]} 0-1

"#;

    #[test]
    fn a_short_game_to_the_letter() {
        let stored = played(game(["alice", "bob"], None, None), &["f2f3", "e7e5", "g2g4", "d8h4"]);
        assert_eq!(print_played(&stored), SHORT);
        assert_eq!(SHORT.lines().filter_map(read_id_tag).collect::<Vec<_>>(), [&*stored.header.id]);

        let header = game(["alice", "bob"], None, Some("0f")).header;
        let mut running = GameRow { header, end: None, ..stored };
        let pgn = print_played(&running);
        assert!(pgn.contains("[Termination \"unterminated\"]\n[Repeats \"0f\"]\n"), "{pgn}");
        assert!(pgn.ends_with("2... Qh4# {[%clk 3:00:02.95]} *\n\n"), "{pgn}");
        running.moves.push("e2e4", (None, None));
        assert!(print_stored(None, &running).is_err());
    }

    #[test]
    fn ratings_and_bots_have_tags_where_they_are_known() {
        let mut stored = game(["zeitnot", "alice"], None, None);
        let header = Arc::make_mut(&mut stored.header);
        header.players.0[0] = Person { rating: Some(-223), bot: Some(true), ..Person::named("zeitnot") };
        header.players.0[1] = Person { rating: Some(1612), bot: Some(false), ..Person::named("alice") };
        let pgn = print_played(&stored);
        let known = "[Termination \"normal\"]\n[WhiteTitle \"BOT\"]\n[BlackElo \"1612\"]\n\n";
        assert!(pgn.contains(known), "{pgn}");
    }

    #[test]
    fn thoughts_are_evaluations() {
        let mut game = stored::view(&played(game(["a", "b"], None, None), &["e2e4", "e7e5"]), None).unwrap();
        for (ply, score) in game.plies.iter_mut().zip([Score::Cp(-25), Score::Mate(3)]) {
            let (nodes, nps, pv, origin) = (None, None, Vec::new(), "search".to_owned());
            ply.thought = Some(Thought { score, depth: 12, nodes, nps, pv, origin });
        }
        let pgn = print(&game, Some("tcp://localhost:3000"));
        assert!(pgn.contains("[Site \"tcp://localhost:3000\"]"), "{pgn}");
        assert!(pgn.contains("1. e4 {[%eval -0.25,12] [%clk 0:00:02.95]}"), "{pgn}");
        assert!(pgn.contains("{[%eval #3,12] [%clk"), "{pgn}");
        assert!(pgn.contains("[Event \"?\"]"), "{pgn}");
    }

    #[test]
    fn numbers_follow_the_position() {
        let fen = "4k3/8/8/8/8/8/8/4K2R b K - 3 40";
        let pgn = print_played(&played(game(["a", "b"], Some(fen), None), &["e8d7", "e1g1"]));
        assert!(pgn.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 3 40\"]\n"), "{pgn}");
        assert!(pgn.contains("\n40... Kd7 {[%clk 0:00:02.95]} 41. O-O {"), "{pgn}");
    }

    #[test]
    fn a_game_of_chess960_has_its_variant() {
        let tags = |start| print_played(&game(["a", "b"], Some(start), None));
        let pgn = tags("bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w KQkq - 0 1");
        assert!(pgn.contains("[Variant \"Chess960\"]\n"), "{pgn}");
        let pgn = tags("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        assert!(!pgn.contains("Variant"), "{pgn}");
    }

    proptest! {
        #[test]
        fn another_program_reads_what_we_write(
            white in "[!-~é]{1,20}", black in "[!-~小明]{1,20}", plies in 0..300_usize,
        ) {
            let shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
            let moves: Vec<_> = shuffle.iter().copied().cycle().take(plies).collect();
            let mut game = stored::view(&game([&white, &black], None, None), None).unwrap();
            let ply = |(ply, san): (usize, &&str)| Ply {
                uci: String::new(),
                san: (*san).to_owned(),
                fen: String::new(),
                spent_ms: None,
                left_ms: u64::try_from(left(ply).as_millis()).ok(),
                thought: None,
            };
            game.plies = moves.iter().enumerate().map(ply).collect();
            let pgn = print(&game, None);
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
