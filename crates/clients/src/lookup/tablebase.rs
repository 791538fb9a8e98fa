//! The tablebase of Lichess: the best move of an endgame, with the fifty-move rule in mind.
//!
//! A won position is won by getting nearer to the mate, or to the next capture or pawn move, with every move; a lost one
//! is held as long as possible.

use std::cmp::Reverse;

use zeitnot_rules::{GameKind, chess::FIFTY_MOVES};
use zeitnot_seat::{Eval, EvalScore, PositionQuery, Suggestion};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Category, Probe, ProbeMove},
};

use super::{
    Tablebase,
    service::{Api, Request},
};

/// Score of a win whose distance to mate is unknown: above all evaluations.
const WON: i32 = 20_000;
/// Score of a win or loss that the fifty-move rule may turn into a draw: no reason to resign or to agree to a draw.
const DOUBTFUL: i32 = 150;

impl Api for Tablebase {
    fn request(&self, query: &PositionQuery) -> Option<Request> {
        // Tables have no positions with castling rights.
        let may_castle = field(&query.fen, 2) != "-";
        if query.piece_count > self.max_pieces || may_castle || query.game != GameKind::Chess {
            return None;
        }
        Some(("standard", vec![("fen", query.fen.clone())]))
    }

    fn parse(&self, body: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, WireError> {
        Ok(best_first(Probe::parse(body)?, field(&query.fen, 4).parse().unwrap_or(0)))
    }
}

/// Returns one of the six fields of a FEN.
fn field(fen: &str, at: usize) -> &str {
    fen.split(' ').nth(at).unwrap_or_default()
}

/// Value of a position for the side that moves into it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Lost,
    MaybeLost,
    /// Lost, but drawn by the fifty-move rule.
    Blessed,
    Drawn,
    /// Won, but drawn by the fifty-move rule.
    Cursed,
    MaybeWon,
    /// Won, unless a ply was wasted before.
    RoundedWon,
    Won,
}

impl Value {
    /// Returns `None` if the table does not know.
    fn of(mv: &ProbeMove) -> Option<Value> {
        Some(match mv.category {
            _ if mv.checkmate => Value::Won,
            Category::Loss => Value::Won,
            Category::SyzygyLoss => Value::RoundedWon,
            Category::MaybeLoss => Value::MaybeWon,
            Category::BlessedLoss => Value::Cursed,
            Category::Draw => Value::Drawn,
            Category::CursedWin => Value::Blessed,
            Category::MaybeWin => Value::MaybeLost,
            Category::SyzygyWin | Category::Win => Value::Lost,
            Category::Unknown | Category::Other(_) => return None,
        })
    }

    fn wins(self) -> bool {
        self >= Value::Cursed
    }
}

/// Returns the moves that keep the value of the position, the best first.
fn best_first(probe: Probe, halfmoves: u32) -> Vec<Suggestion> {
    let known = probe.moves.iter().filter_map(|mv| Some((Value::of(mv)?, mv)));
    let Some(best) = known.clone().map(|(value, _)| value).max() else { return Vec::new() };
    // A move that the table does not know may be better than a loss or a draw.
    if known.clone().count() < probe.moves.len() && best < Value::RoundedWon {
        return Vec::new();
    }
    let mut moves: Vec<_> = known.filter(|(value, _)| *value == best).map(|(_, mv)| mv).collect();
    let to_mate = |mv: &ProbeMove| if mv.checkmate { Some(0) } else { mv.dtm.map(i32::unsigned_abs) };
    // The shortest way to mate counts where it is known for all moves and comes before fifty moves.
    let mates = best == Value::Won
        && moves.iter().all(|mv| to_mate(mv).is_some_and(|plies| plies + halfmoves < FIFTY_MOVES));
    let distance = |mv: &ProbeMove| match to_mate(mv) {
        Some(plies) if mates || mv.checkmate => plies,
        _ if mv.zeroing => 1,
        _ => mv.dtz.map_or(u32::MAX, |dtz| dtz.unsigned_abs().saturating_add(1)),
    };
    if best.wins() {
        moves.sort_by_key(|mv| distance(mv));
    } else if best != Value::Drawn {
        moves.sort_by_key(|mv| (Reverse(to_mate(mv)), Reverse(distance(mv))));
    }
    let suggest = |mv: &ProbeMove| {
        let depth = u16::try_from(distance(mv)).unwrap_or(u16::MAX).max(1);
        let score = match best {
            Value::Won if mates || mv.checkmate => mate(to_mate(mv).unwrap_or(0) + 1),
            Value::Won | Value::RoundedWon => EvalScore::Centipawns(WON),
            Value::MaybeWon => EvalScore::Centipawns(DOUBTFUL),
            Value::Cursed | Value::Drawn | Value::Blessed => EvalScore::Centipawns(0),
            Value::MaybeLost => EvalScore::Centipawns(-DOUBTFUL),
            Value::Lost => EvalScore::Centipawns(-WON),
        };
        Suggestion { mv: mv.uci.clone(), eval: Some(Eval { score, depth }) }
    };
    moves.into_iter().map(suggest).collect()
}

