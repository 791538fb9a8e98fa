//! Analysis of a position: one at a time, bounded in time, rationed by address; addresses take turns.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use zeitnot_host::{live::view::Thought, origin::Origin, schema};
use zeitnot_net::Rate;
use zeitnot_referee::{Board, ServerBoard};
use zeitnot_rules::{GameError, GameKind, UnknownGame};

use super::{
    search::{Searcher, Strength},
    turns::Turns,
    view,
};
use crate::keyed::Rations;

const STRENGTH: Strength = Strength::Full(Duration::from_secs(1));
/// Analyses of an address.
const REQUESTS: Rate = Rate { burst: 20, interval: Duration::from_secs(1) };
/// Time for which an analysis waits until others are done.
const WAIT: Duration = Duration::from_secs(5);
/// Moves before the position.
const MAX_MOVES: usize = 600;
/// Longest position in bytes.
const MAX_FEN: usize = 200;

/// Position to analyse: that after the moves.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnalysisRequest {
    /// Name of the game.
    #[schema(schema_with = schema::game_kind)]
    pub(crate) kind: String,
    /// Castling is written as in Chess960.
    #[serde(default)]
    pub(crate) chess960: bool,
    /// Position before the moves; the usual start without it.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub(crate) fen: Option<String>,
    /// Moves, in coordinates or as game records write them.
    #[serde(default)]
    #[schema(max_items = 600)]
    pub(crate) moves: Vec<String>,
}

/// Evaluation of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Analysis {
    #[serde(flatten)]
    pub(crate) thought: Thought,
    /// Principal variation as game records write it.
    pub(crate) san: Vec<String>,
}

/// Analysis that was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnalysis {
    #[error(transparent)]
    Game(#[from] UnknownGame),
    #[error(transparent)]
    Position(#[from] GameError),
    #[error("chess960 goes with kind \"chess\" only: leave it out for {0}")]
    NotChess(&'static str),
    #[error("at most {MAX_MOVES} moves and {MAX_FEN} characters of fen: send a later position")]
    Long,
    #[error("the game is over there: nothing is left to analyse")]
    Over,
    #[error("too many analyses at once from your address: try again in a second")]
    TooFast,
    #[error("others are being analysed: try again in a second")]
    Busy,
}

/// Analyses positions.
#[derive(Debug)]
pub(crate) struct Analyst {
    searcher: Arc<dyn Searcher>,
    turns: Turns,
    requests: Rations,
}

impl Analyst {
    pub(crate) fn new(searcher: Arc<dyn Searcher>) -> Analyst {
        Analyst { searcher, turns: Turns::default(), requests: Rations::new(REQUESTS) }
    }

    pub(crate) async fn analyse(
        &self,
        request: AnalysisRequest,
        from: Origin,
    ) -> Result<Analysis, NoAnalysis> {
        if !self.requests.take(from) {
            return Err(NoAnalysis::TooFast);
        }
        let board = request.position()?;
        let turn = timeout(WAIT, self.turns.take(from)).await.map_err(|_| NoAnalysis::Busy)?;
        let finding = self.searcher.find(board.game(), STRENGTH, None, CancellationToken::new());
        let found = finding.await;
        drop(turn);
        let thought = found.as_ref().and_then(|found| view::thought(found, board.turn()));
        let (found, thought) = found.zip(thought).ok_or(NoAnalysis::Busy)?;
        Ok(Analysis { thought, san: found.pv.into_iter().map(|(_, san)| san).collect() })
    }
}

impl AnalysisRequest {
    fn position(&self) -> Result<ServerBoard, NoAnalysis> {
        let kind: GameKind = self.kind.parse()?;
        if self.chess960 && kind != GameKind::Chess {
            return Err(NoAnalysis::NotChess(kind.name()));
        }
        let fen = self.fen.as_deref();
        if self.moves.len() > MAX_MOVES || fen.is_some_and(|fen| fen.len() > MAX_FEN) {
            return Err(NoAnalysis::Long);
        }
        let mut board = ServerBoard::new(kind, self.chess960, fen)?;
        for mv in &self.moves {
            board.play(mv)?;
        }
        if board.outcome().is_over() { Err(NoAnalysis::Over) } else { Ok(board) }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use zeitnot_host::live::view::Score;

    use super::*;
    use crate::play::search::Scripted;

    async fn analyse(analyst: &Analyst, json: &str) -> Result<Analysis, String> {
        let request = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let from = Origin::from(IpAddr::from([10, 0, 0, 1]));
        analyst.analyse(request, from).await.map_err(|error| error.to_string())
    }

    #[test]
    async fn a_mate_is_seen_from_white_and_mistakes_are_told() {
        let analyst = Analyst::new(Arc::new(Scripted));
        let mate = r#"{"kind":"chess","fen":null,"moves":["f2f3","e7e5","g2g4"]}"#;
        let found = analyse(&analyst, mate).await.unwrap();
        assert_eq!((found.thought.score, found.san), (Score::Mate(-1), vec!["Qh4#".to_owned()]));
        assert_eq!(found.thought.pv, ["d8h4"]);
        for (json, why) in [
            (r#"{"kind":"chess","moves":["f2f3","e7e5","g2g4","d8h4"]}"#, "is over there"),
            (r#"{"kind":"chess","moves":["e2e5"]}"#, "is not a legal move"),
            (r#"{"kind":"chess","fen":"x"}"#, "is not a position of chess"),
            (r#"{"kind":"horde","chess960":true}"#, "leave it out for horde"),
            (r#"{"kind":"checkers"}"#, "unknown game"),
            (r#"{"kind":"chess","x":1}"#, "unknown field"),
        ] {
            let error = analyse(&analyst, json).await.unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        }
        let many = serde_json::json!({ "kind": "chess", "moves": vec!["a2a3"; MAX_MOVES + 1] });
        assert!(analyse(&analyst, &many.to_string()).await.unwrap_err().contains("at most 600 moves"));
    }

    #[test(start_paused = true)]
    async fn an_address_has_a_ration() {
        let analyst = Analyst::new(Arc::new(Scripted));
        let wrong = r#"{"kind":"chess","moves":["e2e5"]}"#;
        let mut told = Vec::new();
        for _ in 0..=REQUESTS.burst {
            told.push(analyse(&analyst, wrong).await.unwrap_err());
        }
        let late = told.iter().filter(|error| error.starts_with("too many analyses")).count();
        assert_eq!(late, 1);
    }
}
