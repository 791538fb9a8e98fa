//! View of a game, without any drawing.

use std::time::Duration;

use zeitnot_host::live::view::{Game, GamePhase, Person, Ply, Score, Thought};
use zeitnot_rules::{Color, Diagram, DynGame, GameKind};

/// A game at one of its plies, as one side sees it.
#[derive(Copy, Clone, Debug)]
pub(in crate::cli) struct View<'g> {
    pub game: &'g Game,
    /// Plies before the position that is shown.
    pub ply: usize,
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
    fn fen(&self, ply: usize) -> &'g str {
        match ply {
            0 => &self.game.start_fen,
            ply if ply >= self.game.plies.len() => &self.game.summary.fen,
            ply => &self.game.plies[ply - 1].fen,
        }
    }

    /// The board; `None` if the server's position is none.
    pub(in crate::cli) fn diagram(&self) -> Option<Diagram> {
        Diagram::read(kind(self.game)?, self.fen(self.ply))
    }

    /// The move before the position.
    pub(super) fn last_move(&self) -> Option<&'g Ply> {
        self.game.plies.get(self.ply.checked_sub(1)?)
    }

    pub(super) fn is_latest(&self) -> bool {
        self.ply >= self.game.plies.len()
    }

    /// The latest thought about the position, or before, and the plies before its first move.
    pub(super) fn thought(&self) -> Option<(usize, &'g Thought)> {
        let plies = &self.game.plies[..self.ply.min(self.game.plies.len())];
        let made = || plies.iter().enumerate().rev().take(2);
        let now = self.thought.filter(|_| self.is_latest()).map(|thought| (plies.len(), thought));
        now.or_else(|| made().find_map(|(at, ply)| Some((at, ply.thought.as_ref()?))))
    }

    /// Moves after this many plies, as game records show them: `12.Nf3 Nc6 13.Bb5`. Those that are not legal, which only
    /// a faulty server sends, are left out.
    pub(super) fn variation(&self, after: usize, moves: &[String]) -> String {
        let game = kind(self.game).and_then(|kind| DynGame::begin(kind, Some(self.fen(after))).ok());
        let Some(mut game) = game else { return String::new() };
        let mut texts = Vec::new();
        for (at, mv) in moves.iter().enumerate() {
            let Ok(mv) = game.read(mv) else { break };
            let Ok(san) = game.san(&mv) else { break };
            texts.push(match self.number(after + at) {
                (number, Color::White) => format!("{number}.{san}"),
                (number, Color::Black) if at == 0 => format!("{number}...{san}"),
                _ => san,
            });
            if game.play(&mv).is_err() {
                break;
            }
        }
        texts.join(" ")
    }

    /// Number of the full move after this many plies, and the side that makes it.
    pub(super) fn number(&self, plies: usize) -> (usize, Color) {
        let fen = &self.game.start_fen;
        // Positions of other games than chess and its variants have fewer fields, and no number.
        let number = fen.split_whitespace().skip(5).last().and_then(|field| field.parse().ok());
        let first = number.unwrap_or(1_usize);
        let half_moves = plies + usize::from(is_black_first(fen));
        let side = if half_moves.is_multiple_of(2) { Color::White } else { Color::Black };
        (first.saturating_add(half_moves / 2), side)
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
        let runs = clocks.running == Some(color) && self.game.summary.state == GamePhase::Running;
        Some((if runs { left.saturating_sub(self.age) } else { left }, runs))
    }

    /// Side to move in the shown position.
    pub(super) fn side_to_move(&self) -> Color {
        self.number(self.ply).1
    }

    /// Full moves as rows: number, and the plies of White's and Black's move, which count from 1.
    pub(super) fn move_rows(&self) -> Vec<MoveRow<'g>> {
        let mut rows: Vec<MoveRow<'g>> = Vec::new();
        for (at, ply) in self.game.plies.iter().enumerate() {
            let (number, side) = self.number(at);
            if side == Color::White || rows.is_empty() {
                rows.push(MoveRow { number, moves: [None, None] });
            }
            if let Some(row) = rows.last_mut() {
                row.moves[usize::from(side == Color::Black)] = Some((at + 1, ply));
            }
        }
        rows
    }

    /// `class, round 3  180+2`: the tournament, or else the game, and the time control.
    pub(in crate::cli) fn occasion(&self) -> String {
        let summary = &self.game.summary;
        let place = summary.tournament.as_deref().unwrap_or(&summary.kind);
        let round = summary.round.map_or_else(String::new, |round| format!(", round {round}"));
        let time = summary.time_control.as_deref().map_or_else(String::new, |time| format!("  {time}"));
        format!("{place}{round}{time}")
    }

    /// Result and reason, once there are.
    pub(in crate::cli) fn end(&self) -> Option<String> {
        let summary = &self.game.summary;
        let result = summary.result.as_deref().filter(|_| summary.state == GamePhase::Ended)?;
        Some(format!("{result} {}", summary.reason.as_deref().unwrap_or_default()).trim_end().to_owned())
    }
}

/// A full move.
#[derive(Debug)]
pub(super) struct MoveRow<'g> {
    pub(super) number: usize,
    pub(super) moves: [Option<(usize, &'g Ply)>; 2],
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
