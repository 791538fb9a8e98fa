//! Variants: counts of moves, ends, exchanges, moves as text and bits.

use proptest::prelude::*;
use shakmaty::variant;

use super::{
    Antichess, Atomic, ChessPosition, ChessRules, Crazyhouse, Gardner, GardnerRules, KingOfTheHill,
    ThreeCheck, position::hash,
};
use crate::{
    Color, DynGame, Game, GameKind, Outcome, Reason, Tactics, perft,
    random_games::{assert_comes_back, random_game},
};

fn counts<R: ChessRules>(fen: &str, counts: &[u64]) {
    let position =
        if fen.is_empty() { ChessPosition::<R>::start() } else { ChessPosition::<R>::parse(fen).unwrap() };
    for (depth, &count) in (1..).zip(counts) {
        // Of long rows only those depths that are named.
        assert!(count == 0 || perft(&position, depth) == count, "{} {fen}, depth {depth}", R::KIND.name());
    }
}

/// Counts as published in the tests of Fairy-Stockfish, python-chess and shakmaty; those of Gardner's minichess are by
/// Fairy-Stockfish (pyffish 0.0.90).
#[test]
fn perft_agrees_with_the_published_counts() {
    use counts as check;
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
    check::<variant::ThreeCheck>("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 1+1 0 1", &[26, 562, 13_410]);
    check::<variant::ThreeCheck>("7r/1p4p1/pk3p2/RN6/8/P5Pp/3p1P1P/4R1K1 w - - 1+3 1 39", &[0, 0, 12_407]);
    let near = "rnb2b1r/ppp2ppp/3k4/8/1PKp1pn1/3Pq3/PBP1P2P/RN1Q1B1R w - - 4 12";
    check::<variant::KingOfTheHill>(near, &[0, 0, 19_003]);
    check::<variant::Crazyhouse>("2k5/8/8/8/8/8/8/4K3[Qn] w - - 0 1", &[67, 3083, 88_634]);
    check::<variant::Atomic>("rn1qkb1r/p5pp/2p5/3p4/N3P3/5P2/PPP4P/R1BQK3 w Qkq - 0 1", &[28, 833, 23_353]);
    check::<variant::Atomic>("r4b1r/2kb1N2/p2Bpnp1/8/2Pp3p/1P1PPP2/P5PP/R3K2R b KQ - 0 1", &[0, 148]);
    // Castling with shuffled rooks, beside a king that nothing can check.
    check::<variant::Atomic>("8/8/8/8/8/8/2k5/rR4KR w KQ - 0 1", &[18, 180, 4364, 61_401]);
    let passant = "k7/5p2/4p2P/3p2P1/2p2P2/1p2P2P/p2P2P1/2P2P2 w - - 0 1";
    check::<variant::Horde>(passant, &[13, 172, 2205, 33_781]);
    let knight = "4k3/7r/8/P7/2p1n2P/3p2P1/1P3P2/PPP1PPP1 w - - 0 1";
    check::<variant::Horde>(knight, &[0, 0, 0, 128_809]);
    check::<variant::RacingKings>("6r1/2K5/5k2/8/3R4/8/8/8 w - - 0 1", &[0, 0, 0, 86_041]);
    check::<variant::RacingKings>("6R1/2k5/5K2/8/3r4/8/8/8 b - - 0 1", &[0, 0, 0, 86_009]);
    check::<GardnerRules>("", &[7, 53, 506, 4775, 52_512]);
    // Promotions of both sides, pins and checks.
    check::<GardnerRules>("2rqk/P4/5/4p/1KQ2 w - - 0 1", &[16, 241, 2688, 42_599]);
    check::<GardnerRules>("r2qk/1P1pp/2p2/pP1P1/R1BQK w - - 0 1", &[19, 225, 3579, 46_081]);
    check::<GardnerRules>("k4/P1Pp1/1K3/3p1/4R b - - 0 1", &[9, 80, 436, 3686]);
}

/// The same, some plies deeper.
#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: tens of millions of positions: seconds in a release build"]
fn perft_agrees_with_the_published_counts_of_more_plies() {
    counts::<variant::Crazyhouse>("", &[0, 0, 0, 0, 4_888_832]);
    counts::<variant::Crazyhouse>("2k5/8/8/8/8/8/8/4K3[Qn] w - - 0 1", &[0, 0, 0, 932_554]);
    counts::<variant::Crazyhouse>(
        "r1bqk2r/pppp1ppp/2n1p3/4P3/1b1Pn3/2NB1N2/PPP2PPP/R1BQK2R[] b KQkq - 0 1",
        &[42, 1347, 58_057, 2_083_382],
    );
    counts::<variant::Atomic>("", &[0, 0, 0, 0, 4_864_979]);
    counts::<variant::Antichess>("", &[0, 0, 0, 0, 2_732_672]);
    counts::<variant::Antichess>("8/2p5/8/8/8/8/P7/8 w - - 0 1", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2557]);
    counts::<variant::Horde>("", &[0, 0, 0, 0, 265_223, 5_396_554]);
    counts::<variant::KingOfTheHill>("", &[0, 0, 0, 0, 4_865_609]);
    counts::<variant::RacingKings>("", &[0, 0, 0, 296_242, 9_472_927]);
    counts::<variant::RacingKings>("4brn1/2K2k2/8/8/8/8/8/8 w - - 0 1", &[0, 0, 0, 0, 0, 265_932]);
}

