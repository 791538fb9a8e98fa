//! Tests of keys, selection, and invalid files.

use std::{fs, path::Path};

use zeitnot_rules::{
    Game, GameHistory,
    chess::{Chess, Crazyhouse, ThreeCheck, VariantPosition},
};

use super::*;

#[path = "../../../../tests/support/polyglot.rs"]
#[allow(unreachable_pub)] // the integration tests use it, too
mod builder;
use builder::{Builder, packed};

/// A book with these entries: moves to a position, book move, weight.
fn entries(entries: &[(&str, &str, u16)]) -> Builder {
    let add = |book: Builder, &(moves, mv, weight): &_| book.entry(key(&after(moves)), mv, weight);
    entries.iter().fold(Builder::default(), add)
}

fn open(files: &[Builder], config: BookConfig) -> Book {
    let folder = tempfile::tempdir().unwrap();
    let write = |(at, builder): (usize, &Builder)| {
        let path = folder.path().join(format!("{at}.bin"));
        fs::write(&path, builder.bytes()).unwrap();
        path
    };
    let files = files.iter().enumerate().map(write).collect();
    Book::open(&BookConfig { files, ..config }).unwrap().unwrap()
}

fn key(position: &Chess) -> u64 {
    position.book_key().unwrap()
}

fn after(moves: &str) -> Chess {
    let mut line = GameHistory::new(Chess::start());
    moves.split_whitespace().for_each(|text| line.play(line.now().read(text).unwrap()));
    line.now().clone()
}

fn pick_at(book: &Book, position: &Chess, plies: usize) -> Option<String> {
    let mv = book.pick(position.book_key()?, plies, |text| position.read(text).ok())?;
    Some(position.write(mv).to_string())
}

fn pick(book: &Book, moves: &str) -> Option<String> {
    pick_at(book, &after(moves), 0)
}

fn best() -> BookConfig {
    BookConfig { selection: Selection::Best, ..BookConfig::default() }
}

/// Test positions of the format's specification.
#[test]
fn keys_are_those_of_the_format() {
    for (moves, key) in [
        ("", 0x463b_9618_1691_fc9c),
        ("e2e4", 0x823c_9b50_fd11_4196),
        ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
        ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
        ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
        ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
        ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
        ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
        ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
    ] {
        assert_eq!(after(moves).book_key(), Some(key), "{moves}");
    }
}

/// Books of variants have the keys of python-chess, which knows nothing of pieces in hand and given checks.
#[test]
fn only_the_board_of_a_variant_counts() {
    let start = Chess::start().book_key();
    assert_eq!(VariantPosition::from(ThreeCheck::start()).book_key(), start);
    let swap = ["e2e4", "d7d5", "e4d5", "d8d5"];
    let mut hand = VariantPosition::from(Crazyhouse::start());
    let mut chess = Chess::start();
    for text in swap {
        hand.play(hand.read(text).unwrap());
        chess.play(chess.read(text).unwrap());
    }
    assert_eq!(hand.book_key(), chess.book_key());
}

/// En passant counts where an enemy pawn stands beside, even if it is pinned.
#[test]
fn a_pinned_pawn_still_makes_another_key() {
    let beside = "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1";
    let nobody = "8/8/8/6p1/k2P3Q/8/8/3K4 b - d3 0 1";
    let keys = |fen: &str| {
        let without = fen.replace("d3", "-");
        [fen, &without].map(|fen| Chess::parse(fen).unwrap().book_key())
    };
    assert_eq!(keys(nobody)[0], keys(nobody)[1]);
    // From a FEN the rules keep no square that nobody can capture on; played, the key tells the difference.
    let mut played = Chess::parse("8/8/8/8/k3p2Q/8/3P4/3K4 w - - 0 1").unwrap();
    played.play(played.read("d2d4").unwrap());
    assert_ne!(played.book_key(), keys(beside)[1]);
}

