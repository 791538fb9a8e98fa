//! Variants: counts of moves, ends, and what every text and every packed move must come back as.

use proptest::prelude::*;

use super::*;
use crate::game::{GameId, Line, perft};

/// Counts as published by Fairy-Stockfish and lichess, and in shakmaty's own suite.
#[test]
fn perft_agrees_with_the_published_counts() {
    fn check<P: Rules>(fen: &str, counts: &[u64]) {
        let position = if fen.is_empty() { Variant::<P>::start() } else { Variant::<P>::parse(fen).unwrap() };
        for (depth, &count) in (1..).zip(counts) {
            assert_eq!(perft(&position, depth), count, "{} {fen}, depth {depth}", P::NAME);
        }
    }
    check::<variant::Crazyhouse>("", &[20, 400, 8902, 197_281]);
    check::<variant::Crazyhouse>("2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1", &[301, 75_353]);
    check::<variant::Crazyhouse>("4k3/1Q~6/8/8/4b3/8/Kpp5/8/ b - - 0 1", &[20, 360, 5445]);
    check::<variant::Atomic>("", &[20, 400, 8902, 197_326]);
    check::<variant::Atomic>(
        "rn2kb1r/1pp1p2p/p2q1pp1/3P4/2P3b1/4PN2/PP3PPP/R2QKB1R b KQkq - 0 1",
        &[40, 1238, 45_237],
    );
    check::<variant::Antichess>("", &[20, 400, 8067, 153_299]);
    check::<variant::Antichess>("8/1p6/8/8/8/8/P7/8 w - - 0 1", &[2, 4, 4, 3, 1, 0]);
    check::<variant::Horde>("", &[8, 128, 1274, 23_310]);
    check::<variant::Horde>("4k3/pp4q1/3P2p1/8/P3PP2/PPP2r2/PPP5/PPPP4 b - - 0 1", &[30, 241, 6633]);
    check::<variant::KingOfTheHill>("", &[20, 400, 8902, 197_281]);
    check::<variant::RacingKings>("", &[21, 421, 11_264]);
    check::<variant::RacingKings>("4brn1/2K2k2/8/8/8/8/8/8 w - - 0 1", &[6, 33, 178, 3151, 12_981]);
    check::<variant::ThreeCheck>("", &[20, 400, 8902, 197_281]);
    let checks = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 1+1 0 1";
    check::<variant::ThreeCheck>(checks, &[48, 2039, 97_848]);
}

fn outcome<P: Rules>(fen: &str) -> Outcome {
    let position = Variant::<P>::parse(fen).unwrap();
    let outcome = position.outcome();
    let settled = position.settled();
    // What is said without generating moves is the same, but for the lack of a move.
    assert!(settled == outcome || settled == Outcome::Ongoing && position.moves().is_empty(), "{fen}");
    outcome
}

