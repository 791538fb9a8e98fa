//! A game in words for people.

use zeitnot_rules::Color;
use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{GameState, Player, Status, UserId};

/// How a game ended.
pub(super) fn result(state: &GameState) -> String {
    ending(&state.status, state.winner)
}

/// The same, as the account's events tell it.
pub(in super::super) fn ending(status: &Status, winner: Option<Color>) -> String {
    let Some(winner) = winner else { return undecided(status) };
    let loser = !winner;
    match status {
        Status::Mate => format!("{winner} wins by checkmate"),
        Status::OutOfTime => format!("{winner} wins on time"),
        Status::VariantEnd => format!("{winner} wins by the variant's rules"),
        Status::Resign => format!("{winner} wins: {loser} resigned"),
        Status::Timeout => format!("{winner} wins: {loser} left the game"),
        Status::NoStart => format!("{winner} wins: {loser} did not begin"),
        Status::Cheat => format!("{winner} wins: {loser} cheated"),
        other => format!("{winner} wins ({other})"),
    }
}

fn undecided(status: &Status) -> String {
    match status {
        Status::Draw => "a draw, by agreement or by rule".to_owned(),
        Status::Stalemate => "a draw by stalemate".to_owned(),
        Status::OutOfTime => "a draw: time ran out, but who has time left cannot mate".to_owned(),
        Status::Timeout => "a draw: a player left the game".to_owned(),
        Status::InsufficientMaterialClaim => "a draw: nobody can mate any more".to_owned(),
        Status::Aborted => "aborted".to_owned(),
        Status::NoStart => "aborted: somebody did not begin".to_owned(),
        other => format!("over, without a winner ({other})"),
    }
}

/// A program, or not?
pub(super) fn kind(player: &Player) -> Opponent {
    let is_bot =
        player.ai_level.is_some() || player.title.as_ref().is_some_and(|title| title.as_str() == "BOT");
    if is_bot { Opponent::Bot } else { Opponent::Human }
}

/// Who plays.
pub(super) fn name(player: &Player) -> String {
    match (player.ai_level, player.name.as_str()) {
        (Some(level), _) => format!("Stockfish level {level}"),
        (None, "") => player.id.as_ref().map_or_else(|| "anonymous".to_owned(), UserId::to_string),
        (None, name) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_says_who_won_and_why() {
        for (status, winner, words) in [
            (Status::Mate, Some(Color::White), "white wins by checkmate"),
            (Status::Resign, Some(Color::Black), "black wins: white resigned"),
            (Status::OutOfTime, Some(Color::Black), "black wins on time"),
            (Status::OutOfTime, None, "a draw: time ran out, but who has time left cannot mate"),
            (Status::Aborted, None, "aborted"),
            ("brandNew".into(), Some(Color::White), "white wins (brandNew)"),
            ("brandNew".into(), None, "over, without a winner (brandNew)"),
        ] {
            assert_eq!(ending(&status, winner), words);
        }
        // Each that we know has words of its own.
        for status in Status::KNOWN.iter().filter(|status| status.is_over()) {
            assert_ne!(ending(status, None), ending(status, Some(Color::White)));
        }
    }
}