#[test]
fn the_greatest_weight_or_any_that_counts() {
    let known = entries(&[("", "e2e4", 300), ("", "d2d4", 100), ("", "a2a4", 0), ("e2e4", "c7c5", 1)]);
    let book = |config| open(std::slice::from_ref(&known), config);
    let best = book(best());
    assert_eq!(best.entries(), 4);
    assert_eq!(pick(&best, "").as_deref(), Some("e2e4"));
    assert_eq!(pick(&best, "e2e4").as_deref(), Some("c7c5"));
    assert_eq!(pick(&best, "d2d4"), None);
    for (selection, least, most) in [(Selection::Weighted, 680, 820), (Selection::Uniform, 430, 570)] {
        let book = book(BookConfig { selection, ..BookConfig::default() });
        let picked: Vec<_> = (0..1000).map(|_| pick(&book, "").unwrap()).collect();
        let kings_pawn = picked.iter().filter(|mv| *mv == "e2e4").count();
        assert!((least..most).contains(&kings_pawn), "{selection:?}: {kings_pawn} of 1000");
        assert!(!picked.contains(&"a2a4".to_owned()), "without weight it is not to be played");
    }
    let picky = book(BookConfig { min_weight: 101, selection: Selection::Uniform, ..BookConfig::default() });
    assert!((0..50).all(|_| pick(&picky, "").as_deref() == Some("e2e4")));
    for selection in [Selection::Weighted, Selection::Uniform, Selection::Best] {
        let weightless = entries(&[("", "a2a4", 0)]);
        let book = open(&[weightless], BookConfig { min_weight: 0, selection, ..BookConfig::default() });
        assert_eq!(pick(&book, "").as_deref(), Some("a2a4"), "{selection:?}");
    }
}

#[test]
fn no_deeper_than_it_is_told() {
    let book = open(&[entries(&[("", "e2e4", 1)])], BookConfig { max_ply: 8, ..best() });
    assert!(pick_at(&book, &Chess::start(), 7).is_some());
    assert!(pick_at(&book, &Chess::start(), 8).is_none());
}

#[test]
fn several_files_are_one_book() {
    let first = entries(&[("", "e2e4", 5), ("", "d2d4", 6)]);
    let second = entries(&[("", "e2e4", 5), ("e2e4", "e7e5", 1)]);
    let book = open(&[first, second], best());
    assert_eq!(pick(&book, "").as_deref(), Some("e2e4"));
    assert_eq!(pick(&book, "e2e4").as_deref(), Some("e7e5"));
}

#[test]
fn castling_and_promotion_as_the_format_has_them() {
    let castles = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6";
    let shuffled = Chess::parse("4k3/8/8/8/8/8/8/RK6 w A - 0 1").unwrap();
    let promotes = Chess::parse("8/4P2k/8/8/8/8/8/K7 w - - 0 1").unwrap();
    let entries =
        entries(&[(castles, "e1h1", 1)]).entry(key(&shuffled), "b1a1", 1).entry(key(&promotes), "e7e8n", 1);
    let book = open(&[entries], best());
    assert_eq!(pick(&book, castles).as_deref(), Some("e1g1"));
    assert_eq!(pick_at(&book, &shuffled, 0).as_deref(), Some("b1a1"));
    assert_eq!(pick_at(&book, &promotes, 0).as_deref(), Some("e7e8n"));
}

#[test]
fn what_is_no_move_is_passed_over() {
    let start = key(&Chess::start());
    let no_piece = packed("e2e4") | 7 << 12;
    let entries =
        Builder::default().entry(start, "e2e5", 900).raw(start, no_piece, 800).entry(start, "g1f3", 1);
    assert_eq!(pick(&open(&[entries], best()), "").as_deref(), Some("g1f3"));
}

#[test]
fn a_file_that_is_no_book_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let told = |path: &Path| {
        let config = BookConfig { files: vec![path.to_owned()], ..BookConfig::default() };
        Book::open(&config).unwrap_err().to_string()
    };
    let path = folder.path().join("odd.bin");
    let name = path.display();
    assert!(told(&path).starts_with(&format!("book {name}: cannot be read: ")));
    assert!(told(folder.path()).contains("cannot be read"));
    let good = entries(&[("", "e2e4", 1), ("", "d2d4", 1), ("e2e4", "e7e5", 1)]).bytes();
    let turned = [&good[32..], &good[..32]].concat();
    for (bytes, expected) in [
        (&b""[..], "is empty"),
        (&good[..47], "is not a Polyglot book, or is truncated: 47 bytes are not a multiple of 16"),
        (&turned, "is not a Polyglot book: its keys are not sorted at entry 1"),
    ] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(told(&path), format!("book {name}: {expected}"));
    }
    assert!(Book::open(&BookConfig::default()).unwrap().is_none(), "without files there is no book");
}