#[test]
fn each_variant_has_its_end() {
    use Outcome::{Draw, Ongoing, Win};
    let won = |side| Win(side, Reason::VariantEnd);
    let (white, black) = (Side::First, Side::Second);
    for (found, expected) in [
        (outcome::<variant::Atomic>("rn5r/pp4pp/2p3Nn/5p2/1b2P1PP/8/PPP2P2/R1B1KB1R b KQ - 0 9"), won(white)),
        (outcome::<variant::Atomic>("8/4rk2/8/8/8/8/3K4/8 w - - 0 1"), Draw(Reason::InsufficientMaterial)),
        (outcome::<variant::Antichess>("8/8/8/8/8/8/8/7n w - - 0 1"), won(white)),
        // Stalemate wins.
        (outcome::<variant::Antichess>("8/8/8/8/8/p7/P7/8 b - - 0 1"), won(black)),
        (outcome::<variant::Antichess>("8/8/8/8/8/p7/P7/7N b - - 0 1"), won(black)),
        (outcome::<variant::Horde>("4k3/8/8/8/8/8/8/8 w - - 0 1"), won(black)),
        (outcome::<variant::KingOfTheHill>("7k/8/8/3K4/8/8/8/8 b - - 0 1"), won(white)),
        (outcome::<variant::KingOfTheHill>("7k/8/8/2K5/8/8/8/8 b - - 0 1"), Ongoing),
        (outcome::<variant::RacingKings>("1k6/6K1/8/8/8/8/8/8 w - - 0 1"), won(black)),
        // Black is given a chance to catch up, and takes it.
        (outcome::<variant::RacingKings>("1K6/7k/8/8/8/8/8/8 b - - 0 1"), Ongoing),
        (
            outcome::<variant::RacingKings>("kr3NK1/1q2R3/8/8/8/5n2/2N5/1rb2B1R w - - 11 14"),
            Draw(Reason::VariantEnd),
        ),
        (outcome::<variant::ThreeCheck>("4k3/8/8/8/8/8/8/4K2R w - - 3+0 0 1"), won(black)),
        (
            outcome::<variant::ThreeCheck>("4k3/8/8/8/8/8/8/4K3 w - - 3+3 0 1"),
            Draw(Reason::InsufficientMaterial),
        ),
        // A mate is no mate where a man can be dropped between.
        (
            outcome::<variant::Crazyhouse>("R5k1/5ppp/8/8/8/8/8/4K3[] b - - 0 1"),
            Win(white, Reason::Checkmate),
        ),
        (outcome::<variant::Crazyhouse>("R5k1/5ppp/8/8/8/8/8/4K3[n] b - - 0 1"), Ongoing),
        (outcome::<variant::Crazyhouse>("6k1/5ppp/8/8/8/8/8/4K2R[n] b - - 120 90"), Ongoing),
        (
            outcome::<variant::ThreeCheck>("6k1/5ppp/8/8/8/8/8/4K2R b - - 3+3 100 90"),
            Draw(Reason::FiftyMoves),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn texts_of_servers_are_understood() {
    let checks = ThreeCheck::parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 +1+0").unwrap();
    assert_eq!(checks.print(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 2+3 0 1");
    let pocket = Crazyhouse::parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/ w KQkq - 0 1").unwrap();
    assert_eq!(pocket.key(), Crazyhouse::start().key());
    // Old texts of antichess still have castling rights in them.
    assert!(Antichess::parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").is_ok());
    let hand = Crazyhouse::parse("4k3/8/8/8/8/8/8/4K3[QPn] w - - 0 1").unwrap();
    for (text, uci, san) in [("Q@e4", "Q@e4", "Q@e4+"), ("@a3", "P@a3", "@a3"), ("q@d3", "Q@d3", "Q@d3")] {
        let mv = hand.read(text).unwrap();
        assert_eq!((hand.write(mv).as_str(), hand.record(mv).as_str()), (uci, san));
    }
    for text in ["N@a1", "P@a1", "P@a8", "Q@e1", "K@a1", "@@a1", "Q@"] {
        assert!(hand.read(text).is_err(), "{text}");
    }
}

#[test]
fn the_same_men_are_another_position_in_each_game() {
    let mut keys: Vec<_> = [
        crate::game::chess::Chess::start().key(),
        Crazyhouse::start().key(),
        Atomic::start().key(),
        Antichess::start().key(),
        KingOfTheHill::start().key(),
        ThreeCheck::start().key(),
    ]
    .map(|key| key.0)
    .into();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 6);
}

#[test]
fn what_wins_at_once_is_no_quiet_move() {
    fn check<P: Rules>(fen: &str, wins: &str, quiet: &str) {
        let position = Variant::<P>::parse(fen).unwrap();
        let noisy = position.noisy_moves();
        let (wins, quiet) = (position.read(wins).unwrap(), position.read(quiet).unwrap());
        assert!(
            position.gain(wins) > 5000 && position.exchange(wins, 5000) && noisy.contains(&wins),
            "{fen}"
        );
        assert!(position.gain(quiet) == 0 && !noisy.contains(&quiet), "{fen}");
    }
    check::<variant::KingOfTheHill>("7k/8/8/2K5/8/8/8/8 w - - 0 1", "c5d5", "c5b5");
    check::<variant::RacingKings>("8/K7/8/8/8/8/7k/8 w - - 0 1", "a7a8", "a7b7");
    check::<variant::ThreeCheck>("4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "a1a8", "a1a7");
    check::<variant::Atomic>("4k3/3p4/8/8/8/8/8/3QK3 w - - 0 1", "d1d7", "d1d3");
    // What explodes with it counts.
    let atomic = Atomic::parse("4k3/8/8/2r5/3p4/2N5/8/3QK3 w - - 0 1").unwrap();
    assert_eq!(atomic.gain(atomic.read("d1d4").unwrap()), 100 + 500 - 900 - 320);
}

/// The line of a random game.
fn random_game<P: Rules>(choices: &[prop::sample::Index]) -> Line<Variant<P>> {
    let mut line = Line::new(Variant::<P>::start());
    for choice in choices {
        let moves = line.now().moves();
        if moves.is_empty() {
            break;
        }
        line.play(moves[choice.index(moves.len())]);
    }
    line
}

fn comes_back<P: Rules>(choices: &[prop::sample::Index], bits: u16) {
    let line = random_game::<P>(choices);
    let now = line.now();
    assert_eq!(now.key, hash(&now.position));
    let again = Variant::<P>::parse(&now.print()).unwrap();
    assert_eq!((again.key(), again.print()), (now.key(), now.print()));
    let moves = now.moves();
    for &mv in &moves {
        assert_eq!(now.unpack(now.pack(mv)), Some(mv));
        assert_eq!(now.read(now.write(mv).as_str()), Ok(mv));
        assert_eq!(now.read(&now.record(mv)), Ok(mv), "{} {}", now.print(), now.record(mv));
        assert_ne!(now.pack(mv), Packed::NONE);
        assert!(now.piece_to(mv).index() < PieceTo::COUNT && now.target(mv) < crate::game::SQUARES);
    }
    if let Some(mv) = now.unpack(Packed(bits)) {
        assert!(moves.contains(&mv));
    }
    if let Some(passed) = now.pass() {
        assert_eq!(passed.key, hash(&passed.position));
        assert_ne!(passed.side(), now.side());
    }
}

proptest! {
    #[test]
    fn positions_and_moves_come_back_from_text_and_bits(
        choices in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
        bits: u16,
    ) {
        comes_back::<variant::Crazyhouse>(&choices, bits);
        comes_back::<variant::Atomic>(&choices, bits);
        comes_back::<variant::Antichess>(&choices, bits);
        comes_back::<variant::Horde>(&choices, bits);
        comes_back::<variant::KingOfTheHill>(&choices, bits);
        comes_back::<variant::RacingKings>(&choices, bits);
        comes_back::<variant::ThreeCheck>(&choices, bits);
    }

    #[test]
    fn hostile_text_never_panics(text in ".{0,80}", pocket in "[qQpPnNkK~]{0,70}", left in "[0-9+-]{0,8}") {
        for &game in GameId::ALL {
            let _ = crate::game::AnyLine::begin(game, Some(&text));
            let fen = format!("4k3/8/8/8/8/8/8/4K3[{pocket}] w - - {left} 0 1");
            if let Ok(line) = crate::game::AnyLine::begin(game, Some(&fen)) {
                let _ = (line.outcome(), line.read(&text));
            }
        }
    }
}
