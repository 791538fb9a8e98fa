//! Messages of a client: commands between games, answers during a game.

use std::time::Duration;

use super::{ColorChoice, Message, WireError, field, is_move, minutes, shorten, whole_seconds};

/// Command between games. White space separates words; command names are in lower case.
///
/// Without times the server's defaults apply to an offer; a single time is for both. The `game` of `Accept` is the
/// number as it was written. `Stop` and `Showpass` are for the administrator.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))] // elsewhere a password could slip into a log
#[allow(missing_docs)] // each field is named as in the protocol's document
pub enum Command {
    Help,
    Register { name: String, password: String },
    Me { name: String, password: String },
    Password { password: String },
    List,
    Ratings,
    Offer { color: ColorChoice, times: Option<Times> },
    Accept { game: String, color: ColorChoice },
    Clean,
    Rerate,
    Quit,
    Stop,
    Showpass { name: String },
}

/// Clocks of an offer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// The offering player's.
    pub ours: Duration,
    /// The opponent's.
    pub theirs: Duration,
}

/// Usage of each command; its name is the first word.
const USAGES: [&str; 13] = [
    "help",
    "register <name> <password>",
    "me <name> <password>",
    "password <password>",
    "list",
    "ratings",
    "offer [<color> [<time> [<opponent-time>]]]",
    "accept <game-id> [<color>]",
    "clean",
    "rerate",
    "quit",
    "stop",
    "showpass <name>",
];

impl Message for Command {
    fn parse(line: &str) -> Result<Self, WireError> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let usage = USAGES.iter().find(|usage| usage.split(' ').next() == Some(name));
        let usage = usage.ok_or_else(|| WireError::Unknown(shorten(name)))?;
        let name = usage.split(' ').next().unwrap_or_default();
        let rest: Vec<&str> = words.by_ref().take(4).collect();
        // The rest may hold a password, so the error does not repeat it.
        read(name, &rest).ok_or_else(|| field(name, usage, "something else"))
    }

    fn to_line(&self) -> String {
        match self {
            Command::Register { name, password } => format!("register {name} {password}"),
            Command::Me { name, password } => format!("me {name} {password}"),
            Command::Password { password } => format!("password {password}"),
            Command::Offer { color, times: None } => format!("offer {color}"),
            Command::Offer { color, times: Some(Times { ours, theirs }) } => {
                format!("offer {color} {} {}", minutes(*ours), minutes(*theirs))
            }
            Command::Accept { game, color: ColorChoice::Any } => format!("accept {game}"),
            Command::Accept { game, color } => format!("accept {game} {color}"),
            Command::Showpass { name } => format!("showpass {name}"),
            Command::Help => "help".to_owned(),
            Command::List => "list".to_owned(),
            Command::Ratings => "ratings".to_owned(),
            Command::Clean => "clean".to_owned(),
            Command::Rerate => "rerate".to_owned(),
            Command::Quit => "quit".to_owned(),
            Command::Stop => "stop".to_owned(),
        }
    }
}

fn read(name: &str, rest: &[&str]) -> Option<Command> {
    let owned = |word: &str| word.to_owned();
    Some(match (name, rest) {
        ("help", []) => Command::Help,
        ("register", [name, password]) => Command::Register { name: owned(name), password: owned(password) },
        ("me", [name, password]) => Command::Me { name: owned(name), password: owned(password) },
        ("password", [password]) => Command::Password { password: owned(password) },
        ("list", []) => Command::List,
        ("ratings", []) => Command::Ratings,
        ("offer", rest) => offer(rest)?,
        ("accept", [game]) => Command::Accept { game: owned(game), color: ColorChoice::Any },
        ("accept", [game, color]) => Command::Accept { game: owned(game), color: ColorChoice::read(color)? },
        ("clean", []) => Command::Clean,
        ("rerate", []) => Command::Rerate,
        ("quit", []) => Command::Quit,
        ("stop", []) => Command::Stop,
        ("showpass", [name]) => Command::Showpass { name: owned(name) },
        _ => return None,
    })
}

fn offer(rest: &[&str]) -> Option<Command> {
    let (color, times) = match rest.split_first() {
        None => (ColorChoice::Any, rest),
        Some((color, times)) => (ColorChoice::read(color)?, times),
    };
    let times = match times {
        [] => None,
        [both] => {
            let both = whole_seconds(both)?;
            Some(Times { ours: both, theirs: both })
        }
        [ours, theirs] => Some(Times { ours: whole_seconds(ours)?, theirs: whole_seconds(theirs)? }),
        _ => return None,
    };
    Some(Command::Offer { color, times })
}

/// Answer of a client that is to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A move such as `a2-a3`.
    Move(String),
    /// Resigns.
    Resign,
}

impl Message for Answer {
    fn parse(line: &str) -> Result<Self, WireError> {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        match words.as_slice() {
            ["resign"] => Ok(Answer::Resign),
            [mv] | ["!", mv] if is_move(mv) => Ok(Answer::Move((*mv).to_owned())),
            _ => Err(WireError::Unknown(shorten(line))),
        }
    }

    fn to_line(&self) -> String {
        match self {
            Answer::Move(mv) => mv.clone(),
            Answer::Resign => "resign".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::PARTS, *};
    use crate::testing::{garbled, lines, same_line, same_message};

    const COMMAND: &str = "help|list|ratings|clean|rerate|quit|stop|(register|me) <word> <word>|\
        (password|showpass) <word>|offer [WB?]( <minutes> <minutes>)?|accept <word>( [WB])?";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_are_printed_as_they_were(command in lines(COMMAND, PARTS), answer in lines("<move>|resign", PARTS)) {
            same_line::<Command>(&command)?;
            same_line::<Answer>(&answer)?;
        }

        #[test]
        fn any_line_is_parsed_or_refused(line in garbled(lines(COMMAND, PARTS)), answer in garbled(lines("! <move>", PARTS))) {
            same_message::<Command>(&line)?;
            same_message::<Answer>(&answer)?;
        }
    }

    #[test]
    fn commands_and_answers_are_parsed() {
        let times = |ours, theirs| {
            Some(Times { ours: Duration::from_secs(ours), theirs: Duration::from_secs(theirs) })
        };
        for (line, color, expected) in [
            ("offer", ColorChoice::Any, None),
            ("  offer   w\t60 ", ColorChoice::read("W").unwrap(), times(60, 60)),
            ("offer ? 60 1:30", ColorChoice::Any, times(60, 90)),
        ] {
            assert_eq!(Command::parse(line), Ok(Command::Offer { color, times: expected }), "{line}");
        }
        for wrong in
            ["offer X", "offer W 1:5", "offer W 1 2 3", "accept", "accept 1 Q", "me alice", "help me"]
        {
            let WireError::Field { message, .. } = Command::parse(wrong).unwrap_err() else { panic!() };
            assert!(wrong.starts_with(message));
        }
        assert!(matches!(Command::parse("HELP"), Err(WireError::Unknown(_))));
        assert_eq!(Answer::parse("! a2-a3"), Ok(Answer::Move("a2-a3".into())));
        assert_eq!(Answer::parse(" resign "), Ok(Answer::Resign));
        for wrong in ["!a2-a3", "a2a3", "A2-A3", "a2-a7", "a2-a3 x", "", "resign now"] {
            assert!(Answer::parse(wrong).is_err(), "{wrong}");
        }
    }
}
