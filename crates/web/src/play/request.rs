//! Request for a table, and its checks.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeitnot_host::schema;
use zeitnot_referee::{Board, ServerBoard};
use zeitnot_rules::{ByColor, Color, GameError, GameKind, TimeControl, UnknownGame};

use super::level::Level;

/// Longest time of a clock, so that a table does not stay for ever.
const MAX_INITIAL: Duration = Duration::from_secs(3 * 3600);
const MAX_INCREMENT: Duration = Duration::from_secs(180);
/// Longest position in bytes.
const MAX_FEN: usize = 200;

/// Request for a table.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableRequest {
    /// Name of the game.
    #[schema(schema_with = schema::game_kind)]
    pub(crate) kind: String,
    /// Whether the pieces begin as in Chess960; for chess only.
    #[serde(default)]
    pub(crate) chess960: bool,
    pub(crate) opponent: Opponent,
    /// Side of the one who asks.
    #[serde(default)]
    pub(crate) color: ColorChoice,
    /// Seconds and increment of each side; no clock without it.
    #[serde(default)]
    #[schema(pattern = "^[0-9.]+(\\+[0-9.]+)?$", example = "300+3")]
    pub(crate) time_control: Option<String>,
    /// Position to begin from, in the form of the game.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub(crate) fen: Option<String>,
}

/// Opponent at a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Opponent {
    Bot(BotOpponent),
    /// The person who opens the invitation's link.
    Human,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BotOpponent {
    pub(crate) level: Level,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ColorChoice {
    White,
    Black,
    #[default]
    Random,
}

impl ColorChoice {
    fn draw(self) -> Color {
        match self {
            ColorChoice::White => Color::White,
            ColorChoice::Black => Color::Black,
            ColorChoice::Random => *fastrand::choice(&Color::BOTH).unwrap_or(&Color::White),
        }
    }
}

/// Table that was made. Not for a log: the tokens are secrets.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedTable {
    /// Id of the game, by which others can watch.
    pub(crate) game: String,
    /// Token of the seat of the one who asked, which is a secret.
    pub(crate) seat: String,
    /// Token of the opponent's seat, to be passed on; `null` against the bot.
    pub(crate) invitation: Option<String>,
}

/// Player in a seat.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Sitter {
    Human,
    Bot(Level),
}

/// Table as it was asked for.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) board: ServerBoard,
    pub(super) time_control: Option<TimeControl>,
    pub(super) sitters: ByColor<Sitter>,
    /// Side of the one who asked.
    pub(super) host: Color,
}

/// Request that cannot be fulfilled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadTable {
    #[error(transparent)]
    Game(#[from] UnknownGame),
    #[error(transparent)]
    Position(#[from] GameError),
    #[error("fen has more than {MAX_FEN} characters: send one position")]
    LongPosition,
    #[error("the game is over in that position: choose one with a legal move")]
    Over,
    #[error("chess960 goes with kind \"chess\" only: leave it out for {0}")]
    NotChess(&'static str),
    #[error("time_control: {0}")]
    TimeControl(String),
}

impl TableRequest {
    pub(super) fn check(self) -> Result<Setup, BadTable> {
        let kind: GameKind = self.kind.parse()?;
        if self.chess960 && kind != GameKind::Chess {
            return Err(BadTable::NotChess(kind.name()));
        }
        let fen = self.fen.as_deref().map(str::trim).filter(|fen| !fen.is_empty());
        if fen.is_some_and(|fen| fen.len() > MAX_FEN) {
            return Err(BadTable::LongPosition);
        }
        let board = ServerBoard::new(kind, self.chess960, fen)?;
        if board.outcome().is_over() {
            return Err(BadTable::Over);
        }
        let host = self.color.draw();
        let guest = match self.opponent {
            Opponent::Human => Sitter::Human,
            Opponent::Bot(BotOpponent { level }) => Sitter::Bot(level),
        };
        let mut sitters = ByColor::both(Sitter::Human);
        sitters[!host] = guest;
        let time_control = self.time_control.as_deref().map(time_control).transpose()?;
        Ok(Setup { board, time_control, sitters, host })
    }
}

fn time_control(text: &str) -> Result<TimeControl, BadTable> {
    let time: TimeControl =
        text.parse().map_err(|bad: zeitnot_rules::BadTimeControl| BadTable::TimeControl(bad.to_string()))?;
    if time.initial > MAX_INITIAL || time.increment > MAX_INCREMENT {
        let (initial, increment) = (MAX_INITIAL.as_secs(), MAX_INCREMENT.as_secs());
        let why = format!("at most {initial}+{increment} seconds; leave it out to play without a clock");
        return Err(BadTable::TimeControl(why));
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> Result<Setup, String> {
        let request: TableRequest = serde_json::from_str(json).map_err(|error| error.to_string())?;
        request.check().map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_against_the_bot_and_one_for_two() {
        let setup = check(r#"{"kind":"chess","opponent":{"bot":{"level":3}},"color":"black"}"#).unwrap();
        assert_eq!((setup.host, setup.sitters[Color::Black]), (Color::Black, Sitter::Human));
        assert_eq!(setup.sitters[Color::White], Sitter::Bot(3.try_into().unwrap()));
        assert_eq!(setup.time_control, None);
        let setup = check(r#"{"kind":"tuc","opponent":"human","time_control":"60+1","fen":null}"#).unwrap();
        assert_eq!(setup.sitters, ByColor::both(Sitter::Human));
        assert!(setup.time_control.is_some());
        for kind in GameKind::ALL {
            check(&format!(r#"{{"kind":"{}","opponent":"human"}}"#, kind.name())).unwrap();
        }
    }

    #[test]
    fn mistakes_say_what_to_do() {
        for (json, why) in [
            (r#"{"kind":"go","opponent":"human"}"#, "unknown game 'go'; known: chess"),
            (r#"{"kind":"chess","opponent":{"bot":{"level":9}}}"#, "choose one from 1 to 8"),
            (r#"{"kind":"chess","opponent":{"bot":{"level":1,"x":1}}}"#, "unknown field"),
            (r#"{"kind":"chess","opponent":"human","fen":"8/8"}"#, "is not a position of chess"),
            (r#"{"kind":"chess","opponent":"human","fen":"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}"#, "is over"),
            (r#"{"kind":"atomic","chess960":true,"opponent":"human"}"#, "leave it out for atomic"),
            (r#"{"kind":"chess","opponent":"human","time_control":"soon"}"#, "is not a time control"),
            (r#"{"kind":"chess","opponent":"human","time_control":"90000+0"}"#, "at most 10800+180"),
            (r#"{"kind":"chess","opponent":"human","colour":"white"}"#, "unknown field"),
            (r#"{"kind":"chess"}"#, "opponent"),
        ] {
            let error = check(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
        let long = format!(r#"{{"kind":"chess","opponent":"human","fen":"{}"}}"#, "8".repeat(MAX_FEN + 1));
        assert!(check(&long).unwrap_err().contains("send one position"));
    }
}
