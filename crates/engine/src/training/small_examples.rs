//! Quiet positions of games with small nets, as inputs of a net.

use zeitnot_rules::{
    Color, Game, GameKind,
    minichess::{MiniChess, Rules},
};

use super::{
    game_record::BadGame,
    other_game::{OtherPly, for_each_ply},
};
use crate::eval::small_net::NetInputs;

/// Positions as inputs of a small net.
#[derive(Clone, Debug)]
pub struct SmallExamples {
    game: GameKind,
    /// Number of inputs of a view.
    pub inputs: usize,
    /// For each input the one of the mirrored board.
    pub mirrored: Vec<u16>,
    /// Active inputs of all positions, in the view of the side to move and in the other.
    active: Vec<[u16; 2]>,
    rows: Vec<Row>,
}

#[derive(Copy, Clone, Debug)]
struct Row {
    /// Where its active inputs begin.
    start: u32,
    bucket: u8,
    result: u8,
    score: i16,
}

/// The rules of a game with a small net.
fn rules(game: GameKind) -> Option<Rules> {
    match game {
        GameKind::MinichessImcs => Some(Rules::Imcs),
        GameKind::Minichess2023 => Some(Rules::Nthu2023),
        GameKind::Minichess2026 => Some(Rules::Nthu2026),
        _ => None,
    }
}

/// A position as the side to move sees it.
#[derive(Copy, Clone, Debug)]
pub struct SmallExample<'e> {
    /// Active inputs, in the view of the side to move and in the other.
    pub active: &'e [[u16; 2]],
    /// Output layer.
    pub bucket: usize,
    /// Half points at the end of the game.
    pub result: u8,
    /// Score of the search, in centipawns.
    pub score: i16,
}

impl SmallExamples {
    /// No positions of a game; `None` if it has no small net.
    pub fn new(game: GameKind) -> Option<SmallExamples> {
        rules(game).map(|_| {
            let mirrored = (0..MiniChess::INPUTS).map(|input| MiniChess::mirrored(input) as u16).collect();
            SmallExamples { game, inputs: MiniChess::INPUTS, mirrored, active: Vec::new(), rows: Vec::new() }
        })
    }

    /// Adds the quiet positions of games.
    ///
    /// # Errors
    /// [`BadGame`], also for a game of another kind.
    pub fn extend(&mut self, games: &[u8]) -> Result<(), BadGame> {
        let Some(rules) = rules(self.game) else { return Err(BadGame::Start) };
        for_each_ply(&MiniChess::start(rules), games, |ply| {
            if ply.is_quiet() {
                self.push(ply);
            }
        })
    }

    fn push(&mut self, ply: &OtherPly<MiniChess>) {
        let position = &ply.position;
        let us = position.side_to_move();
        let start = self.active.len() as u32;
        position.pieces(|piece| {
            self.active.push([us, !us].map(|view| MiniChess::input(view, piece) as u16));
        });
        let [own, other] = [us, !us].map(|view| position.fact_inputs(view));
        self.active.extend([0, 1].map(|fact| [own[fact] as u16, other[fact] as u16]));
        let (score, result) = match us {
            Color::White => (ply.label.score, ply.label.result),
            Color::Black => (ply.label.score.saturating_neg(), 2 - ply.label.result),
        };
        self.rows.push(Row { start, bucket: position.bucket() as u8, result, score });
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The position of this index.
    pub fn get(&self, index: usize) -> SmallExample<'_> {
        let Row { start, bucket, result, score } = self.rows[index];
        let end = self.rows.get(index + 1).map_or(self.active.len(), |next| next.start as usize);
        let active = &self.active[start as usize..end];
        SmallExample { active, bucket: bucket.into(), result, score }
    }
}
