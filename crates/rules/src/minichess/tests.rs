//! MiniChess: counts of moves, ends, exchanges, moves as text and bits.

use proptest::prelude::*;

use super::{
    MiniChess,
    Rules::{self, Imcs, Nthu2023, Nthu2026},
};
use crate::{
    Color, Game, GameHistory, Margin, Outcome, Reason, Tactics, perft,
    random_games::{assert_comes_back, random_game},
};

#[test]
fn perft_agrees_with_the_servers_rules() {
    let start = "kqbnr/ppppp/...../...../PPPPP/RNBQK W";
    let second = "kqb.r/..ppp/p..../.BP../P.PnP/R..QK W";
    let [third, black] = ["W", "B"].map(|side| format!("k...r/..P.p/.p.../....q/pP..P/R.B.K {side}"));
    for (rules, text, counts) in [
        (Nthu2023, start, &[7, 49, 452, 4230, 47102][..]),
        (Imcs, start, &[7, 49, 473, 4627, 54252]),
        (Nthu2026, second, &[12, 198, 2576, 43415]),
        (Imcs, second, &[15, 263, 3956, 71521]),
        (Nthu2023, &third, &[8, 132, 1463, 24729]),
        (Imcs, &third, &[11, 187, 2510, 43895]),
        (Nthu2023, &black, &[18, 154, 2713, 29606]),
        (Imcs, &black, &[18, 205, 3690, 48604]),
    ] {
        let position = MiniChess::parse(rules, text).unwrap();
        for (depth, &count) in (1..).zip(counts) {
            assert_eq!(perft(&position, depth), count, "{text}, depth {depth}");
        }
    }
}

fn outcome(rules: Rules, text: &str, plies: u16) -> Outcome {
    MiniChess::parse(rules, text).unwrap().at_ply(plies).outcome()
}

#[test]
fn a_king_en_prise_is_lost_in_the_course_and_not_on_the_server() {
    let text = "k..../...../...../...../...../R...K W";
    assert_eq!(outcome(Nthu2023, text, 10), Outcome::Win(Color::White, Reason::KingEnPrise));
    assert_eq!(outcome(Nthu2026, text, 10), Outcome::Win(Color::White, Reason::KingEnPrise));
    assert_eq!(outcome(Imcs, text, 10), Outcome::Ongoing);
    let mut taken = MiniChess::parse(Imcs, text).unwrap();
    taken.play(taken.read("a1a6").unwrap());
    assert_eq!(taken.outcome(), Outcome::Win(Color::White, Reason::KingCaptured));
    assert!(taken.moves().is_empty());
}

#[test]
fn at_the_end_material_decides_or_nothing() {
    let ahead = "k..../...../...../...../...../.R..K W";
    assert_eq!(outcome(Imcs, ahead, 80), Outcome::Draw(Reason::MoveLimit));
    let by_a_rook = Reason::Material(Margin(6));
    assert_eq!(outcome(Nthu2023, ahead, 50), Outcome::Win(Color::White, by_a_rook));
    assert_eq!(outcome(Nthu2026, ahead, 100), Outcome::Win(Color::White, by_a_rook));
    assert_eq!(outcome(Nthu2023, ahead, 49), Outcome::Ongoing);
    let both = "k...r/...../...../...../...../.R..K B";
    // Black could take the king: that counts in 2026, and comes too late in 2023.
    assert_eq!(outcome(Nthu2026, both, 100), Outcome::Win(Color::Black, Reason::KingEnPrise));
    assert_eq!(outcome(Nthu2023, both, 50), Outcome::Draw(Reason::MoveLimit));
    // A king captured by the very last move wins.
    let mut last = MiniChess::parse(Imcs, "k...r/...../...../...../...../.R..K B").unwrap().at_ply(79);
    last.play(last.read("e6e1").unwrap());
    assert_eq!(last.outcome(), Outcome::Win(Color::Black, Reason::KingCaptured));
}

#[test]
fn checkmate_ends_the_game_of_2026_only() {
    let mate = "k..../Q..../K..../...../...../..... B";
    assert_eq!(outcome(Nthu2026, mate, 20), Outcome::Win(Color::White, Reason::Checkmate));
    assert_eq!(outcome(Nthu2023, mate, 20), Outcome::Ongoing);
}

