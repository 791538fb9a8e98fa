//! View of a game, without any drawing.

use std::time::Duration;

use zeitnot_arena::live::view::{Game, GameState, Person, Ply, Score, Thought};
use zeitnot_rules::{Color, Diagram, GameKind};

/// A game at one of its plies, as one side sees it.
#[derive(Copy, Clone, Debug)]
pub(in crate::cli) struct View<'g> {
    pub game: &'g Game,
    /// Plies before the position that is shown.
    pub ply: usize,
    /// Side at the bottom.
    pub bottom: Color,
    /// Time since the clocks were read.
    pub age: Duration,
    /// Thought about the present position, newer than those of the moves.
    pub thought: Option<&'g Thought>,
}

/// Squares that are marked, as rows and columns of the diagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Marks {
    pub cursor: Option<Square>,
    pub selected: Option<Square>,
    pub targets: Vec<Square>,
}

/// Row and column of a diagram.
pub(in crate::cli) type Square = (usize, usize);

impl<'g> View<'g> {
    pub(super) fn fen(&self) -> &'g str {
        match self.ply {
            0 => &self.game.start_fen,
            ply if ply >= self.game.plies.len() => &self.game.summary.fen,
            ply => &self.game.plies[ply - 1].fen,
        }
    }

    /// The board; `None` if the server's position is none.
    pub(in crate::cli) fn diagram(&self) -> Option<Diagram> {
        Diagram::read(kind(self.game)?, self.fen())
    }

    /// The move before the position.
    pub(super) fn last_move(&self) -> Option<&'g Ply> {
        self.game.plies.get(self.ply.checked_sub(1)?)
    }

    /// Whether this is the latest position.
    pub(super) fn is_latest(&self) -> bool {
        self.ply >= self.game.plies.len()
    }

    /// The latest thought about the position, or before.
    pub(super) fn thought(&self) -> Option<&'g Thought> {
        let plies = &self.game.plies[..self.ply.min(self.game.plies.len())];
        let made = || plies.iter().rev().take(2).find_map(|ply| ply.thought.as_ref());
        self.thought.filter(|_| self.is_latest()).or_else(made)
    }

    pub(super) fn person(&self, color: Color) -> &'g Person {
        match color {
            Color::White => &self.game.summary.white,
            Color::Black => &self.game.summary.black,
        }
    }

    /// Time on a clock now, or after the shown ply, and whether it runs.
    pub(super) fn clock(&self, color: Color) -> Option<(Duration, bool)> {
        if !self.is_latest() {
            let moves = self.game.plies[..self.ply].iter().rev().take(2);
            let own = moves.zip([!self.side_to_move(), self.side_to_move()]);
            let left = own.filter(|(_, mover)| *mover == color).find_map(|(ply, _)| ply.left_ms)?;
            return Some((Duration::from_millis(left), false));
        }
        let clocks = self.game.summary.clocks?;
        let left =
            Duration::from_millis(if color == Color::White { clocks.white_ms } else { clocks.black_ms });
        let runs = clocks.running == Some(color) && self.game.summary.state == GameState::Running;
        Some((if runs { left.saturating_sub(self.age) } else { left }, runs))
    }

    /// Side to move in the shown position.
    pub(super) fn side_to_move(&self) -> Color {
        let first = if is_black_first(&self.game.start_fen) { Color::Black } else { Color::White };
        if self.ply.is_multiple_of(2) { first } else { !first }
    }

    /// Full moves as rows: number, White's and Black's move with their plies, which count from 1.
    pub(super) fn move_rows(&self) -> Vec<MoveRow<'g>> {
        let mut rows: Vec<MoveRow<'g>> = Vec::new();
        let skipped = usize::from(is_black_first(&self.game.start_fen));
        for (at, ply) in self.game.plies.iter().enumerate() {
            let column = (at + skipped) % 2;
            if column == 0 || rows.is_empty() {
                rows.push(MoveRow { number: rows.len() + 1, moves: [None, None] });
            }
            if let Some(row) = rows.last_mut() {
                row.moves[column] = Some((at + 1, &ply.san));
            }
        }
        rows
    }

    /// Result and reason, once there are.
    pub(in crate::cli) fn end(&self) -> Option<String> {
        let summary = &self.game.summary;
        let result = summary.result.as_deref().filter(|_| summary.state == GameState::Ended)?;
        Some(format!("{result} {}", summary.reason.as_deref().unwrap_or_default()).trim_end().to_owned())
    }
}

/// A full move.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MoveRow<'g> {
    pub(super) number: usize,
    pub(super) moves: [Option<(usize, &'g str)>; 2],
}

/// Rules of a game.
pub(in crate::cli) fn kind(game: &Game) -> Option<GameKind> {
    game.summary.kind.parse().ok()
}

fn is_black_first(fen: &str) -> bool {
    fen.split_whitespace().nth(1).is_some_and(|side| side.eq_ignore_ascii_case("b"))
}

/// `+0.35`, `#4`.
pub(super) fn score_text(score: Score) -> String {
    match score {
        Score::Cp(cp) => format!("{:+.2}", f64::from(cp) / 100.0),
        Score::Mate(moves) => format!("#{moves}"),
    }
}

/// White's share of the points that a score promises, from 0 to 1.
pub(super) fn white_share(score: Score) -> f64 {
    match score {
        Score::Cp(cp) => 1.0 / (1.0 + 10_f64.powf(-f64::from(cp) / 400.0)),
        Score::Mate(moves) => f64::from(u8::from(moves > 0)),
    }
}