/// Mate in this many plies, the last of which is ours.
fn mate(plies: u32) -> EvalScore {
    EvalScore::Mate(i16::try_from(plies.div_ceil(2)).unwrap_or(i16::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use zeitnot_rules::Color;

    /// Category of the position behind the move, and the distances there.
    fn mv(uci: &str, category: &str, dtz: i32, dtm: Option<i32>) -> ProbeMove {
        let zeroing = uci.ends_with('x');
        let (dtz, category) = (Some(dtz), category.into());
        ProbeMove { uci: uci.into(), category, dtz, dtm, zeroing, checkmate: uci.ends_with('#') }
    }

    fn best(moves: &[ProbeMove], halfmoves: u32) -> Option<(String, EvalScore)> {
        let probe = Probe { category: Category::Unknown, moves: moves.to_vec() };
        let first = best_first(probe, halfmoves).into_iter().next()?;
        Some((first.mv, first.eval?.score))
    }

    #[track_caller]
    fn plays(moves: &[ProbeMove], halfmoves: u32, expected: &str, score: EvalScore) {
        assert_eq!(best(moves, halfmoves), Some((expected.to_owned(), score)));
    }

    const HIGH: EvalScore = EvalScore::Centipawns(WON);
    const ZERO: EvalScore = EvalScore::Centipawns(0);

    #[test]
    fn a_win_comes_nearer_with_every_move() {
        let moves = [
            mv("far", "loss", -30, None),
            mv("draws", "draw", 0, None),
            mv("near", "loss", -12, None),
            mv("loses", "win", 3, None),
        ];
        plays(&moves, 0, "near", HIGH);
        let takes = [&moves[..], &[mv("takesx", "loss", -80, None)]].concat();
        plays(&takes, 0, "takesx", HIGH);
        let mates = [&takes[..], &[mv("mates#", "loss", 0, None)]].concat();
        plays(&mates, 0, "mates#", EvalScore::Mate(1));
    }

    /// A rook given away is a short way to a capture, but a long way to mate.
    #[test]
    fn the_distance_to_mate_counts_where_it_is_known_and_in_time() {
        let moves = [mv("gives", "loss", -1, Some(-40)), mv("mates", "loss", -20, Some(-6))];
        plays(&moves, 0, "mates", EvalScore::Mate(4));
        // Fifty moves come first: now it is the next capture that counts.
        plays(&moves, 70, "gives", HIGH);
        let unknown = [moves[0].clone(), moves[1].clone(), mv("third", "loss", -9, None)];
        plays(&unknown, 0, "gives", HIGH);
    }

    #[test]
    fn fifty_moves_make_draws_of_cursed_wins_and_blessed_losses() {
        let cursed = [mv("draws", "draw", 0, None), mv("tries", "blessed-loss", -110, None)];
        plays(&cursed, 0, "tries", ZERO);
        let saved = [
            mv("lost", "win", 90, None),
            mv("saved", "cursed-win", 105, None),
            mv("less", "maybe-win", 99, None),
        ];
        plays(&saved, 0, "saved", ZERO);
        plays(&[saved[0].clone(), saved[2].clone()], 0, "less", EvalScore::Centipawns(-DOUBTFUL));
        let sure = [mv("maybe", "maybe-loss", -2, None), mv("sure", "loss", -50, None)];
        plays(&sure, 0, "sure", HIGH);
        let rounded = [mv("maybe", "maybe-loss", -2, None), mv("rounded", "syzygy-loss", -50, None)];
        plays(&rounded, 40, "rounded", HIGH);
    }

    #[test]
    fn a_loss_is_delayed_and_a_draw_kept() {
        let lost = [mv("soon", "win", 2, Some(4)), mv("late", "win", 20, Some(24))];
        plays(&lost, 0, "late", EvalScore::Centipawns(-WON));
        let drawn = [mv("loses", "win", 2, None), mv("keeps", "draw", 0, None), mv("too", "draw", 0, None)];
        plays(&drawn, 0, "keeps", ZERO);
    }

    #[test]
    fn unknown_positions_are_left_to_the_search() {
        let half = [mv("draws", "draw", 0, None), mv("what", "unknown", 0, None)];
        assert_eq!(best(&half, 0), None);
        assert_eq!(best(&[mv("new", "something new", 0, None)], 0), None);
        let won = [mv("what", "unknown", 0, None), mv("wins", "loss", -4, None)];
        plays(&won, 0, "wins", HIGH);
        assert_eq!(best(&[], 0), None);
    }

    #[test]
    fn only_positions_with_few_pieces_and_no_castling_are_looked_up() {
        let asked = |fen: &str, piece_count| {
            let (game, fen, side, time) = (GameKind::Chess, fen.into(), Color::White, Duration::from_secs(9));
            let query = PositionQuery { game, fen, side, piece_count, plies: 90, left: None, time };
            Tablebase::default().request(&query).is_some()
        };
        assert!(asked("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 7));
        assert!(!asked("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 8));
        assert!(!asked("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", 3));
    }
}