#[test]
fn the_fourth_time_is_a_draw_in_2026_only() {
    fn shuffle(rules: Rules) -> (usize, Outcome) {
        let mut line = GameHistory::new(MiniChess::start(rules));
        for text in ["b1a3", "d6e4", "a3b1", "e4d6"].into_iter().cycle().take(40) {
            line.play(line.now().read(text).unwrap());
            if line.outcome().is_over() {
                break;
            }
        }
        (line.moves().len(), line.outcome())
    }
    assert_eq!(shuffle(Nthu2026), (12, Outcome::Draw(Reason::Repetition)));
    assert_eq!(shuffle(Nthu2023), (40, Outcome::Ongoing));
}

#[test]
fn near_the_end_the_ply_is_in_the_key_of_tables() {
    let at = |plies| MiniChess::start(Nthu2026).at_ply(plies);
    assert_eq!(at(90).key(), at(92).key());
    assert_ne!(at(90).table_key(), at(92).table_key());
    assert_eq!(at(10).table_key(), at(12).table_key());
    let passed = at(90).pass().unwrap();
    assert_eq!((at(90).plies_left(), passed.plies_left()), (Some(10), Some(9)));
}

#[test]
fn bad_positions_are_refused() {
    for text in [
        "",
        "kqbnr/ppppp/...../...../PPPPP/RNBQK",
        "kqbnr/ppppp/...../...../PPPPP/RNBQK X",
        "kqbnr/ppppp/...../...../PPPPP/RNBQK W 0",
        "kqbnr/ppppp/...../...../PPPPP/RNBQK W 1 more",
        "kqbnr/ppppp/...../...../PPPPP W",
        "kqbnr/ppppp/...../...../PPPPP/RNBQKR W",
        "kqbnr/ppppp/....x/...../PPPPP/RNBQK W",
        "kqbnk/ppppp/...../...../PPPPP/RNBQK W",
        "kqbnP/pppp./...../...../PPPPP/RNBQK W",
        "kqbnr/ppppp/...../...../PPPPP/RNBpK W",
    ] {
        assert!(MiniChess::parse(Imcs, text).is_err(), "{text}");
    }
}

#[test]
fn exchanges_are_counted_with_the_values_of_the_course() {
    let wins = |text: &str, mv: &str, value: i32| {
        let position = MiniChess::parse(Imcs, &format!("{text} W")).unwrap();
        let mv = position.read(mv).unwrap();
        position.see_ge(mv, value) && !position.see_ge(mv, value + 1)
    };
    // A rook takes a pawn: undefended, defended, and with another rook behind it.
    assert!(wins("k..../..p../...../...../..R../K....", "c2c5", 100));
    assert!(wins("k..../..p.r/...../...../..R../K....", "c2c5", 100 - 300));
    assert!(wins("k..../..p.r/...../..R../..R../K....", "c3c5", 100));
    // A king does not take what is defended, and a quiet move may lose a piece.
    assert!(wins("..k../..p../...../..R../..R../K....", "c3c5", 100));
    assert!(wins("k..../...../...../n..../..R../K....", "c2c4", -300));
    // A pawn becomes a queen, and is lost as one.
    assert!(wins("...r./P..k./...../...../...../K....", "a5a6", 900 - 1000));
}

proptest! {
    #[test]
    fn positions_and_moves_come_back_from_text_and_bits(
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        bits: u16,
    ) {
        let game = random_game(MiniChess::start(Imcs), &choices);
        let now = game.now();
        assert_comes_back(now, bits);
        let mut noisy = now.moves();
        noisy.retain(|mv| now.gain(*mv) > 0);
        let mut direct = now.noisy_moves();
        direct.sort_by_key(|mv| now.pack(*mv).0);
        noisy.sort_by_key(|mv| now.pack(*mv).0);
        prop_assert_eq!(direct, noisy);
    }

    #[test]
    fn hostile_text_never_panics(text in ".{0,80}") {
        let _ = MiniChess::parse(Imcs, &text);
        let _ = MiniChess::start(Imcs).read(&text);
    }
}
