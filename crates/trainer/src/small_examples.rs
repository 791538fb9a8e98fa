//! Quiet positions of games with small nets, as inputs of a net.

use zeitnot_engine::eval::small_net::NetInputs;
use zeitnot_rules::{Color, GameKind, for_each_game};

use crate::games::{BadGame, OtherPly, SelfPlayed, for_each_ply};

/// Positions as inputs of a small net.
#[derive(Clone, Debug)]
pub struct SmallExamples {
    game: GameKind,
    /// Number of inputs of a view.
    pub(crate) inputs: usize,
    /// For each input the one of the mirrored board.
    pub(crate) mirrored: Vec<u16>,
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

/// A position as the side to move sees it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SmallExample<'e> {
    /// Active inputs, in the view of the side to move and in the other.
    pub(crate) active: &'e [[u16; 2]],
    /// Output layer.
    pub(crate) bucket: usize,
    /// Half points at the end of the game.
    pub(crate) result: u8,
    /// Score of the search, in centipawns.
    pub(crate) score: i16,
}

/// Methods that have the start of each game with a small net: all but chess.
macro_rules! by_game {
    (Chess => $chess:expr, $($kind:ident => $start:expr),* $(,)?) => {
        impl SmallExamples {
            /// No positions of a game; `None` for chess, whose net is another one.
            pub fn new(game: GameKind) -> Option<SmallExamples> {
                match game {
                    GameKind::Chess => None,
                    $(GameKind::$kind => Some(SmallExamples::of(&$start)),)*
                }
            }

            /// Adds the quiet positions of games.
            ///
            /// # Errors
            /// [`BadGame`], also for a game of another kind.
            pub fn extend(&mut self, games: &[u8]) -> Result<(), BadGame> {
                match self.game {
                    GameKind::Chess => Err(BadGame::Start),
                    $(GameKind::$kind => self.extend_from(&$start, games),)*
                }
            }
        }
    };
}
for_each_game!(by_game);

impl SmallExamples {
    fn of<G: NetInputs>(start: &G) -> SmallExamples {
        let mirrored = (0..G::INPUTS).map(|input| start.mirrored(input) as u16).collect();
        let (active, rows) = (Vec::new(), Vec::new());
        SmallExamples { game: start.kind(), inputs: G::INPUTS, mirrored, active, rows }
    }

    fn extend_from<G: NetInputs + SelfPlayed>(&mut self, start: &G, games: &[u8]) -> Result<(), BadGame> {
        for_each_ply(start, games, |ply| {
            if ply.is_quiet() {
                self.push(ply);
            }
        })
    }

    fn push<G: NetInputs + SelfPlayed>(&mut self, ply: &OtherPly<G>) {
        let position = &ply.position;
        let us = position.side_to_move();
        let start = self.active.len() as u32;
        position.placed(|placed| {
            self.active.push([us, !us].map(|view| position.input(view, placed) as u16));
        });
        position.facts(|facts| {
            self.active.push([us, !us].map(|view| (G::PLACES + facts[view as usize]) as u16));
        });
        let (score, result) = match us {
            Color::White => (ply.label.score, ply.label.result),
            Color::Black => (ply.label.score.saturating_neg(), 2 - ply.label.result),
        };
        self.rows.push(Row { start, bucket: position.bucket() as u8, result, score });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn get(&self, index: usize) -> SmallExample<'_> {
        let Row { start, bucket, result, score } = self.rows[index];
        let end = self.rows.get(index + 1).map_or(self.active.len(), |next| next.start as usize);
        let active = &self.active[start as usize..end];
        SmallExample { active, bucket: bucket.into(), result, score }
    }
}
