//! Results of games and their causes.

use std::fmt;

use zeitnot_rules::{GameResult, Reason};

/// Result of a game, and its cause.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// `None` for a game that was aborted.
    pub result: Option<GameResult>,
    /// Cause of the end.
    pub cause: Cause,
}

impl Ending {
    /// Result as in PGN.
    pub fn result_text(self) -> &'static str {
        self.result.map_or("*", GameResult::as_str)
    }
}

/// Cause of a game's end.
#[allow(missing_docs)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    Rules(Reason),
    OutOfTime,
    Resignation,
    Disconnect,
    /// Where an illegal move loses.
    IllegalMove,
    /// Both players agreed on a draw.
    Agreement,
    /// By the scores of both players.
    Adjudicated,
    /// The game reached its maximum number of moves.
    TooLong,
    /// The game reached its time limit.
    TimeLimit,
    /// A move that was not on the clock was not made in time.
    NoMove,
    /// A player aborted the game before it had begun.
    Aborted,
    /// A player had left before the game began.
    Absent,
    /// An error of ours; it is not the players' fault.
    InternalError,
    Shutdown,
    /// The organiser has decided it.
    Organiser,
}

impl Cause {
    /// Value of PGN's `Termination` tag.
    pub fn termination(self) -> &'static str {
        match self {
            Cause::Rules(_) | Cause::Resignation | Cause::Agreement => "normal",
            Cause::OutOfTime | Cause::TimeLimit => "time forfeit",
            Cause::IllegalMove => "rules infraction",
            Cause::Adjudicated | Cause::TooLong | Cause::Organiser => "adjudication",
            Cause::Disconnect
            | Cause::NoMove
            | Cause::Aborted
            | Cause::Absent
            | Cause::InternalError
            | Cause::Shutdown => "abandoned",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Rules(reason) => return reason.fmt(f),
            Cause::OutOfTime => "Out of time",
            Cause::Resignation => "Resignation",
            Cause::Disconnect => "Resignation by disconnect",
            Cause::IllegalMove => "Illegal move",
            Cause::Agreement => "Draw by agreement",
            Cause::Adjudicated => "Adjudication",
            Cause::TooLong => "Too many moves",
            Cause::TimeLimit => "Time limit of the game",
            Cause::NoMove => "No move was made",
            Cause::Aborted => "Aborted",
            Cause::Absent => "A player has left",
            Cause::InternalError => "The game broke down",
            Cause::Shutdown => "The arena is shutting down",
            Cause::Organiser => "Forfeit by the organiser",
        })
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{Color, GameKind};

    use super::*;

    #[test]
    fn results_are_written_as_in_pgn() {
        for (result, text) in [
            (Some(GameResult::Won(Color::White)), "1-0"),
            (Some(GameResult::Won(Color::Black)), "0-1"),
            (Some(GameResult::Draw), "1/2-1/2"),
            (None, "*"),
        ] {
            assert_eq!(Ending { result, cause: Cause::Shutdown }.result_text(), text);
        }
    }

    #[test]
    fn causes_are_told_and_have_a_termination_of_pgn() {
        for (cause, termination, text) in [
            (Cause::Rules(Reason::Checkmate), "normal", "Checkmate"),
            (Cause::Rules(Reason::VariantEnd(GameKind::ThreeCheck)), "normal", "Third check"),
            (Cause::Resignation, "normal", "Resignation"),
            (Cause::OutOfTime, "time forfeit", "Out of time"),
            (Cause::IllegalMove, "rules infraction", "Illegal move"),
            (Cause::Organiser, "adjudication", "Forfeit by the organiser"),
            (Cause::NoMove, "abandoned", "No move was made"),
        ] {
            assert_eq!((cause.termination(), cause.to_string().as_str()), (termination, text));
        }
    }
}
