//! Contest protocol: `ACTION rest of the line`, fields separated by single spaces, a FEN last.
//!
//! Source: github.com/ammonb/chess-contest-server, as its server implements it.

use std::{fmt, time::Duration};

use zeitnot_rules::{ByColor, Color, GameResult, MAX_TIME, MoveText, TimeControl};

use super::{Message, Secret, WireError, shorten};

/// Version of the protocol that our arena and our clients speak.
pub const VERSION: u32 = 1;

/// Extension of the original protocol that a client asks for: a word of `JOIN` that begins with `+`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extension {
    /// `VARIANT` before each game, and `LEGAL_MOVES` before each `YOUR_MOVE`.
    Moves,
    /// Version of the protocol that the client speaks.
    Protocol(u32),
    /// One that is unknown here, without its `+`.
    Unknown(String),
}

impl Extension {
    /// Returns whether a word of `JOIN` is an extension, not a key.
    pub fn is_in(word: &str) -> bool {
        word.starts_with('+')
    }

    fn read(name: &str) -> Extension {
        // A number as it is printed: without a sign or zeros in front of it.
        let version = |text: &str| text.parse().ok().filter(|it: &u32| it.to_string() == text);
        match name.strip_prefix("protocol=").and_then(version) {
            Some(version) => Extension::Protocol(version),
            None if name == "moves" => Extension::Moves,
            None => Extension::Unknown(name.to_owned()),
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extension::Moves => f.write_str("+moves"),
            Extension::Protocol(version) => write!(f, "+protocol={version}"),
            Extension::Unknown(name) => write!(f, "+{name}"),
        }
    }
}

/// Message of a client. `Ack` acknowledges `GAME_PAIRED`, `Move` answers `YOUR_MOVE`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each field is named as in the protocol's document
pub enum FromClient {
    /// The original protocol has neither the key nor the extensions. Tournaments may ask for the key: the player's own, or
    /// the password.
    Join {
        tournament: String,
        player: String,
        key: Option<Secret>,
        extensions: Vec<Extension>,
    },
    Ack {
        game: String,
    },
    Move {
        game: String,
        mv: String,
    },
    Resign {
        game: String,
    },
    Say {
        player: String,
        text: String,
    },
    Watch {
        game: String,
    },
    Unwatch {
        game: String,
    },
    Disconnect,
}

/// Message of the server.
///
/// `Info` is text for people; programs must not rely on it. A paired game begins once both players acknowledge it, or
/// is aborted. `ClockUpdate` is sent to both players every five seconds, `GameState` answers `WATCH`. The state of
/// `PlayerMoved` is the one after the move. `Variant` and `LegalMoves` are for a client that asks for [`Extension::Moves`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FromServer {
    Info {
        text: String,
    },
    GamePaired {
        game: String,
        names: ByColor<String>,
        time_control: TimeControl,
    },
    /// The game by the name of its rules, `chess960` for Chess960.
    Variant {
        game: String,
        kind: String,
    },
    GameStarted(State),
    LegalMoves {
        game: String,
        moves: Vec<MoveText>,
    },
    YourMove(State),
    ClockUpdate(State),
    GameState(State),
    PlayerMoved {
        mover: String,
        mv: String,
        state: State,
    },
    GameOver {
        game: String,
        result: GameResult,
        reason: String,
    },
    GameAborted {
        reason: String,
    },
    Said {
        sender: String,
        text: String,
    },
}

/// State of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct State {
    pub game: String,
    pub names: ByColor<String>,
    /// In seconds with two decimals.
    pub left: ByColor<Duration>,
    pub fen: String,
}

/// A result as this protocol has it: a draw is `0.5-0.5`.
pub fn result_text(result: GameResult) -> &'static str {
    match result {
        GameResult::Draw => "0.5-0.5",
        won => won.as_str(),
    }
}

