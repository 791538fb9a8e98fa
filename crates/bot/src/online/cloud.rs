//! What other people's engines found: `GET /api/cloud-eval`.

use zeitnot_rules::{Color, Game, GameKind, chess::Chess};
use zeitnot_seat::{Eval, EvalScore};
use zeitnot_wire::{Message, WireError, lichess::CloudEval};

use super::{Cloud, Question, Suggestion};

pub(super) fn query(
    config: &Cloud,
    question: &Question,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    if question.plies >= config.max_ply {
        return None;
    }
    let variant = variant(question)?;
    let query =
        vec![("fen", question.fen.clone()), ("multiPv", "1".to_owned()), ("variant", variant.to_owned())];
    Some(("api/cloud-eval", query))
}

/// What Lichess calls this game; Chess960 is another one there as long as somebody can castle.
fn variant(question: &Question) -> Option<&'static str> {
    match question.game {
        GameKind::Chess => {
            let is_960 = Chess::parse(&question.fen).is_ok_and(|chess| chess.is_chess960());
            Some(if is_960 { "chess960" } else { "standard" })
        }
        _ => None,
    }
}

pub(super) fn read(config: &Cloud, body: &str, question: &Question) -> Result<Vec<Suggestion>, WireError> {
    let CloudEval { depth, pvs } = CloudEval::parse(body)?;
    if depth < config.min_depth {
        return Ok(Vec::new());
    }
    let sign = if question.side == Color::White { 1 } else { -1 };
    let suggestion = |line: &zeitnot_wire::lichess::CloudLine| {
        let mv = line.moves.split_ascii_whitespace().next()?.to_owned();
        let mate = line.mate.map(|moves| EvalScore::Mate(moves.saturating_mul(sign)));
        let score = mate.or(line.cp.map(|cp| EvalScore::Centipawns(cp.saturating_mul(sign.into()))))?;
        Some(Suggestion { mv, eval: Some(Eval { score, depth }) })
    };
    Ok(pvs.iter().filter_map(suggestion).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn question(fen: &str, plies: usize) -> Question {
        let side = if fen.contains(" w ") { Color::White } else { Color::Black };
        let time = Duration::from_secs(9);
        Question { game: GameKind::Chess, fen: fen.into(), side, men: 32, plies, left: None, time }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn asked_by_variant_and_only_in_the_opening() {
        let asked = |fen, plies| {
            let (path, query) = query(&Cloud { max_ply: 10, ..Cloud::default() }, &question(fen, plies))?;
            Some((path, query[2].1.clone()))
        };
        assert_eq!(asked(START, 9), Some(("api/cloud-eval", "standard".into())));
        assert_eq!(asked(START, 10), None);
        let shuffled = "nrbbqknr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQKNR w HBhb - 0 1";
        assert_eq!(asked(shuffled, 0), Some(("api/cloud-eval", "chess960".into())));
        let other = Question { game: GameKind::MinichessImcs, ..question(START, 0) };
        assert!(query(&Cloud::default(), &other).is_none());
    }

    #[test]
    fn scores_are_whites_and_become_ours() {
        let black = question("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", 1);
        let read = |text: &str, question: &Question| super::read(&Cloud::default(), text, question).unwrap();
        let text = r#"{"depth":20,"pvs":[{"moves":"e7e5 g1f3","cp":30}]}"#;
        let score = EvalScore::Centipawns(-30);
        let expected = Suggestion { mv: "e7e5".into(), eval: Some(Eval { score, depth: 20 }) };
        assert_eq!(read(text, &black), [expected]);
        let mate = r#"{"depth":99,"pvs":[{"moves":"e7e5","mate":-3}]}"#;
        assert_eq!(read(mate, &black)[0].eval.unwrap().score, EvalScore::Mate(3));
        assert_eq!(read(mate, &question(START, 0))[0].eval.unwrap().score, EvalScore::Mate(-3));
        for nothing in [
            r#"{"depth":19,"pvs":[{"moves":"e7e5","cp":30}]}"#,
            r#"{"depth":30,"pvs":[]}"#,
            r#"{"depth":30,"pvs":[{"moves":"","cp":1},{"moves":"e7e5"}]}"#,
        ] {
            assert_eq!(read(nothing, &black), [], "{nothing}");
        }
    }
}
