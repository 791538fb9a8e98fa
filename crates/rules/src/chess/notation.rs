//! Moves as text: coordinates (UCI), the contest protocol's long algebraic, and SAN.

use shakmaty::{CastlingMode, Move, Position, san::San, uci::UciMove};

use crate::game::MoveText;

/// Reads a legal move in any notation.
pub(super) fn read<P: Position>(position: &P, text: &str) -> Option<Move> {
    let text = text.trim();
    coordinates(text)
        .and_then(|uci| uci.to_move(position).ok())
        .or_else(|| San::from_ascii(plain(text).as_bytes()).ok()?.to_move(position).ok())
}

/// Reads coordinates: `e2e4`, `e2-e4`, `e7e8q`, `e7-e8=Q`.
fn coordinates(text: &str) -> Option<UciMove> {
    let mut plain = [0; 5];
    let mut length = 0;
    for byte in text.bytes().filter(|b| !matches!(b, b'-' | b'=' | b'+' | b'#' | b'x')) {
        *plain.get_mut(length)? = if length == 4 { byte.to_ascii_lowercase() } else { byte };
        length += 1;
    }
    UciMove::from_ascii(&plain[..length]).ok()
}

/// Removes what SAN does not have: zeros instead of letters in castling, and a hyphen between squares, as in `Nb8-c6`.
fn plain(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'0') => text.replace('0', "O"),
        Some(b'O') => text.to_owned(),
        _ => text.replace('-', ""),
    }
}

/// Writes coordinates; castling as the king's move, or as king takes rook in Chess960.
pub(super) fn write(mv: Move, mode: CastlingMode) -> MoveText {
    // Coordinates have at most five characters, and always fit.
    MoveText::new(&mv.to_uci(mode).to_string()).unwrap_or(MoveText::NONE)
}

#[cfg(test)]
mod tests {
    use crate::{chess::Chess, game::Game};

    #[test]
    fn one_move_in_many_notations() {
        for (fen, expected, texts) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "g1f3",
                &["g1f3", "g1-f3", "Nf3", "Ng1-f3", " g1f3 "][..],
            ),
            (
                "3r3k/4P3/8/8/8/8/8/K7 w - - 0 1",
                "e7d8q",
                &["e7d8q", "e7-d8=Q", "e7xd8=Q", "e7d8Q", "exd8=Q+", "exd8=Q"],
            ),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", &["e1g1", "e1-g1", "e1h1", "O-O", "0-0"]),
            ("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", "e8c8", &["e8c8", "e8-c8", "O-O-O", "0-0-0"]),
            ("4k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", &["b1a1", "O-O-O"]),
        ] {
            let position = Chess::parse(fen).unwrap();
            for text in texts {
                let mv = position.read(text).unwrap_or_else(|e| panic!("{fen}: {e}"));
                assert_eq!(position.write(mv).as_str(), expected, "{fen} {text}");
            }
        }
    }

    #[test]
    fn illegal_moves_are_refused() {
        for text in
            ["", "e2", "e2e5", "e7e5", "0000", "O-O", "e2e4q", "Nd2", "e2-e4-e5", "héé", "e2e4e4e4e4e4"]
        {
            assert!(Chess::start().read(text).is_err(), "{text}");
        }
    }
}
