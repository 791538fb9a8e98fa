//! One game of two programs, by the rules of the course.

use std::{fmt, time::Duration};

use zeitnot_rules::{
    ByColor, Color, Game as _, Outcome, Reason,
    minichess::{Mini2023, Square},
};

use super::{
    super::{CliError, print},
    turn::{Files, Turn},
};

/// Two programs and what they play by.
pub(super) struct Game<'g> {
    /// The shell phrases.
    pub players: ByColor<&'g str>,
    pub files: &'g Files,
    /// For a move.
    pub time: Duration,
    /// Then material decides.
    pub plies: u16,
}

/// A game that is over.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Played {
    pub winner: Option<Color>,
    pub why: Why,
    pub plies: u16,
}

/// What ended it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The loser wrote no complete group.
    NoAction,
    /// The loser's last group was no legal move.
    IllegalAction,
    /// The rules.
    Rules(Reason),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::NoAction => "no-action",
            Why::IllegalAction => "illegal-action",
            Why::Rules(Reason::KingEnPrise) => "king-en-prise",
            Why::Rules(Reason::MoveLimit) => "material",
            Why::Rules(Reason::NoMoves) => "no-moves",
            Why::Rules(_) => "rules",
        })
    }
}

impl Game<'_> {
    /// Plays it to its end, and tells of each ply.
    pub async fn play(&self) -> Result<Played, CliError> {
        let mut position = Mini2023::start();
        for ply in 1..=self.plies {
            let side = position.side();
            let asked = self.files.ask(self.players[side], &position, self.time).await;
            let Turn { action, took } = asked
                .map_err(|source| CliError::Io { doing: "cannot run a program for its move", source })?;
            let legal = action.last.filter(|mv| position.moves().contains(mv));
            let Some(mv) = legal else {
                tell(&format!("{ply} step: Invalid Action"))?;
                let why = if action.groups == 0 { Why::NoAction } else { Why::IllegalAction };
                return Ok(Played { winner: Some(!side), why, plies: ply - 1 });
            };
            let (from, to, depth) = (shown(mv.from), shown(mv.to), action.groups);
            tell(&format!("{ply} step: {from} → {to}  (Depth: {depth}, {:.2} s)", took.as_secs_f64()))?;
            position.play(mv);
            position = position.before_the_end(self.plies - ply);
            let (winner, reason) = match position.outcome() {
                Outcome::Ongoing => continue,
                Outcome::Draw(reason) => (None, reason),
                Outcome::Win(side, reason) => (Some(side), reason),
            };
            return Ok(Played { winner, why: Why::Rules(reason), plies: ply });
        }
        // The last ply has an outcome always; without a ply there is nothing to decide.
        Ok(Played { winner: None, why: Why::Rules(Reason::MoveLimit), plies: self.plies })
    }
}

fn tell(line: &str) -> Result<(), CliError> {
    print(|out| std::io::Write::write_all(out, format!("{line}\n").as_bytes()))
}

fn shown(square: Square) -> String {
    square.to_string().to_ascii_uppercase()
}