/// Formats a move as clients send it: `e2-e4`, `e7-e8=Q`, castling as the king's move. A move of another form, such as
/// the drop `N@f3`, stays as it is.
///
/// ```
/// use zeitnot_rules::MoveText;
/// use zeitnot_wire::contest::long_algebraic;
/// assert_eq!(long_algebraic(&MoveText::new("e2e4").unwrap()), "e2-e4");
/// assert_eq!(long_algebraic(&MoveText::new("e7e8q").unwrap()), "e7-e8=Q");
/// assert_eq!(long_algebraic(&MoveText::new("N@f3").unwrap()), "N@f3");
/// ```
pub fn long_algebraic(mv: &MoveText) -> String {
    let square = |part: &&str| matches!(part.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    let [from, to] = [0..2, 2..4].map(|part| mv.as_str().get(part).filter(square));
    match (from, to, mv.as_str().get(4..)) {
        (Some(from), Some(to), Some("")) => format!("{from}-{to}"),
        (Some(from), Some(to), Some(role)) => format!("{from}-{to}={}", role.to_ascii_uppercase()),
        _ => mv.to_string(),
    }
}

/// Names of the messages of either side.
pub const NAMES: &str = "JOIN ACK MOVE RESIGN SAY WATCH UNWATCH DISCONNECT INFO GAME_PAIRED GAME_STARTED YOUR_MOVE \
    CLOCK_UPDATE GAME_STATE PLAYER_MOVED GAME_OVER GAME_ABORTED SAID VARIANT LEGAL_MOVES";

/// Name of a message, and its fields that are not parsed yet.
struct Fields<'l> {
    message: &'static str,
    rest: &'l str,
}

impl<'l> Fields<'l> {
    /// Splits off the message's name. The server ignores its case.
    fn of(line: &'l str) -> Result<Fields<'l>, WireError> {
        let line = line.trim();
        let (action, rest) = line.split_once(' ').unwrap_or((line, ""));
        let message = NAMES.split(' ').find(|name| name.eq_ignore_ascii_case(action));
        Ok(Fields { message: message.ok_or_else(|| unknown(action))?, rest })
    }

    fn error(&self, expected: &'static str, got: &str) -> WireError {
        WireError::Field { message: self.message, expected, got: shorten(got) }
    }

    fn word(&mut self, expected: &'static str) -> Result<&'l str, WireError> {
        let (word, rest) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
        // Only spaces separate fields: other white space must not pass for a name.
        if word.is_empty() || word.contains(char::is_whitespace) {
            return Err(self.error(expected, word));
        }
        self.rest = rest;
        Ok(word)
    }

    fn owned(&mut self, expected: &'static str) -> Result<String, WireError> {
        self.word(expected).map(str::to_owned)
    }

    /// Clocks can fall slightly below zero; they count as zero. Longer ones than [`MAX_TIME`] count as that.
    fn seconds(&mut self) -> Result<Duration, WireError> {
        let word = self.word("seconds")?;
        let seconds: f64 = word.parse().map_err(|_| self.error("seconds", word))?;
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|_| self.error("seconds", word))?;
        Ok(time.min(MAX_TIME))
    }

    fn names(&mut self) -> Result<ByColor<String>, WireError> {
        Ok(ByColor([self.owned("the name of White")?, self.owned("the name of Black")?]))
    }

    /// Returns the last words of a line: the extensions, and the key if there is one. Errors do not repeat it.
    fn key_and_extensions(&mut self) -> Result<(Option<Secret>, Vec<Extension>), WireError> {
        let (mut key, mut extensions) = (None, Vec::new());
        while !self.rest.is_empty() {
            let word = self.word("a key").map_err(|_| self.error("one word after the player", "…"))?;
            match word.strip_prefix('+') {
                Some(name) => extensions.push(Extension::read(name)),
                None if key.is_some() => {
                    return Err(self.error("a name without spaces, and after it at most a key", "…"));
                }
                None => key = Some(Secret::of(word)),
            }
        }
        Ok((key, extensions))
    }

    /// Returns the rest of the line, which may be empty.
    fn tail(&mut self) -> String {
        std::mem::take(&mut self.rest).to_owned()
    }

    fn game(&mut self) -> Result<String, WireError> {
        self.owned("a game")
    }

    fn moves(&mut self) -> Result<Vec<MoveText>, WireError> {
        let mut moves = Vec::new();
        while !self.rest.is_empty() {
            let word = self.word("a move")?;
            moves.push(MoveText::new(word).ok_or_else(|| self.error("a move", word))?);
        }
        Ok(moves)
    }

    fn state_of(&mut self, game: String) -> Result<State, WireError> {
        let names = self.names()?;
        let left = ByColor([self.seconds()?, self.seconds()?]);
        let fen = self.tail();
        if fen.is_empty() {
            return Err(self.error("a FEN", ""));
        }
        Ok(State { game, names, left, fen })
    }

    fn state(&mut self) -> Result<State, WireError> {
        let game = self.game()?;
        self.state_of(game)
    }
}

fn unknown(action: &str) -> WireError {
    WireError::Unknown(shorten(&action.to_ascii_uppercase()))
}

impl Message for FromClient {
    fn parse(line: &str) -> Result<Self, WireError> {
        let mut f = Fields::of(line)?;
        Ok(match f.message {
            "JOIN" => {
                let (tournament, player) = (f.owned("a tournament")?, f.owned("a player")?);
                let (key, extensions) = f.key_and_extensions()?;
                FromClient::Join { tournament, player, key, extensions }
            }
            "ACK" => FromClient::Ack { game: f.game()? },
            "MOVE" => FromClient::Move { game: f.game()?, mv: f.owned("a move")? },
            "RESIGN" => FromClient::Resign { game: f.game()? },
            "SAY" => FromClient::Say { player: f.owned("a player")?, text: f.tail() },
            "WATCH" => FromClient::Watch { game: f.game()? },
            "UNWATCH" => FromClient::Unwatch { game: f.game()? },
            "DISCONNECT" => FromClient::Disconnect,
            other => return Err(unknown(other)),
        })
    }

