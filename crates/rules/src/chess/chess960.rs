//! Starting positions of Chess960.

/// One of the 960 starting positions, as a FEN.
///
/// ```
/// use zeitnot_rules::{Game, chess::{Chess, chess960_start}};
///
/// let start = chess960_start(&mut fastrand::Rng::with_seed(1));
/// assert!(Chess::parse_chess960(&start).unwrap().is_chess960());
/// ```
pub fn chess960_start(random: &mut fastrand::Rng) -> String {
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
    let black = String::from_utf8_lossy(&rank);
    let white = black.to_ascii_uppercase();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{chess::Chess, game::Game};

    #[test]
    fn there_are_960() {
        let mut random = fastrand::Rng::with_seed(1);
        let found: BTreeSet<String> = (0..20_000).map(|_| chess960_start(&mut random)).collect();
        assert_eq!(found.len(), 960);
        for fen in found {
            let position = Chess::parse_chess960(&fen).unwrap();
            assert!(position.print().split(' ').nth(2).unwrap().len() == 4, "{fen}");
        }
    }
}
