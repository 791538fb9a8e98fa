//! The contest protocol: `ACTION rest of the line`, fields separated by single spaces, a FEN last.
//!
//! Source: the protocol of github.com/ammonb/chess-contest-server, as its server speaks it.

use std::time::Duration;

use zeitnot_rules::{ByColor, Color, GameResult, MoveText, TimeControl};

use super::{Message, WireError, shorten};

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each field is named as in the protocol's document
pub enum FromClient {
    /// The first message of a player.
    Join { tournament: String, player: String },
    /// Ready for the game of `GAME_PAIRED`.
    Ack { game: String },
    /// The answer to `YOUR_MOVE`: coordinates, as [`FromServer::PlayerMoved`] tells them too.
    Move { game: String, mv: String },
    /// Gives up.
    Resign { game: String },
    /// Chat.
    Say { player: String, text: String },
    /// Observes a game.
    Watch { game: String },
    /// No longer observes a game.
    Unwatch { game: String },
    /// Leaves.
    Disconnect,
}

/// What a server says.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FromServer {
    /// Anything for people to read; nothing for a program to rely on.
    Info { text: String },
    /// A game is about to begin, as soon as both players ack.
    GamePaired { game: String, names: ByColor<String>, time_control: TimeControl },
    /// It begins.
    GameStarted(State),
    /// The receiver is to move.
    YourMove(State),
    /// Every five seconds, to both players.
    ClockUpdate(State),
    /// The answer to `WATCH`.
    GameState(State),
    /// A move was played; the state is the one after it.
    PlayerMoved { mover: String, mv: String, state: State },
    /// The end of a game.
    GameOver { game: String, result: GameResult, reason: String },
    /// A game that was paired does not take place.
    GameAborted { reason: String },
    /// Chat.
    Said { sender: String, text: String },
}

/// A game as the server sees it. The names tell which clock is whose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct State {
    pub game: String,
    pub names: ByColor<String>,
    /// Sent with two decimals of a second.
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

/// A move as this protocol's clients send it: `e2-e4`, `e7-e8=Q`, castling as the king's move.
///
/// ```
/// use zeitnot_rules::MoveText;
/// use zeitnot_wire::contest::long_algebraic;
/// assert_eq!(long_algebraic(&MoveText::new("e2e4").unwrap()), "e2-e4");
/// assert_eq!(long_algebraic(&MoveText::new("e7e8q").unwrap()), "e7-e8=Q");
/// ```
pub fn long_algebraic(mv: &MoveText) -> String {
    match (mv.as_str().get(..2), mv.as_str().get(2..4), mv.as_str().get(4..)) {
        (Some(from), Some(to), Some("")) => format!("{from}-{to}"),
        (Some(from), Some(to), Some(role)) => format!("{from}-{to}={}", role.to_ascii_uppercase()),
        _ => mv.to_string(),
    }
}

/// Walks over the fields of one message.
struct Fields<'l> {
    message: &'static str,
    rest: &'l str,
}

impl<'l> Fields<'l> {
    fn error(&self, expected: &'static str, got: &str) -> WireError {
        WireError::Field { message: self.message, expected, got: shorten(got) }
    }

    fn word(&mut self, expected: &'static str) -> Result<&'l str, WireError> {
        let (word, rest) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
        // Only spaces part fields: what else looks empty must not pass for a name.
        if word.is_empty() || word.contains(char::is_whitespace) {
            return Err(self.error(expected, word));
        }
        self.rest = rest;
        Ok(word)
    }

    fn owned(&mut self, expected: &'static str) -> Result<String, WireError> {
        self.word(expected).map(str::to_owned)
    }

    /// The protocol's clocks can dip below zero by a hair; nobody has less than no time.
    fn seconds(&mut self) -> Result<Duration, WireError> {
        let word = self.word("seconds")?;
        let seconds: f64 = word.parse().map_err(|_| self.error("seconds", word))?;
        Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|_| self.error("seconds", word))
    }

    fn names(&mut self) -> Result<ByColor<String>, WireError> {
        Ok(ByColor([self.owned("the name of White")?, self.owned("the name of Black")?]))
    }

    /// Everything that is left; may be empty.
    fn tail(&mut self) -> String {
        std::mem::take(&mut self.rest).to_owned()
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
        let game = self.owned("a game")?;
        self.state_of(game)
    }
}

/// The message's name, upper-cased as the server does it, and the rest of the line.
fn split(line: &str) -> (String, &str) {
    let line = line.trim();
    let (action, rest) = line.split_once(' ').unwrap_or((line, ""));
    (action.to_ascii_uppercase(), rest)
}