fn outcome<R: ChessRules>(fen: &str) -> Outcome {
    let position = ChessPosition::<R>::parse(fen).unwrap();
    let outcome = position.outcome();
    let quick = position.quick_outcome();
    // What is said without generating moves is the same, but for the lack of a move.
    assert!(quick == outcome || quick == Outcome::Ongoing && position.moves().is_empty(), "{fen}");
    outcome
}

#[test]
fn each_variant_has_its_end() {
    use Outcome::{Draw, Ongoing, Win};
    let won = |kind, color| Win(color, Reason::VariantEnd(kind));
    let white = Color::White;
    let black = Color::Black;
    for (found, expected) in [
        (
            outcome::<variant::Atomic>("rn5r/pp4pp/2p3Nn/5p2/1b2P1PP/8/PPP2P2/R1B1KB1R b KQ - 0 9"),
            won(GameKind::Atomic, white),
        ),
        (outcome::<variant::Atomic>("8/4rk2/8/8/8/8/3K4/8 w - - 0 1"), Draw(Reason::InsufficientMaterial)),
        (outcome::<variant::Antichess>("8/8/8/8/8/8/8/7n w - - 0 1"), won(GameKind::Antichess, white)),
        // Stalemate wins.
        (outcome::<variant::Antichess>("8/8/8/8/8/p7/P7/8 b - - 0 1"), won(GameKind::Antichess, black)),
        (outcome::<variant::Antichess>("8/8/8/8/8/p7/P7/7N b - - 0 1"), won(GameKind::Antichess, black)),
        (outcome::<variant::Horde>("4k3/8/8/8/8/8/8/8 w - - 0 1"), won(GameKind::Horde, black)),
        (
            outcome::<variant::KingOfTheHill>("7k/8/8/3K4/8/8/8/8 b - - 0 1"),
            won(GameKind::KingOfTheHill, white),
        ),
        (outcome::<variant::KingOfTheHill>("7k/8/8/2K5/8/8/8/8 b - - 0 1"), Ongoing),
        (outcome::<variant::RacingKings>("1k6/6K1/8/8/8/8/8/8 w - - 0 1"), won(GameKind::RacingKings, black)),
        // Black is given a chance to catch up, and takes it.
        (outcome::<variant::RacingKings>("1K6/7k/8/8/8/8/8/8 b - - 0 1"), Ongoing),
        (
            outcome::<variant::RacingKings>("kr3NK1/1q2R3/8/8/8/5n2/2N5/1rb2B1R w - - 11 14"),
            Draw(Reason::VariantEnd(GameKind::RacingKings)),
        ),
        (
            outcome::<variant::ThreeCheck>("4k3/8/8/8/8/8/8/4K2R w - - 3+0 0 1"),
            won(GameKind::ThreeCheck, black),
        ),
        (
            outcome::<variant::ThreeCheck>("4k3/8/8/8/8/8/8/4K3 w - - 3+3 0 1"),
            Draw(Reason::InsufficientMaterial),
        ),
        // A mate is no mate where a piece can be dropped between.
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
        assert_eq!((hand.write(mv).as_str(), hand.san(mv).as_str()), (uci, san));
    }
    for text in ["N@a1", "P@a1", "P@a8", "Q@e1", "K@a1", "@@a1", "Q@"] {
        assert!(hand.read(text).is_err(), "{text}");
    }
}

#[test]
fn the_same_pieces_are_another_position_in_each_game() {
    let mut keys: Vec<_> = [
        super::Chess::start().key(),
        Crazyhouse::start().key(),
        Atomic::start().key(),
        Antichess::start().key(),
        KingOfTheHill::start().key(),
        ThreeCheck::start().key(),
        Gardner::start().key(),
    ]
    .map(|key| key.0)
    .into();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 7);
}

