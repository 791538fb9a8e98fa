//! The tablebase of Lichess: the best move of an endgame, with the fifty-move rule in mind.
//!
//! A won position is won by getting nearer to the mate, or to the next capture or pawn move, with every move; a lost
//! one is held as long as possible.

use std::cmp::Reverse;

use zeitnot_rules::{GameKind, chess::FIFTY_MOVES};
use zeitnot_seat::{Eval, EvalScore, MoveQuality, PositionQuery, Suggestion};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Category, Probe, ProbeMove},
};

use super::{
    Tablebase,
    service::{Api, Request},
};

/// Pieces that only the op1 tables have.
const OP1_PIECES: usize = 8;
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
        if query.piece_count >= OP1_PIECES && !is_op1(&query.fen) {
            return None;
        }
        Some(("standard", vec![("fen", query.fen.clone())]))
    }

    fn parse(&self, body: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, WireError> {
        Ok(best_first(Probe::parse(body)?, field(&query.fen, 4).parse().unwrap_or(0)))
    }

    fn is_choice(&self) -> bool {
        self.move_quality == MoveQuality::Suggest
    }
}

/// Returns whether the op1 tables have a position of eight pieces: with "opposing pawns", that is, a white pawn below a
/// black one on the same file, and no side with fewer than three pieces.
fn is_op1(fen: &str) -> bool {
    let (mut counts, mut white_pawns, mut has_opposing) = ([0; 2], [false; 256], false);
    // From the first rank up, so that a black pawn meets the white ones below it.
    for rank in field(fen, 0).rsplit('/') {
        let mut file = 0u8;
        for piece in rank.bytes() {
            match piece {
                b'1'..=b'8' => file = file.saturating_add(piece - b'0'),
                _ => {
                    counts[usize::from(piece.is_ascii_lowercase())] += 1;
                    let seen = &mut white_pawns[usize::from(file)];
                    *seen |= piece == b'P';
                    has_opposing |= piece == b'p' && *seen;
                    file = file.saturating_add(1);
                }
            }
        }
    }
    has_opposing && counts.iter().all(|count| *count >= 3)
}

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
        _ => mv.dtz.or(mv.dtc).map_or(u32::MAX, |dtz| dtz.unsigned_abs().saturating_add(1)),
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

    use zeitnot_rules::Color;

    use super::*;

    /// A move by its name, the category of the position after it, and the distances there to zeroing and to mate. `x`
    /// is a capture, `#` mates.
    fn mv(text: &str) -> ProbeMove {
        let words: Vec<_> = text.split(' ').collect();
        let distance = |at: usize| words.get(at).map(|word| word.parse().unwrap());
        let uci = words[0].to_owned();
        let category = words[1].into();
        let zeroing = uci.ends_with('x');
        let checkmate = uci.ends_with('#');
        ProbeMove { uci, category, dtz: distance(2), dtc: None, dtm: distance(3), zeroing, checkmate }
    }

    #[test]
    fn the_best_move_comes_first() {
        let cp = EvalScore::Centipawns;
        for (text, halfmoves, expected) in [
            // A win comes nearer with every move: by the distance to the next capture or pawn move, …
            ("far loss -30, draws draw 0, near loss -12, loses win 3", 0, Some(("near", cp(WON)))),
            ("near loss -12, takesx loss -80", 0, Some(("takesx", cp(WON)))),
            ("near loss -12, takesx loss -80, mates# loss 0", 0, Some(("mates#", EvalScore::Mate(1)))),
            // … or to mate, where it is known for all moves and comes before fifty moves. (A rook that is given away is
            // a short way to a capture, but a long way to mate.)
            ("gives loss -1 -40, mates loss -20 -6", 0, Some(("mates", EvalScore::Mate(4)))),
            ("gives loss -1 -40, mates loss -20 -6", 70, Some(("gives", cp(WON)))),
            ("gives loss -1 -40, mates loss -20 -6, third loss -9", 0, Some(("gives", cp(WON)))),
            // The fifty-move rule turns cursed wins and blessed losses into draws.
            ("draws draw 0, tries blessed-loss -110", 0, Some(("tries", cp(0)))),
            ("lost win 90, saved cursed-win 105, less maybe-win 99", 0, Some(("saved", cp(0)))),
            ("lost win 90, less maybe-win 99", 0, Some(("less", cp(-DOUBTFUL)))),
            ("maybe maybe-loss -2, sure loss -50", 0, Some(("sure", cp(WON)))),
            ("maybe maybe-loss -2, rounded syzygy-loss -50", 40, Some(("rounded", cp(WON)))),
            // A loss is delayed and a draw kept.
            ("soon win 2 4, late win 20 24", 0, Some(("late", cp(-WON)))),
            ("loses win 2, keeps draw 0, too draw 0", 0, Some(("keeps", cp(0)))),
            // Unknown positions are left to the search.
            ("draws draw 0, what unknown 0", 0, None),
            ("new something-new 0", 0, None),
            ("what unknown 0, wins loss -4", 0, Some(("wins", cp(WON)))),
            ("", 0, None),
        ] {
            let moves: Vec<_> = text.split(", ").filter(|mv| !mv.is_empty()).map(mv).collect();
            let first =
                best_first(Probe { category: Category::Unknown, moves }, halfmoves).into_iter().next();
            let first = first.map(|first| (first.mv, first.eval.unwrap().score));
            assert_eq!(first.as_ref().map(|(mv, score)| (mv.as_str(), *score)), expected, "{text}");
        }
    }

    #[test]
    fn only_positions_with_few_pieces_and_no_castling_are_looked_up() {
        let asked = |fen: &str, piece_count| {
            let game = GameKind::Chess;
            let fen = fen.into();
            let side = Color::White;
            let time = Duration::from_secs(9);
            let query = PositionQuery { game, fen, side, piece_count, plies: 90, left: None, time };
            Tablebase::default().request(&query).is_some()
        };
        assert!(asked("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 7));
        assert!(!asked("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 9));
        assert!(!asked("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", 3));
        // Positions of eight pieces are in the tables only with opposing pawns and three pieces a side.
        assert!(asked("4k3/2pr4/3b4/8/8/3B4/2PR4/4K3 w - - 0 1", 8));
        assert!(!asked("4k3/2pr4/3b4/8/8/3B4/3RP3/4K3 w - - 0 1", 8), "on different files");
        assert!(!asked("4k3/2Pr4/3b4/8/8/3B4/2pR4/4K3 w - - 0 1", 8), "past each other");
        assert!(!asked("4k3/2p5/8/8/8/3B4/2PRR3/N3K3 w - - 0 1", 8), "two pieces");
    }

    #[test]
    fn positions_of_eight_pieces_are_won_by_the_way_to_the_next_capture() {
        let moves = [("far", -40), ("near", -6), ("middle", -11)]
            .map(|(name, dtc)| ProbeMove { dtc: Some(dtc), ..mv(&format!("{name} loss")) });
        let moves = best_first(Probe { category: Category::Win, moves: moves.into() }, 0);
        assert_eq!(
            moves.iter().map(|found| found.mv.as_str()).collect::<Vec<_>>(),
            ["near", "middle", "far"]
        );
    }
}
