//! Random games for tests, and what holds in every position of any game.

use proptest::sample::Index;

use crate::{Game, GameHistory, Packed, PieceTo, SQUARES, Tactics};

/// A game with these choices among the moves, up to its end.
pub(crate) fn random_game<G: Game>(start: G, choices: &[Index]) -> GameHistory<G> {
    let mut game = GameHistory::new(start);
    for choice in choices {
        let moves = game.now().moves();
        if moves.is_empty() {
            break;
        }
        game.play(moves[choice.index(moves.len())]);
    }
    game
}

/// Checks that a position and its moves come back from text and bits, and that any bits are a legal move or none.
pub(crate) fn assert_comes_back<G: Tactics>(now: &G, bits: u16) {
    let parse = if now.is_chess960() { G::parse_chess960_position } else { G::parse_position };
    let again = parse(now, &now.print()).unwrap();
    assert_eq!((again.key(), again.print()), (now.key(), now.print()));
    let moves = now.moves();
    for &mv in &moves {
        assert_eq!(now.unpack(now.pack(mv)), Some(mv));
        assert_eq!(now.read(now.write(mv).as_str()), Ok(mv));
        assert_eq!(now.read(&now.san(mv)), Ok(mv), "{} {}", now.print(), now.san(mv));
        assert_ne!(now.pack(mv), Packed::NONE);
        assert!(now.piece_to(mv).index() < PieceTo::COUNT && now.target(mv) < SQUARES);
    }
    if let Some(mv) = now.unpack(Packed(bits)) {
        assert!(moves.contains(&mv));
    }
    if let Some(passed) = now.pass() {
        assert_ne!(passed.side_to_move(), now.side_to_move());
    }
}