#[test]
fn a_move_that_wins_at_once_is_not_quiet() {
    fn check<R: ChessRules>(fen: &str, wins: &str, quiet: &str) {
        let position = ChessPosition::<R>::parse(fen).unwrap();
        let noisy = position.noisy_moves();
        let wins = position.read(wins).unwrap();
        let quiet = position.read(quiet).unwrap();
        assert!(position.gain(wins) > 5000 && position.see_ge(wins, 5000) && noisy.contains(&wins), "{fen}");
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

#[test]
fn exchanges_are_those_of_each_game() {
    fn check<R: ChessRules>(fen: &str, rows: &[(&str, i32, i32)]) {
        let position = ChessPosition::<R>::parse(fen).unwrap();
        for &(text, gain, value) in rows {
            let mv = position.read(text).unwrap();
            assert_eq!(position.gain(mv), gain, "{} {fen} {text}", R::KIND.name());
            assert!(position.see_ge(mv, value), "{} {fen} {text} wins {value}", R::KIND.name());
            assert!(
                !position.see_ge(mv, value + 2),
                "{} {fen} {text} wins no more than {value}",
                R::KIND.name()
            );
        }
    }
    // A knight is lost on one side and won on the other; a promoted queen comes as a pawn.
    check::<variant::Crazyhouse>(
        "4k3/3p4/2n1q~3/8/8/8/8/2R1R1K1[] w - - 0 1",
        &[("c1c6", 640, 640 - 1000), ("e1e6", 1000, 1800 - 1000)],
    );
    // A piece dropped where it is taken is lost; but not every check is a mistake.
    let drops = Crazyhouse::parse("7k/6pp/8/8/8/8/6PP/6K1[Nq] w - - 0 1").unwrap();
    let drop = |text: &str, value| drops.see_ge(drops.read(text).unwrap(), value);
    assert!(drop("N@f7", 0) && drop("N@d4", 0) && !drop("N@h6", 0) && drop("N@h6", -640));
    // Of two rooks that stand side by side both explode, and whoever takes them.
    check::<variant::Atomic>("6k1/8/2rr4/8/8/8/8/2R3K1 w - - 0 1", &[("c1c6", 500, 500)]);
    // An exchange that would lose a queen in chess wins one: nobody is there to take back.
    check::<variant::Atomic>("3qk3/8/1p6/2p5/8/8/8/2Q3K1 w - - 0 1", &[("c1c5", -800, -800)]);
    // There is nothing to be won by taking, and nothing to be decided.
    check::<variant::Antichess>("8/8/2q5/8/8/8/8/2R5 w - - 0 1", &[("c1c6", 1, 1)]);
    // Usual ones: the horde's pawns, and guards of the racing kings.
    check::<variant::Horde>("4k3/8/2p5/1p6/P7/8/8/8 w - - 0 1", &[("a4b5", 100, 0)]);
    check::<variant::RacingKings>("8/8/8/3r4/8/5N2/k1K5/3R4 w - - 0 1", &[("d1d5", 500, 500)]);
    check::<variant::KingOfTheHill>("7k/8/4p3/3p4/8/8/8/3R2K1 w - - 0 1", &[("d1d5", 100, -400)]);
    check::<variant::ThreeCheck>("7k/8/4p3/3p4/8/8/8/3R2K1 w - - 3+3 0 1", &[("d1d5", 100, -400)]);
}

#[test]
fn passing_is_left_where_it_proves_nothing() {
    fn passes<R: ChessRules>(fen: &str) -> bool {
        ChessPosition::<R>::parse(fen).unwrap().pass().is_some()
    }
    // To have to move is what antichess is about; and who can take must.
    assert!(!passes::<variant::Antichess>("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"));
    // A queen gets into zugzwang where kings cannot be checked.
    assert!(!passes::<variant::Atomic>("8/8/8/8/8/2k5/3K4/Q7 w - - 0 1"));
    assert!(passes::<variant::Atomic>("6k1/8/8/8/8/8/3K4/QN6 w - - 0 1"));
    // What is in hand can always be dropped.
    assert!(passes::<variant::Crazyhouse>("7k/8/8/8/8/8/PP6/K7[P] w - - 0 1"));
    assert!(!passes::<variant::Crazyhouse>("7k/8/8/8/8/8/PP6/K7[p] w - - 0 1"));
    // Pawns that stand before each other.
    assert!(!passes::<variant::Horde>("4k3/8/p1p5/P1P5/8/8/8/8 w - - 0 1"));
    assert!(passes::<variant::Horde>("rnbqkbnr/8/8/8/8/8/PPPPPPPP/PPPPPPPP b - - 0 1"));
    // The other king has one move left to follow.
    assert!(!passes::<variant::RacingKings>("1K6/7k/7r/8/8/8/R7/8 b - - 0 1"));
    assert!(passes::<variant::RacingKings>("8/K6k/7r/8/8/8/R7/8 w - - 0 1"));
    assert!(passes::<variant::KingOfTheHill>("7k/8/8/8/8/8/R7/K7 w - - 0 1"));
    assert!(!passes::<variant::ThreeCheck>("R6k/8/8/8/8/8/8/K7 b - - 2+3 0 1"), "in check");
}

fn comes_back<R: ChessRules>(choices: &[prop::sample::Index], bits: u16) {
    let game = random_game(ChessPosition::<R>::start(), choices);
    let now = game.now();
    assert_comes_back(now, bits);
    assert_eq!(now.key, hash(&now.position));
    if let Some(passed) = now.pass() {
        assert_eq!(passed.key, hash(&passed.position));
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
        comes_back::<GardnerRules>(&choices, bits);
    }

    #[test]
    fn hostile_text_never_panics(text in ".{0,80}", pocket in "[qQpPnNkK~]{0,70}", left in "[0-9+-]{0,8}") {
        for &game in GameKind::ALL {
            let _ = DynGame::begin(game, Some(&text));
            let fen = format!("4k3/8/8/8/8/8/8/4K3[{pocket}] w - - {left} 0 1");
            if let Ok(line) = DynGame::begin(game, Some(&fen)) {
                let _ = (line.outcome(), line.read(&text));
            }
        }
    }
}
