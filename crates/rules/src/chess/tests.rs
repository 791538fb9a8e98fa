//! Standard chess: keys, moves as text and bits, checks, ends.

use proptest::prelude::*;
use shakmaty::Move;

use super::{Chess, position::hash};
use crate::{
    Color, Game, GameHistory, Outcome, Reason, Tactics, perft,
    random_games::{self, assert_comes_back},
};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Positions along random games from roots with much castling, en passant and promotion in them.
fn random_game() -> impl Strategy<Value = GameHistory<Chess>> {
    let roots = prop::sample::select(vec![
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        KIWIPETE,
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    ]);
    (roots, prop::collection::vec(any::<prop::sample::Index>(), 0..120))
        .prop_map(|(root, choices)| random_games::random_game(Chess::parse(root).unwrap(), &choices))
}

proptest! {
    #[test]
    fn the_key_is_shakmatys(line in random_game()) {
        let now = line.now();
        prop_assert_eq!(now.key, hash(&now.position));
        if let Some(passed) = now.pass() {
            prop_assert_eq!(passed.key, hash(&passed.position));
            prop_assert!(!passed.is_check());
        }
    }

    #[test]
    fn positions_and_moves_come_back_from_text_and_bits(line in random_game(), bits: u16) {
        let now = line.now();
        assert_comes_back(now, bits);
        prop_assert_eq!(Chess::from_bytes(&now.to_bytes()).unwrap().print(), now.print());
    }

    #[test]
    fn noisy_moves_are_the_captures_and_queen_promotions(line in random_game()) {
        let now = line.now();
        if !now.is_check() {
            let mut all = now.moves();
            all.retain(|m| now.is_noisy(*m));
            let mut noisy = now.noisy_moves();
            let order = |m: &Move| now.pack(*m).0;
            all.sort_by_key(order);
            noisy.sort_by_key(order);
            prop_assert_eq!(all, noisy);
        }
    }

    #[test]
    fn checks_are_seen_before_the_move_is_played(line in random_game()) {
        let now = line.now();
        for mv in now.moves() {
            prop_assert_eq!(now.gives_check(mv), now.after(mv).is_check(), "{} {:?}", now.print(), mv);
        }
    }

    #[test]
    fn hostile_text_never_panics(text in ".{0,80}") {
        let _ = Chess::parse(&text);
        let _ = Chess::start().read(&text);
    }
}

#[test]
fn kiwipete() {
    assert_eq!(perft(&Chess::parse(KIWIPETE).unwrap(), 3), 97_862);
}

#[test]
fn ends() {
    for (fen, outcome) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Outcome::Draw(Reason::Stalemate)),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 99 80", Outcome::Win(Color::White, Reason::Checkmate)),
        ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 80", Outcome::Win(Color::White, Reason::Checkmate)),
        ("7k/8/6K1/8/8/8/8/R7 b - - 99 80", Outcome::Ongoing),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 80", Outcome::Draw(Reason::FiftyMoves)),
        ("7k/8/6K1/8/8/8/8/B7 b - - 0 80", Outcome::Draw(Reason::InsufficientMaterial)),
    ] {
        assert_eq!(Chess::parse(fen).unwrap().outcome(), outcome, "{fen}");
    }
}