    fn to_line(&self) -> String {
        match self {
            FromClient::Join { tournament, player, key, extensions } => {
                let key = key.iter().map(|key| key.expose().to_owned());
                let more =
                    key.chain(extensions.iter().map(Extension::to_string)).map(|word| format!(" {word}"));
                format!("JOIN {tournament} {player}{}", more.collect::<String>())
            }
            FromClient::Ack { game } => format!("ACK {game}"),
            FromClient::Move { game, mv } => format!("MOVE {game} {mv}"),
            FromClient::Resign { game } => format!("RESIGN {game}"),
            FromClient::Say { player, text } => format!("SAY {player} {text}"),
            FromClient::Watch { game } => format!("WATCH {game}"),
            FromClient::Unwatch { game } => format!("UNWATCH {game}"),
            FromClient::Disconnect => "DISCONNECT".to_owned(),
        }
    }
}

impl Message for FromServer {
    fn parse(line: &str) -> Result<Self, WireError> {
        let mut f = Fields::of(line)?;
        Ok(match f.message {
            "INFO" => FromServer::Info { text: f.tail() },
            "GAME_PAIRED" => FromServer::GamePaired {
                game: f.game()?,
                names: f.names()?,
                time_control: TimeControl { initial: f.seconds()?, increment: f.seconds()? },
            },
            "VARIANT" => FromServer::Variant { game: f.game()?, kind: f.owned("a game's rules")? },
            "GAME_STARTED" => FromServer::GameStarted(f.state()?),
            "LEGAL_MOVES" => FromServer::LegalMoves { game: f.game()?, moves: f.moves()? },
            "YOUR_MOVE" => FromServer::YourMove(f.state()?),
            "CLOCK_UPDATE" => FromServer::ClockUpdate(f.state()?),
            "GAME_STATE" => FromServer::GameState(f.state()?),
            "PLAYER_MOVED" => {
                let game = f.game()?;
                let mover = f.owned("a player")?;
                let mv = f.owned("a move")?;
                FromServer::PlayerMoved { mover, mv, state: f.state_of(game)? }
            }
            "GAME_OVER" => {
                let game = f.game()?;
                let result = match f.word("a result")? {
                    "1-0" => GameResult::Won(Color::White),
                    "0-1" => GameResult::Won(Color::Black),
                    "0.5-0.5" | "1/2-1/2" => GameResult::Draw,
                    other => return Err(f.error("1-0, 0-1 or 0.5-0.5", other)),
                };
                FromServer::GameOver { game, result, reason: f.tail() }
            }
            "GAME_ABORTED" => FromServer::GameAborted { reason: f.tail() },
            "SAID" => FromServer::Said { sender: f.owned("a sender")?, text: f.tail() },
            other => return Err(unknown(other)),
        })
    }

