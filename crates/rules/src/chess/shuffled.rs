//! Where a game of Chess960 begins.

/// One of the 960 positions, as a FEN.
pub fn shuffled(random: &mut fastrand::Rng) -> String {
    // Bishops on squares of both colours, then the queen and the knights; what is left is rook, king, rook.
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

    use shakmaty::CastlingMode;

    use super::*;
    use crate::{Game, chess::Chess};

    #[test]
    fn there_are_960() {
        let mut random = fastrand::Rng::with_seed(1);
        let found: BTreeSet<String> = (0..20_000).map(|_| shuffled(&mut random)).collect();
        assert_eq!(found.len(), 960);
        for fen in found {
            let position = Chess::parse_as(&fen, CastlingMode::Chess960).unwrap();
            assert!(position.print().split(' ').nth(2).unwrap().len() == 4, "{fen}");
        }
    }
}
