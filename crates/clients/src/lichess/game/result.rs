//! The result of a game: who has won, and in words.

use zeitnot_rules::{Color, GameResult, Outcome, Reason};
use zeitnot_wire::lichess::Status;

/// End of a game as the account hears of it, beside the game's own stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub enum GameFinish {
    /// The account's events tell it.
    Told {
        /// Status at its end.
        status: Status,
        /// Winner, if there is one.
        winner: Option<Color>,
    },
    /// The server no longer lists the game, and does not say how it ended.
    Unlisted,
    /// Its clocks must have run out, and the server does not answer.
    Unanswered,
}

impl GameFinish {
    pub(crate) fn describe(&self) -> String {
        match self {
            GameFinish::Told { status, winner } => describe(status, *winner),
            GameFinish::Unlisted => "unknown: the server no longer lists it".to_owned(),
            GameFinish::Unanswered => "unknown: the server does not answer".to_owned(),
        }
    }
}

/// Returns the result; `None` while the game runs, and where it does not count.
pub(crate) fn outcome(status: &Status, winner: Option<Color>) -> Option<GameResult> {
    match status {
        Status::Created | Status::Started => None,
        _ if winner.is_some() => winner.map(GameResult::Won),
        Status::Aborted | Status::NoStart | Status::UnknownFinish | Status::Other(_) => None,
        _ => Some(GameResult::Draw),
    }
}

/// Returns how a game ends by its rules: the status and the winner. `None`: it goes on.
pub(crate) fn by_rules(outcome: Outcome) -> Option<(Status, Option<Color>)> {
    match outcome {
        Outcome::Ongoing => None,
        Outcome::Draw(Reason::Stalemate) => Some((Status::Stalemate, None)),
        Outcome::Draw(_) => Some((Status::Draw, None)),
        Outcome::Win(winner, Reason::Checkmate) => Some((Status::Mate, Some(winner))),
        Outcome::Win(winner, _) => Some((Status::VariantEnd, Some(winner))),
    }
}

pub(crate) fn describe(status: &Status, winner: Option<Color>) -> String {
    let Some(winner) = winner else { return describe_draw(status) };
    let loser = !winner;
    match status {
        Status::Mate => format!("{winner} wins by checkmate"),
        Status::OutOfTime => format!("{winner} wins on time"),
        Status::VariantEnd => format!("{winner} wins by the rules of the variant"),
        Status::Resign => format!("{winner} wins: {loser} resigned"),
        Status::Timeout => format!("{winner} wins: {loser} left the game"),
        Status::NoStart => format!("{winner} wins: {loser} made no move"),
        Status::Cheat => format!("{winner} wins: {loser} cheated"),
        other => format!("{winner} wins ({other})"),
    }
}

fn describe_draw(status: &Status) -> String {
    match status {
        Status::Draw => "draw by agreement or by rule".to_owned(),
        Status::Stalemate => "draw by stalemate".to_owned(),
        Status::OutOfTime => "draw: time ran out, but the opponent cannot mate".to_owned(),
        Status::Timeout => "draw: a player left the game".to_owned(),
        Status::InsufficientMaterialClaim => "draw by insufficient material".to_owned(),
        Status::Aborted => "aborted".to_owned(),
        Status::NoStart => "aborted: a player made no move".to_owned(),
        Status::UnknownFinish => "over: the server does not tell the result".to_owned(),
        other => format!("over without a winner ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_games_that_count_have_a_result() {
        let won = Some(GameResult::Won(Color::Black));
        for (status, winner, expected) in [
            (Status::Resign, Some(Color::Black), won),
            (Status::NoStart, Some(Color::Black), won),
            (Status::Stalemate, None, Some(GameResult::Draw)),
            (Status::OutOfTime, None, Some(GameResult::Draw)),
            (Status::Started, None, None),
            (Status::Aborted, None, None),
            ("brandNew".into(), None, None),
        ] {
            assert_eq!(outcome(&status, winner), expected, "{status}");
        }
    }

    #[test]
    fn a_result_names_the_winner_and_the_reason() {
        for (status, winner, words) in [
            (Status::Mate, Some(Color::White), "white wins by checkmate"),
            (Status::Resign, Some(Color::Black), "black wins: white resigned"),
            (Status::OutOfTime, Some(Color::Black), "black wins on time"),
            (Status::OutOfTime, None, "draw: time ran out, but the opponent cannot mate"),
            (Status::Aborted, None, "aborted"),
            ("brandNew".into(), Some(Color::White), "white wins (brandNew)"),
            ("brandNew".into(), None, "over without a winner (brandNew)"),
        ] {
            assert_eq!(describe(&status, winner), words);
        }
        // Each known status has words of its own.
        for status in Status::KNOWN.iter().filter(|status| status.is_over()) {
            assert_ne!(describe(status, None), describe(status, Some(Color::White)));
        }
    }
}
