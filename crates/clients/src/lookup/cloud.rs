//! Cloud evaluations: `GET /api/cloud-eval`.

use zeitnot_rules::{Color, Game, GameKind, chess::Chess};
use zeitnot_seat::{Eval, EvalScore, PositionQuery, Suggestion};
use zeitnot_wire::{
    Message, WireError,
    lichess::{CloudEval, CloudLine},
};

use super::{
    Cloud,
    service::{Api, Request},
};

impl Api for Cloud {
    fn request(&self, query: &PositionQuery) -> Option<Request> {
        if query.game != GameKind::Chess {
            return None;
        }
        // On Lichess, Chess960 is a variant of its own as long as a side can castle.
        let is_960 = Chess::parse(&query.fen).is_ok_and(|chess| chess.is_chess960());
        let variant = if is_960 { "chess960" } else { "standard" };
        let parameters =
            vec![("fen", query.fen.clone()), ("multiPv", "1".to_owned()), ("variant", variant.to_owned())];
        Some(("api/cloud-eval", parameters))
    }

    fn parse(&self, body: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, WireError> {
        let CloudEval { depth, pvs } = CloudEval::parse(body)?;
        if depth < self.min_depth {
            return Ok(Vec::new());
        }
        // Scores are White's.
        let sign = if query.side == Color::White { 1 } else { -1 };
        let suggestion = |line: &CloudLine| {
            let mv = line.moves.split_ascii_whitespace().next()?.to_owned();
            let mate = line.mate.map(|moves| EvalScore::Mate(moves.saturating_mul(sign)));
            let score = mate.or(line.cp.map(|cp| EvalScore::Centipawns(cp.saturating_mul(sign.into()))))?;
            Some(Suggestion { mv, eval: Some(Eval { score, depth }) })
        };
        Ok(pvs.iter().filter_map(suggestion).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn query(fen: &str) -> PositionQuery {
        let side = if fen.contains(" w ") { Color::White } else { Color::Black };
        let time = Duration::from_secs(9);
        PositionQuery {
            game: GameKind::Chess,
            fen: fen.into(),
            side,
            piece_count: 32,
            plies: 0,
            left: None,
            time,
        }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn requests_name_the_variant() {
        let asked = |fen| {
            Cloud::default().request(&query(fen)).map(|(path, parameters)| (path, parameters[2].1.clone()))
        };
        assert_eq!(asked(START), Some(("api/cloud-eval", "standard".into())));
        let shuffled = "nrbbqknr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQKNR w HBhb - 0 1";
        assert_eq!(asked(shuffled), Some(("api/cloud-eval", "chess960".into())));
        let other = PositionQuery { game: GameKind::MinichessImcs, ..query(START) };
        assert!(Cloud::default().request(&other).is_none());
    }

    #[test]
    fn scores_of_white_become_scores_of_the_side_to_move() {
        let black = query("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        let read = |text: &str, query: &PositionQuery| Cloud::default().parse(text, query).unwrap();
        let text = r#"{"depth":20,"pvs":[{"moves":"e7e5 g1f3","cp":30}]}"#;
        let score = EvalScore::Centipawns(-30);
        let expected = Suggestion { mv: "e7e5".into(), eval: Some(Eval { score, depth: 20 }) };
        assert_eq!(read(text, &black), [expected]);
        let mate = r#"{"depth":99,"pvs":[{"moves":"e7e5","mate":-3}]}"#;
        assert_eq!(read(mate, &black)[0].eval.unwrap().score, EvalScore::Mate(3));
        assert_eq!(read(mate, &query(START))[0].eval.unwrap().score, EvalScore::Mate(-3));
        for nothing in [
            r#"{"depth":19,"pvs":[{"moves":"e7e5","cp":30}]}"#,
            r#"{"depth":30,"pvs":[]}"#,
            r#"{"depth":30,"pvs":[{"moves":"","cp":1},{"moves":"e7e5"}]}"#,
        ] {
            assert_eq!(read(nothing, &black), [], "{nothing}");
        }
    }
}