impl Message for FromClient {
    fn parse(line: &str) -> Result<Self, WireError> {
        let (action, rest) = split(line);
        let fields = |message| Fields { message, rest };
        Ok(match action.as_str() {
            "JOIN" => {
                let mut f = fields("JOIN");
                FromClient::Join { tournament: f.owned("a tournament")?, player: f.owned("a player")? }
            }
            "ACK" => FromClient::Ack { game: fields("ACK").owned("a game")? },
            "MOVE" => {
                let mut f = fields("MOVE");
                FromClient::Move { game: f.owned("a game")?, mv: f.owned("a move")? }
            }
            "RESIGN" => FromClient::Resign { game: fields("RESIGN").owned("a game")? },
            "SAY" => {
                let mut f = fields("SAY");
                FromClient::Say { player: f.owned("a player")?, text: f.tail() }
            }
            "WATCH" => FromClient::Watch { game: fields("WATCH").owned("a game")? },
            "UNWATCH" => FromClient::Unwatch { game: fields("UNWATCH").owned("a game")? },
            "DISCONNECT" => FromClient::Disconnect,
            other => return Err(WireError::Unknown(shorten(other))),
        })
    }

    fn print(&self, out: &mut String) {
        match self {
            FromClient::Join { tournament, player } => out.extend(["JOIN ", tournament, " ", player]),
            FromClient::Ack { game } => out.extend(["ACK ", game]),
            FromClient::Move { game, mv } => out.extend(["MOVE ", game, " ", mv]),
            FromClient::Resign { game } => out.extend(["RESIGN ", game]),
            FromClient::Say { player, text } => out.extend(["SAY ", player, " ", text]),
            FromClient::Watch { game } => out.extend(["WATCH ", game]),
            FromClient::Unwatch { game } => out.extend(["UNWATCH ", game]),
            FromClient::Disconnect => out.push_str("DISCONNECT"),
        }
    }
}

impl Message for FromServer {
    fn parse(line: &str) -> Result<Self, WireError> {
        let (action, rest) = split(line);
        let fields = |message| Fields { message, rest };
        Ok(match action.as_str() {
            "INFO" => FromServer::Info { text: rest.to_owned() },
            "GAME_PAIRED" => {
                let mut f = fields("GAME_PAIRED");
                FromServer::GamePaired {
                    game: f.owned("a game")?,
                    names: f.names()?,
                    time_control: TimeControl { initial: f.seconds()?, increment: f.seconds()? },
                }
            }
            "GAME_STARTED" => FromServer::GameStarted(fields("GAME_STARTED").state()?),
            "YOUR_MOVE" => FromServer::YourMove(fields("YOUR_MOVE").state()?),
            "CLOCK_UPDATE" => FromServer::ClockUpdate(fields("CLOCK_UPDATE").state()?),
            "GAME_STATE" => FromServer::GameState(fields("GAME_STATE").state()?),
            "PLAYER_MOVED" => {
                let mut f = fields("PLAYER_MOVED");
                let game = f.owned("a game")?;
                let (mover, mv) = (f.owned("a player")?, f.owned("a move")?);
                FromServer::PlayerMoved { mover, mv, state: f.state_of(game)? }
            }
            "GAME_OVER" => {
                let mut f = fields("GAME_OVER");
                let game = f.owned("a game")?;
                let word = f.word("a result")?;
                let result = match word {
                    "1-0" => GameResult::Won(Color::White),
                    "0-1" => GameResult::Won(Color::Black),
                    "0.5-0.5" | "1/2-1/2" => GameResult::Draw,
                    other => return Err(f.error("1-0, 0-1 or 0.5-0.5", other)),
                };
                FromServer::GameOver { game, result, reason: f.tail() }
            }
            "GAME_ABORTED" => FromServer::GameAborted { reason: rest.to_owned() },
            "SAID" => {
                let mut f = fields("SAID");
                FromServer::Said { sender: f.owned("a sender")?, text: f.tail() }
            }
            other => return Err(WireError::Unknown(shorten(other))),
        })
    }

