//! Universal Chess Interface on the side of the engine, and UBGI, which extends it.
//!
//! Source: the UCI specification of April 2006 by Stefan Meyer-Kahlen. As it requires, unknown words at the beginning
//! of a line are skipped. UBGI, the Universal Board Game Interface, is defined by version 1.0 of KohakuBlueleaf's
//! KohakuBoardGame, as the NTHU course of 2026 uses it.

use std::{fmt, time::Duration};

use zeitnot_rules::{MAX_PERFT_DEPTH, MAX_TIME};

use super::{WireError, shorten};

/// Set of known commands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// UCI.
    Uci,
    /// UCI with `ubgi` and `ubginewgame`, and with boards instead of FENs.
    Ubgi,
}

impl Words {
    /// Returns the keyword before a position, and the expected text for errors.
    const fn position(self) -> (&'static str, &'static str) {
        match self {
            Words::Uci => ("fen", "startpos or fen"),
            Words::Ubgi => ("board", "startpos or board"),
        }
    }
}

/// Command of a GUI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromGui {
    /// Identify yourself and list the options.
    Uci,
    /// The same in UBGI.
    Ubgi,
    /// Print the position for people.
    Display,
    /// Answer once all previous commands are done.
    IsReady,
    /// The next position belongs to another game.
    NewGame,
    /// Set the position.
    Position {
        /// Initial position in the game's text form; `None`: the standard one.
        root: Option<String>,
        /// Moves from there, in coordinate notation.
        moves: Vec<String>,
    },
    /// Start a search.
    Go {
        /// Limits of the search.
        go: Go,
        /// Words without effect: unknown ones, and fields without their number. Shortened; empty if there are none.
        ignored: String,
    },
    /// Count the leaves of the move tree of this depth, for each root move.
    Perft(u32),
    /// Print the static evaluation for people.
    Eval,
    /// Stop the search and answer.
    Stop,
    /// The expected move was played; the clock runs.
    PonderHit,
    /// Set an option.
    SetOption {
        /// May contain spaces.
        name: String,
        /// Empty for buttons.
        value: String,
    },
    /// Exit.
    Quit,
    /// Known but unused: `debug`, `register`.
    Ignored,
}

/// Limits of `go`; `None`: not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Clocks of White and Black. Negative clocks count as zero.
    pub time: [Option<Duration>; 2],
    /// Increments of White and Black.
    pub increment: [Option<Duration>; 2],
    /// Moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// Exact time.
    pub move_time: Option<Duration>,
    /// Depth in plies.
    pub depth: Option<u16>,
    /// Number of nodes.
    pub nodes: Option<u64>,
    /// Search for a mate in this many moves.
    pub mate: Option<u16>,
    /// Search until `stop`.
    pub infinite: bool,
    /// Search on the opponent's time: no answer before `ponderhit` or `stop`.
    pub ponder: bool,
    /// Search only these moves, in coordinate notation; empty: all.
    pub search_moves: Vec<String>,
}

impl Go {
    /// Returns whether the search ends by itself.
    pub fn has_end(&self) -> bool {
        let clock = self.time.iter().chain(&self.increment).any(Option::is_some);
        let limit = self.depth.is_some() || self.nodes.is_some() || self.move_time.is_some();
        (clock || limit) && !self.infinite && !self.ponder
    }
}

impl FromGui {
    /// Parses one line.
    ///
    /// # Errors
    /// [`WireError`] if no word is a command, or the command lacks an argument.
    pub fn parse(line: &str, known: Words) -> Result<FromGui, WireError> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            return Ok(match word {
                "uci" => FromGui::Uci,
                "ubgi" if known == Words::Ubgi => FromGui::Ubgi,
                "ubginewgame" if known == Words::Ubgi => FromGui::NewGame,
                "d" => FromGui::Display,
                "eval" => FromGui::Eval,
                "isready" => FromGui::IsReady,
                "ucinewgame" => FromGui::NewGame,
                "position" => position(words, known)?,
                "go" => go(words)?,
                "stop" => FromGui::Stop,
                "ponderhit" => FromGui::PonderHit,
                "setoption" => set_option(words)?,
                "quit" => FromGui::Quit,
                "debug" | "register" => FromGui::Ignored,
                _ => continue,
            });
        }
        Err(WireError::Unknown(shorten(line)))
    }
}

fn position<'l>(mut words: impl Iterator<Item = &'l str>, known: Words) -> Result<FromGui, WireError> {
    let (before_text, expected) = known.position();
    let mut before_moves = words.by_ref().take_while(|&word| word != "moves");
    let root = match before_moves.next() {
        Some("startpos") => {
            before_moves.for_each(drop);
            None
        }
        Some(word) if word == before_text => Some(before_moves.collect::<Vec<_>>().join(" ")),
        other => {
            let got = shorten(other.unwrap_or(""));
            return Err(WireError::Field { message: "position", expected, got });
        }
    };
    Ok(FromGui::Position { root, moves: words.map(str::to_owned).collect() })
}