    fn to_line(&self) -> String {
        // Truncated, so that nobody is told more time than there is.
        let seconds = |d: &Duration| format!("{}.{:02}", d.as_secs(), d.subsec_millis() / 10);
        let state = |s: &State| {
            let ByColor([white, black]) = &s.names;
            let left = s.left.0.each_ref().map(seconds).join(" ");
            format!("{white} {black} {left} {}", s.fen)
        };
        let named = |name: &str, s: &State| format!("{name} {} {}", s.game, state(s));
        match self {
            FromServer::Info { text } => format!("INFO {text}"),
            FromServer::GamePaired { game, names: ByColor([white, black]), time_control: tc } => {
                let initial = seconds(&tc.initial);
                let increment = seconds(&tc.increment);
                format!("GAME_PAIRED {game} {white} {black} {initial} {increment}")
            }
            FromServer::Variant { game, kind } => format!("VARIANT {game} {kind}"),
            FromServer::GameStarted(s) => named("GAME_STARTED", s),
            FromServer::LegalMoves { game, moves } => {
                format!("LEGAL_MOVES {game}{}", moves.iter().map(|mv| format!(" {mv}")).collect::<String>())
            }
            FromServer::YourMove(s) => named("YOUR_MOVE", s),
            FromServer::ClockUpdate(s) => named("CLOCK_UPDATE", s),
            FromServer::GameState(s) => named("GAME_STATE", s),
            FromServer::PlayerMoved { mover, mv, state: s } => {
                format!("PLAYER_MOVED {} {mover} {mv} {}", s.game, state(s))
            }
            FromServer::GameOver { game, result, reason } => {
                format!("GAME_OVER {game} {} {reason}", result_text(*result))
            }
            FromServer::GameAborted { reason } => format!("GAME_ABORTED {reason}"),
            FromServer::Said { sender, text } => format!("SAID {sender} {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{garbled, lines, same_line, same_message};

    const CLIENT: &str = "JOIN <word> <word>( <key>)?( <extension>){0,3}|MOVE <word> <word>|(ACK|RESIGN|WATCH|UNWATCH) <word>|SAY <word> <text>|DISCONNECT";
    const SERVER: &str = "(INFO|GAME_ABORTED) <text>|GAME_PAIRED <word> <word> <word> <time> <time>|\
        (GAME_STARTED|YOUR_MOVE|CLOCK_UPDATE|GAME_STATE) <word> <state>|PLAYER_MOVED <word> <word> <word> <state>|\
        GAME_OVER <word> (1-0|0-1|0\\.5-0\\.5) <text>|SAID <word> <text>|VARIANT <word> <word>|LEGAL_MOVES <word>( <move>){0,9}";
    /// Ends are trimmed, so texts have no white space there.
    const PARTS: &[(&str, &str)] = &[
        ("<state>", "<word> <word> <time> <time> [!-~]([ -~]{0,60}[!-~])?"),
        ("<word>", "[!-~é]{1,12}"),
        ("<key>", "[!-*,-~é][!-~é]{0,11}"),
        ("<extension>", "\\+(moves|protocol=(0|[1-9][0-9]{0,8})|[!-~é]{0,12})"),
        ("<move>", "[!-~]{1,8}"),
        ("<text>", "([ -~é]{0,30}[!-~é])?"),
        ("<time>", "(0|[1-9][0-9]{0,5})\\.[0-9]{2}"),
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_are_printed_as_they_were(client in lines(CLIENT, PARTS), server in lines(SERVER, PARTS)) {
            same_line::<FromClient>(&client)?;
            same_line::<FromServer>(&server)?;
        }

        #[test]
        fn any_line_is_parsed_or_refused(client in garbled(lines(CLIENT, PARTS)), server in garbled(lines(SERVER, PARTS))) {
            same_message::<FromClient>(&client)?;
            same_message::<FromServer>(&server)?;
        }
    }

    #[test]
    fn recorded_lines_are_printed_as_they_were() {
        for line in [
            "INFO Player bob joined tournament (2 active players)",
            "GAME_PAIRED d779c3 alice bob 10.00 0.10",
            "GAME_STARTED d779c3 alice bob 10.00 10.00 rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "YOUR_MOVE d779c3 alice bob 10.00 10.00 rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "PLAYER_MOVED d779c3 alice g2-g3 alice bob 10.06 10.00 rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1",
            "GAME_OVER e06b80 0.5-0.5 Insufficient material",
            "GAME_ABORTED bob did not acknowledge",
            "SAID bob good luck",
            "VARIANT d779c3 three-check",
            "LEGAL_MOVES d779c3 g2g3 e7e8q N@f3",
            "LEGAL_MOVES d779c3",
        ] {
            assert_eq!(FromServer::parse(line).unwrap().to_line(), line);
        }
        for line in [
            "JOIN class alice",
            "JOIN class alice k3y",
            "JOIN class alice +moves +protocol=1",
            "JOIN class alice k3y +protocol=2 +clock +protocol=01",
            "ACK d779c3",
            "MOVE d779c3 g2-g3",
            "SAY bob good luck",
            "DISCONNECT",
        ] {
            assert_eq!(FromClient::parse(line).unwrap().to_line(), line);
        }
    }

    #[test]
    fn words_that_begin_with_a_plus_are_extensions() {
        let Ok(FromClient::Join { key, extensions, .. }) =
            FromClient::parse("JOIN class alice +moves k3y +protocol=1 +protocol=x +")
        else {
            panic!()
        };
        let unknown = |name: &str| Extension::Unknown(name.to_owned());
        assert_eq!(
            extensions,
            [Extension::Moves, Extension::Protocol(1), unknown("protocol=x"), unknown("")]
        );
        assert_eq!(key, Some(Secret::of("k3y")));
        assert!(FromClient::parse("JOIN class alice +moves k3y 3yk").is_err());
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let error = FromServer::parse("GAME_PAIRED g alice bob ten 0.1").unwrap_err();
        assert_eq!(error.to_string(), "GAME_PAIRED: expected seconds, got 'ten'");
        let error = FromClient::parse("JOIN class my hush bot").unwrap_err().to_string();
        assert!(error.contains("without spaces") && !error.contains("hush"), "{error}");
        assert!(!format!("{:?}", FromClient::parse("JOIN class alice hush")).contains("hush"));
        assert_eq!(FromServer::parse("HELLO").unwrap_err().to_string(), "unknown message 'HELLO'");
    }

    #[test]
    fn clocks_below_zero_and_absurd_ones() {
        let Ok(FromServer::ClockUpdate(state)) = FromServer::parse("CLOCK_UPDATE g a b -0.01 1.5 8/8 w")
        else {
            panic!()
        };
        assert_eq!(state.left.0, [Duration::ZERO, Duration::from_millis(1500)]);
        for odd in ["1e19", "9223372036854775807", "1e300", "nan", "inf"] {
            match FromServer::parse(&format!("CLOCK_UPDATE g a b {odd} 1 8/8 w")) {
                Ok(FromServer::ClockUpdate(state)) => assert!(state.left.0[0] <= MAX_TIME, "{odd}"),
                other => assert!(other.is_err(), "{odd}: {other:?}"),
            }
        }
    }
}