    fn print(&self, out: &mut String) {
        // Cut off, not rounded: nobody is told more time than there is.
        let seconds = |d: &Duration| format!("{}.{:02}", d.as_secs(), d.subsec_millis() / 10);
        let state = |out: &mut String, s: &State| {
            let [white, black] = &s.names.0;
            let [white_left, black_left] = &s.left.0;
            out.extend([
                white,
                " ",
                black,
                " ",
                &seconds(white_left),
                " ",
                &seconds(black_left),
                " ",
                &s.fen,
            ]);
        };
        let named = |out: &mut String, name: &str, s: &State| {
            out.extend([name, " ", &s.game, " "]);
            state(out, s);
        };
        match self {
            FromServer::Info { text } => out.extend(["INFO ", text]),
            FromServer::GamePaired { game, names, time_control: tc } => {
                let [white, black] = &names.0;
                out.extend(["GAME_PAIRED ", game, " ", white, " ", black]);
                out.extend([" ", &seconds(&tc.initial), " ", &seconds(&tc.increment)]);
            }
            FromServer::GameStarted(s) => named(out, "GAME_STARTED", s),
            FromServer::YourMove(s) => named(out, "YOUR_MOVE", s),
            FromServer::ClockUpdate(s) => named(out, "CLOCK_UPDATE", s),
            FromServer::GameState(s) => named(out, "GAME_STATE", s),
            FromServer::PlayerMoved { mover, mv, state: s } => {
                out.extend(["PLAYER_MOVED ", &s.game, " ", mover, " ", mv, " "]);
                state(out, s);
            }
            FromServer::GameOver { game, result, reason } => {
                out.extend(["GAME_OVER ", game, " ", result_text(*result), " ", reason]);
            }
            FromServer::GameAborted { reason } => out.extend(["GAME_ABORTED ", reason]),
            FromServer::Said { sender, text } => out.extend(["SAID ", sender, " ", text]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        "[!-~é]{1,12}"
    }

    /// Ends are trimmed, as the server does it.
    fn text() -> impl Strategy<Value = String> {
        "([ -~é]{0,30}[!-~é])?"
    }

    fn names() -> impl Strategy<Value = ByColor<String>> {
        [word(), word()].prop_map(ByColor)
    }

    /// Seconds with two decimals.
    fn seconds() -> impl Strategy<Value = Duration> {
        (0..10_000_000u64).prop_map(|hundredths| Duration::from_millis(10 * hundredths))
    }

    fn state() -> impl Strategy<Value = State> {
        (word(), names(), [seconds(), seconds()], "[!-~]([ -~]{0,60}[!-~])?")
            .prop_map(|(game, names, left, fen)| State { game, names, left: ByColor(left), fen })
    }

    fn from_client() -> impl Strategy<Value = FromClient> {
        use FromClient as C;
        prop_oneof![
            (word(), word()).prop_map(|(tournament, player)| C::Join { tournament, player }),
            word().prop_map(|game| C::Ack { game }),
            (word(), word()).prop_map(|(game, mv)| C::Move { game, mv }),
            word().prop_map(|game| C::Resign { game }),
            (word(), text()).prop_map(|(player, text)| C::Say { player, text }),
            word().prop_map(|game| C::Watch { game }),
            word().prop_map(|game| C::Unwatch { game }),
            Just(C::Disconnect),
        ]
    }

    fn from_server() -> impl Strategy<Value = FromServer> {
        use FromServer as S;
        let results = [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
        let time_control =
            (seconds(), seconds()).prop_map(|(initial, increment)| TimeControl { initial, increment });
        prop_oneof![
            text().prop_map(|text| S::Info { text }),
            (word(), names(), time_control).prop_map(|(game, names, time_control)| S::GamePaired {
                game,
                names,
                time_control
            }),
            state().prop_map(S::GameStarted),
            state().prop_map(S::YourMove),
            state().prop_map(S::ClockUpdate),
            state().prop_map(S::GameState),
            (word(), word(), state()).prop_map(|(mover, mv, state)| S::PlayerMoved { mover, mv, state }),
            (word(), prop::sample::select(results.to_vec()), text())
                .prop_map(|(game, result, reason)| S::GameOver { game, result, reason }),
            text().prop_map(|reason| S::GameAborted { reason }),
            (word(), text()).prop_map(|(sender, text)| S::Said { sender, text }),
        ]
    }

    proptest! {
        #[test]
        fn what_a_client_says_is_understood(message in from_client()) {
            prop_assert_eq!(FromClient::parse(&message.to_line()), Ok(message));
        }

        #[test]
        fn what_a_server_says_is_understood(message in from_server()) {
            prop_assert_eq!(FromServer::parse(&message.to_line()), Ok(message));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = FromClient::parse(&text);
            let _ = FromServer::parse(&text);
        }
    }

    #[test]
    fn the_lines_seen_on_the_wire_come_back_as_they_were() {
        for line in [
            "INFO Player bob joined tournament (2 active players)",
            "GAME_PAIRED d779c3 alice bob 10.00 0.10",
            "GAME_STARTED d779c3 alice bob 10.00 10.00 rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "YOUR_MOVE d779c3 alice bob 10.00 10.00 rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "PLAYER_MOVED d779c3 alice g2-g3 alice bob 10.06 10.00 rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1",
            "GAME_OVER e06b80 0.5-0.5 Insufficient material",
            "GAME_ABORTED bob did not acknowledge",
            "SAID bob good luck",
        ] {
            assert_eq!(FromServer::parse(line).unwrap().to_line(), line);
        }
        for line in ["JOIN class alice", "ACK d779c3", "MOVE d779c3 g2-g3", "SAY bob good luck", "DISCONNECT"]
        {
            assert_eq!(FromClient::parse(line).unwrap().to_line(), line);
        }
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let error = FromServer::parse("GAME_PAIRED g alice bob ten 0.1").unwrap_err();
        assert_eq!(error.to_string(), "GAME_PAIRED: expected seconds, got 'ten'");
        assert_eq!(FromServer::parse("HELLO").unwrap_err().to_string(), "unknown message 'HELLO'");
    }

    #[test]
    fn clocks_below_zero_and_absurd_ones() {
        let Ok(FromServer::ClockUpdate(state)) = FromServer::parse("CLOCK_UPDATE g a b -0.01 1.5 8/8 w")
        else {
            panic!()
        };
        assert_eq!(state.left.0, [Duration::ZERO, Duration::from_millis(1500)]);
        for odd in ["1e300", "nan", "inf"] {
            let parsed = FromServer::parse(&format!("CLOCK_UPDATE g a b {odd} 1 8/8 w"));
            assert!(parsed.is_err() || odd == "nan", "{odd}: {parsed:?}");
        }
    }
}