fn set_option<'l>(words: impl Iterator<Item = &'l str>) -> Result<FromGui, WireError> {
    let mut words = words.skip_while(|&word| word != "name").skip(1);
    let name = words.by_ref().take_while(|&word| word != "value").collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return Err(WireError::Field { message: "setoption", expected: "name", got: String::new() });
    }
    Ok(FromGui::SetOption { name, value: words.collect::<Vec<_>>().join(" ") })
}

/// Parses the fields in any order. As in Stockfish, `perft` takes the place of a search, whatever else is given.
fn go<'l>(words: impl Iterator<Item = &'l str>) -> Result<FromGui, WireError> {
    let mut go = Go::default();
    let mut ignored = Vec::new();
    let mut words = words.peekable();
    while let Some(field) = words.next() {
        let mut number = || {
            let number = words.peek().and_then(|word| number(word));
            if number.is_some() {
                words.next();
            } else {
                ignored.push(field);
            }
            number
        };
        let small = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
        let millis = |number: u64| Duration::from_millis(number).min(MAX_TIME);
        match field {
            "wtime" => go.time[0] = number().map(millis),
            "btime" => go.time[1] = number().map(millis),
            "winc" => go.increment[0] = number().map(millis),
            "binc" => go.increment[1] = number().map(millis),
            "movestogo" => go.moves_to_go = number().map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            "movetime" => go.move_time = number().map(millis),
            "depth" => go.depth = number().map(small),
            "nodes" => go.nodes = number(),
            "mate" => go.mate = number().map(small),
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "perft" => return perft(words.peek().copied()),
            "searchmoves" => {
                while let Some(mv) = words.next_if(|word| is_move(word)) {
                    go.search_moves.push(mv.to_owned());
                }
            }
            _ => ignored.push(field),
        }
    }
    Ok(FromGui::Go { go, ignored: shorten(&ignored.join(" ")) })
}

/// Parses the depth of `go perft`.
fn perft(depth: Option<&str>) -> Result<FromGui, WireError> {
    let known =
        depth.and_then(|word| word.parse().ok()).filter(|depth| (1..=MAX_PERFT_DEPTH).contains(depth));
    known.map(FromGui::Perft).ok_or_else(|| WireError::Field {
        message: "go perft",
        expected: "a depth from 1 to 20",
        got: shorten(depth.unwrap_or("")),
    })
}

/// Parses a number. Negative ones, as on clocks that have run out, become zero; too large ones the maximum.
fn number(word: &str) -> Option<u64> {
    let (below_zero, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| if below_zero { 0 } else { digits.parse().unwrap_or(u64::MAX) })
}

/// Returns whether the word looks like a move: two squares and perhaps a promotion, or a piece dropped onto a square.
fn is_move(word: &str) -> bool {
    let square = |file: u8, rank: u8| matches!(file, b'a'..=b'h') && matches!(rank, b'1'..=b'8');
    match *word.as_bytes() {
        [_, b'@', file, rank] => square(file, rank),
        [from_file, from_rank, to_file, to_rank] | [from_file, from_rank, to_file, to_rank, _] => {
            square(from_file, from_rank) && square(to_file, to_rank)
        }
        _ => false,
    }
}

/// Score of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UciScore {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate; negative if we are mated.
    Mate(i16),
}

/// `info` line of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are UCI's
pub struct Info {
    pub depth: u16,
    pub seldepth: u16,
    /// `None` if there is only one line.
    pub multipv: Option<u16>,
    pub score: UciScore,
    /// Wins, draws and losses per thousand games.
    pub wdl: Option<[u16; 3]>,
    pub nodes: u64,
    pub time: Duration,
    pub hashfull: u16,
    /// Printed unless it is zero.
    pub tbhits: u64,
    pub pv: Vec<String>,
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "info depth {} seldepth {}", self.depth, self.seldepth)?;
        self.multipv.map_or(Ok(()), |line| write!(f, " multipv {line}"))?;
        match self.score {
            UciScore::Cp(cp) => write!(f, " score cp {cp}")?,
            UciScore::Mate(moves) => write!(f, " score mate {moves}")?,
        }
        self.wdl.map_or(Ok(()), |[wins, draws, losses]| write!(f, " wdl {wins} {draws} {losses}"))?;
        let nps = nodes_per_second(self.nodes, self.time);
        let millis = self.time.as_millis();
        write!(f, " nodes {} nps {nps} hashfull {}", self.nodes, self.hashfull)?;
        if self.tbhits > 0 {
            write!(f, " tbhits {}", self.tbhits)?;
        }
        write!(f, " time {millis} pv")?;
        self.pv.iter().try_for_each(|mv| write!(f, " {mv}"))
    }
}

