//! Result of a game, as the server tells it.

use zeitnot_rules::Color;
use zeitnot_wire::{
    Message,
    imcs::{FromServer, Verdict},
};

use super::connection::ConnectionError;

/// Returns whether a move of this side that the server has not answered was played. One that came too late was not, and
/// then the opponent has won for a reason beside the board.
pub(super) fn counts_last_move(verdict: &Verdict, color: Color) -> bool {
    verdict.how.is_empty() || verdict.winner == Some(color)
}

/// Returns the result from a numbered reply, in case the line before it was lost.
pub(super) fn verdict(code: u16, text: &str) -> Result<Option<Verdict>, ConnectionError> {
    let winner = match code {
        230 => None,
        231 => Some(Color::White),
        232 => Some(Color::Black),
        400.. => return Err(ConnectionError::BrokenOff(format!("{code} {text}"))),
        _ => return Ok(None),
    };
    match FromServer::parse(&format!("= {text}")) {
        Ok(FromServer::Over(verdict)) => Ok(Some(verdict)),
        _ => Ok(Some(Verdict { winner, how: text.to_owned() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_came_too_late_does_not_count() {
        for (code, text, counts) in [
            (231, "W wins", true),
            (230, "draw", true),
            (231, "W wins on opponent time", true),
            (231, "W wins on opponent resignation", true),
            (232, "B wins on opponent time", false),
            (232, "odd words", false),
        ] {
            let verdict = verdict(code, text).unwrap().unwrap();
            assert_eq!(counts_last_move(&verdict, Color::White), counts, "{text}");
        }
    }
}
