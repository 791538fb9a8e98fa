//! ChessDB: positions that its users and engines have analysed. `GET /cdb.php`.

use zeitnot_rules::GameKind;
use zeitnot_seat::{Eval, EvalScore, PositionQuery, Suggestion};
use zeitnot_wire::{Message, WireError, chessdb::Answer};

use super::{
    BookQuality, ChessDb,
    service::{Api, Request},
};

/// Scores of wins and losses that the fifty-move rule turns into draws; those beyond are certain.
const CURSED: std::ops::RangeInclusive<u32> = 15_000..=20_000;

impl Api for ChessDb {
    fn request(&self, query: &PositionQuery) -> Option<Request> {
        let action = match self.move_quality {
            BookQuality::Best => "querypv",
            BookQuality::Good => "querybest",
            BookQuality::All => "query",
        };
        let parameters =
            vec![("action", action.to_owned()), ("board", query.fen.clone()), ("json", "1".to_owned())];
        (query.game == GameKind::Chess).then_some(("cdb.php", parameters))
    }

    fn parse(&self, body: &str, _: &PositionQuery) -> Result<Vec<Suggestion>, WireError> {
        let answer = Answer::parse(body)?;
        if !answer.is_known() {
            return Ok(Vec::new());
        }
        if self.move_quality != BookQuality::Best {
            return Ok(answer.mv.into_iter().map(|mv| Suggestion { mv, eval: None }).collect());
        }
        let depth = answer.depth.unwrap_or(0);
        let first = answer.pv.unwrap_or_default().into_iter().next().filter(|_| depth >= self.min_depth);
        let eval = answer.score.map(|score| {
            let score = if CURSED.contains(&score.unsigned_abs()) { 0 } else { score };
            Eval { score: EvalScore::Centipawns(score), depth }
        });
        Ok(first.into_iter().map(|mv| Suggestion { mv, eval }).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zeitnot_rules::Color;

    use super::*;

    fn query(game: GameKind) -> PositionQuery {
        let (fen, side, time) = ("8/8 w".into(), Color::White, Duration::from_secs(9));
        PositionQuery { game, fen, side, piece_count: 32, plies: 0, left: None, time }
    }

    #[test]
    fn the_quality_of_the_move_is_part_of_the_request() {
        for (move_quality, action) in
            [(BookQuality::Best, "querypv"), (BookQuality::Good, "querybest"), (BookQuality::All, "query")]
        {
            let config = ChessDb { move_quality, ..ChessDb::default() };
            let (path, parameters) = config.request(&query(GameKind::Chess)).unwrap();
            let asked = format!("{path}?{}", serde_urlencoded::to_string(parameters).unwrap());
            assert_eq!(asked, format!("cdb.php?action={action}&board=8%2F8+w&json=1"));
        }
        assert!(ChessDb::default().request(&query(GameKind::MinichessImcs)).is_none());
    }

    #[test]
    fn known_positions_have_a_move() {
        let read = |move_quality, body: &str| {
            let config = ChessDb { move_quality, ..ChessDb::default() };
            let mut moves = config.parse(body, &query(GameKind::Chess)).unwrap();
            assert!(moves.len() <= 1);
            moves.pop().map(|found| (found.mv, found.eval.map(|eval| (eval.score, eval.depth))))
        };
        let best = |score: i32, depth: u16| {
            let body = format!(r#"{{"status":"ok","score":{score},"depth":{depth},"pv":["e2e4","e7e5"]}}"#);
            read(BookQuality::Best, &body)
        };
        let scored = |cp, depth| Some(("e2e4".to_owned(), Some((EvalScore::Centipawns(cp), depth))));
        assert_eq!(best(-12, 20), scored(-12, 20));
        assert_eq!(best(-12, 19), None, "too shallow");
        assert_eq!(best(-19_990, 30), scored(0, 30), "lost, but drawn by the fifty-move rule");
        assert_eq!(best(-29_990, 30), scored(-29_990, 30));
        let good = r#"{"status":"ok","move":"d2d4"}"#;
        assert_eq!(read(BookQuality::Good, good), Some(("d2d4".to_owned(), None)));
        for nothing in [
            r#"{"status":"unknown"}"#,
            r#"{"status":"invalid board"}"#,
            r#"{"status":"unknown","move":"d2d4","depth":99,"pv":["d2d4"]}"#,
            r#"{"status":"ok"}"#,
            r#"{"status":"ok","depth":99,"pv":[]}"#,
        ] {
            for quality in [BookQuality::Best, BookQuality::Good, BookQuality::All] {
                assert_eq!(read(quality, nothing), None, "{nothing}");
            }
        }
    }
}
