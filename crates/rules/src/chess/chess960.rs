//! Starting positions of Chess960.

/// A random start, as a FEN: one of the 942 that only Chess960 can have. In the other 18 the king and both rooks stand on
/// their squares of chess: nothing would tell the game from one of chess, where castling is written otherwise.
///
/// ```
/// use zeitnot_rules::{Game, chess::{Chess, chess960_start}};
///
/// let start = chess960_start(&mut fastrand::Rng::with_seed(1));
/// assert!(Chess::parse(&start).unwrap().is_chess960());
/// ```
pub fn chess960_start(random: &mut fastrand::Rng) -> String {
    let mut rank = first_rank(random);
    while let [b'r', _, _, _, b'k', _, _, b'r'] = rank {
        rank = first_rank(random);
    }
    let black = String::from_utf8_lossy(&rank);
    let white = black.to_ascii_uppercase();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1")
}

/// Shuffles the pieces behind the pawns.
fn first_rank(random: &mut fastrand::Rng) -> [u8; 8] {
    // Bishops on squares of both colors, then the queen and the knights; rook, king and rook fill the rest.
    let mut rank = [b'-'; 8];
    rank[2 * random.usize(..4)] = b'b';
    rank[2 * random.usize(..4) + 1] = b'b';
    for piece in *b"qnn" {
        let free: Vec<usize> = (0..8).filter(|&file| rank[file] == b'-').collect();
        rank[free[random.usize(..free.len())]] = piece;
    }
    let mut left = b"rkr".iter();
    for square in &mut rank {
        if *square == b'-' {
            *square = left.next().copied().unwrap_or(b'r');
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{chess::Chess, game::Game};

    #[test]
    fn all_but_18_of_the_960_are_drawn_and_none_passes_for_chess() {
        let mut random = fastrand::Rng::with_seed(1);
        let found: BTreeSet<String> = (0..20_000).map(|_| chess960_start(&mut random)).collect();
        assert_eq!(found.len(), 960 - 18);
        for fen in found {
            let position = Chess::parse(&fen).unwrap();
            assert!(position.is_chess960(), "{fen}");
            assert!(position.print().split(' ').nth(2).unwrap().len() == 4, "{fen}");
        }
    }
}