/// Returns the speed of a search that took at least a microsecond.
pub fn nodes_per_second(nodes: u64, time: Duration) -> u64 {
    (nodes as f64 / time.as_secs_f64().max(1e-6)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_go(line: &str) -> Go {
        match FromGui::parse(line, Words::Uci) {
            Ok(FromGui::Go { go, .. }) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn clocks_in_any_order_and_number() {
        let ms = Duration::from_millis;
        assert_eq!(parse_go("go wtime 100").time, [Some(ms(100)), None]);
        assert_eq!(parse_go("go binc 5 btime -30 movestogo 3").time, [None, Some(ms(0))]);
        assert_eq!(parse_go("go binc 5 btime -30 movestogo 3").increment, [None, Some(ms(5))]);
        assert_eq!(parse_go("go wtime btime 70"), Go { time: [None, Some(ms(70))], ..Go::default() });
    }

    #[test]
    fn search_moves_end_where_the_next_field_begins() {
        let go = parse_go("go searchmoves e2e4 a7a8q depth 3 infinite");
        assert_eq!(
            go,
            Go {
                search_moves: vec!["e2e4".into(), "a7a8q".into()],
                depth: Some(3),
                infinite: true,
                ..Go::default()
            }
        );
    }

    #[test]
    fn absurd_numbers_are_the_nearest_that_make_sense() {
        let go = parse_go(
            "go depth -3 nodes 99999999999999999999999 movetime -99999999999999999999999 mate 70000",
        );
        assert_eq!((go.depth, go.nodes, go.move_time), (Some(0), Some(u64::MAX), Some(Duration::ZERO)));
        assert_eq!(go.mate, Some(u16::MAX));
        let go = parse_go("go wtime 18446744073709551615 winc 99999999999999999999");
        assert_eq!((go.time[0], go.increment[0]), (Some(MAX_TIME), Some(MAX_TIME)));
        assert_eq!(parse_go("go nodes - depth +5 movetime 1e3 mate"), Go::default());
    }

    #[test]
    fn words_without_effect_are_told() {
        for (line, expected) in [
            ("go", ""),
            ("go wtime 100 btime -5 infinite searchmoves e2e4 ponder", ""),
            ("go depht 3 nodes 5", "depht 3"),
            ("go depth nodes 5", "depth"),
            ("go movetime 1e3 searchmoves e2e4 e2e9", "movetime 1e3 e2e9"),
            ("go nodes", "nodes"),
        ] {
            match FromGui::parse(line, Words::Uci) {
                Ok(FromGui::Go { ignored, .. }) => assert_eq!(ignored, expected, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        let many = FromGui::parse(&"go joho".replace("joho", &"joho ".repeat(100_000)), Words::Uci);
        assert!(matches!(many, Ok(FromGui::Go { ignored, .. }) if ignored.len() == 60));
    }

    #[test]
    fn perft_has_a_depth_that_can_be_counted() {
        assert_eq!(FromGui::parse("go perft 5", Words::Uci), Ok(FromGui::Perft(5)));
        assert_eq!(FromGui::parse("go depth 3 perft 20 x", Words::Ubgi), Ok(FromGui::Perft(MAX_PERFT_DEPTH)));
        for line in ["go perft", "go perft 0", "go perft 21", "go perft -1", "go perft depth 3"] {
            let error = FromGui::parse(line, Words::Uci).unwrap_err().to_string();
            assert!(error.starts_with("go perft: expected a depth from 1 to 20, got '"), "{line}: {error}");
        }
    }

    #[test]
    fn drops_are_search_moves() {
        let go = parse_go("go searchmoves P@e4 e2e4 p@ depth 2");
        assert_eq!((go.search_moves, go.depth), (vec!["P@e4".to_owned(), "e2e4".into()], Some(2)));
    }

    #[test]
    fn only_some_searches_end_by_themselves() {
        for (line, ends) in [
            ("go", false),
            ("go infinite depth 3", false),
            ("go ponder wtime 100", false),
            ("go mate 3", false),
            ("go searchmoves e2e4", false),
            ("go nodes 3", true),
            ("go binc 3", true),
            ("go movetime 0", true),
        ] {
            assert_eq!(parse_go(line).has_end(), ends, "{line}");
        }
    }

    #[test]
    fn info_lines_are_printed() {
        let mut info = Info {
            depth: 9,
            seldepth: 12,
            multipv: None,
            score: UciScore::Cp(-3),
            wdl: None,
            nodes: 1000,
            time: Duration::from_millis(10),
            hashfull: 4,
            tbhits: 0,
            pv: vec!["e2e4".into(), "e7e5".into()],
        };
        let rest = "nodes 1000 nps 100000 hashfull 4 time 10 pv e2e4 e7e5";
        assert_eq!(info.to_string(), format!("info depth 9 seldepth 12 score cp -3 {rest}"));
        (info.multipv, info.wdl, info.score) = (Some(2), Some([0, 1, 999]), UciScore::Mate(-4));
        let score = "multipv 2 score mate -4 wdl 0 1 999";
        assert_eq!(info.to_string(), format!("info depth 9 seldepth 12 {score} {rest}"));
        info.tbhits = 7;
        assert!(info.to_string().contains(" hashfull 4 tbhits 7 time 10 pv "), "{info}");
    }

    #[test]
    fn words_in_front_are_passed_over() {
        assert_eq!(FromGui::parse("joho debug on", Words::Uci), Ok(FromGui::Ignored));
        assert_eq!(FromGui::parse("  xyz  isready ", Words::Uci), Ok(FromGui::IsReady));
        assert!(FromGui::parse("hello", Words::Uci).is_err());
        assert!(FromGui::parse("", Words::Uci).is_err());
    }

    #[test]
    fn options_and_positions() {
        let option =
            |name: &str, value: &str| Ok(FromGui::SetOption { name: name.into(), value: value.into() });
        assert_eq!(
            FromGui::parse("setoption name Move Overhead value 30", Words::Uci),
            option("Move Overhead", "30")
        );
        assert_eq!(FromGui::parse("setoption name Clear Hash", Words::Uci), option("Clear Hash", ""));
        assert!(FromGui::parse("setoption value 3", Words::Uci).is_err());
        let moves = vec!["e2e4".to_owned()];
        assert_eq!(
            FromGui::parse("position startpos moves e2e4", Words::Uci),
            Ok(FromGui::Position { root: None, moves: moves.clone() })
        );
        let root = Some("8/8/8/8/8/8/8/8 w - -".to_owned());
        assert_eq!(
            FromGui::parse("position fen 8/8/8/8/8/8/8/8 w - - moves e2e4", Words::Uci),
            Ok(FromGui::Position { root, moves })
        );
        assert!(FromGui::parse("position", Words::Uci).is_err());
    }

    #[test]
    fn the_words_of_ubgi_are_known_to_it_only() {
        assert_eq!(FromGui::parse(" d ", Words::Uci), FromGui::parse("d", Words::Ubgi));
        assert_eq!(FromGui::parse("eval", Words::Uci), Ok(FromGui::Eval));
        for (line, message) in [("ubgi", FromGui::Ubgi), ("ubginewgame\r", FromGui::NewGame)] {
            assert_eq!(FromGui::parse(line, Words::Ubgi), Ok(message));
            assert!(FromGui::parse(line, Words::Uci).is_err());
        }
        let board = "position board kqbnr/ppppp/...../...../PPPPP/RNBQK 0 moves a2a3 b5b4\r";
        assert_eq!(
            FromGui::parse(board, Words::Ubgi),
            Ok(FromGui::Position {
                root: Some("kqbnr/ppppp/...../...../PPPPP/RNBQK 0".into()),
                moves: vec!["a2a3".into(), "b5b4".into()],
            })
        );
        assert!(FromGui::parse(board, Words::Uci).is_err());
        assert!(FromGui::parse("position fen 8/8/8/8/8/8/8/8 w - -", Words::Ubgi).is_err());
        assert_eq!(
            FromGui::parse("position startpos\r", Words::Ubgi),
            Ok(FromGui::Position { root: None, moves: vec![] })
        );
    }

    proptest! {
        #[test]
        fn garbage_never_panics(words in prop::collection::vec(prop_oneof![
            Just("go".to_owned()), Just("position".into()), Just("fen".into()), Just("moves".into()), Just("wtime".into()),
            Just("searchmoves".into()), Just("setoption".into()), Just("name".into()), Just("value".into()),
            Just("depth".into()), Just("board".into()), Just("ubgi".into()), Just("d".into()), Just("perft".into()), "-?[0-9]{1,25}", ".{0,6}",
        ], 0..12)) {
            let line = words.join(" ");
            let uci = FromGui::parse(&line, Words::Uci);
            let ubgi = FromGui::parse(&line, Words::Ubgi);
            if let Ok(FromGui::Ubgi) = uci {
                prop_assert!(false, "UCI has no such word: {}", line);
            }
            if uci.is_ok() && ubgi.is_err() {
                prop_assert!(line.contains("position"), "only positions differ: {}", line);
            }
        }
    }
}
