//! The rules, against counts that other programs agree on: the usual positions, all 960 starts of
//! Chess960 a few moves on, and (ignored by default, seconds in a release build) two counts of more
//! than a hundred million.

use std::{fs, path::Path};

use zeitnot_rules::{chess::Chess, perft};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Counts above this are left to the ignored tests.
const MOST_NODES: u64 = 300_000;

/// Checks every line `FEN ;D1 n ;D2 n …` of a file; the number of lines.
fn check_file(name: &str) -> usize {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(file).unwrap();
    for line in text.lines() {
        let (fen, counts) = line.split_once(';').unwrap();
        let position = Chess::parse(fen).unwrap();
        for count in counts.split(';') {
            let (depth, nodes) = count.trim().strip_prefix('D').unwrap().split_once(' ').unwrap();
            let nodes: u64 = nodes.parse().unwrap();
            if nodes <= MOST_NODES {
                assert_eq!(perft(&position, depth.parse().unwrap()), nodes, "{fen} to depth {depth}");
            }
        }
    }
    text.lines().count()
}

#[test]
fn standard_positions() {
    assert_eq!(check_file("standard.epd"), 128);
}

#[test]
fn chess960_positions() {
    assert_eq!(check_file("chess960.epd"), 960);
}

#[test]
fn the_start_and_kiwipete() {
    assert_eq!(perft(&Chess::start(), 5), 4_865_609);
    assert_eq!(perft(&Chess::parse(KIWIPETE).unwrap(), 4), 4_085_603);
}

#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: seconds in a release build, minutes in others"]
fn the_start_six_plies_deep() {
    assert_eq!(perft(&Chess::start(), 6), 119_060_324);
}

#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: seconds in a release build, minutes in others"]
fn kiwipete_five_plies_deep() {
    assert_eq!(perft(&Chess::parse(KIWIPETE).unwrap(), 5), 193_690_690);
}
