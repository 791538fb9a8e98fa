//! The result of a game in words.

use zeitnot_rules::Color;
use zeitnot_wire::lichess::Status;

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
        other => format!("over without a winner ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
