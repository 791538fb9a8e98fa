//! TUC-Chess: points, prizes, ends, exchanges, moves as text and bits.

use proptest::prelude::*;

use super::{Move, Rules, SQUARES, Square, Tuc};
use crate::{ByColor, Color, Game, GameHistory, Outcome, Reason, Tactics, random_games::assert_comes_back};

fn position(text: &str) -> Tuc {
    Tuc::parse(text).unwrap()
}

fn after(text: &str, mv: &str) -> String {
    let mut position = position(text);
    position.play(position.read(mv).unwrap());
    position.print()
}

#[test]
fn a_rook_goes_three_squares_and_stops_at_pieces_and_prizes() {
    let rook = position("..k../...../...../..*../...../R.*../..K.. w 0-0 20 0 2021");
    let mut moves: Vec<_> =
        rook.moves().iter().map(ToString::to_string).filter(|mv| mv.starts_with('5')).collect();
    moves.sort();
    assert_eq!(moves, ["5020", "5030", "5040", "5051", "5052", "5060"]);
}

#[test]
fn points_are_counted_as_the_original_counts_them() {
    let text = |board: &str, rules: &str| format!("{board} b 0-0 20 0 {rules}");
    let board = "..k../...../...../...../...../.p.../P.K..";
    // Straight to the last row: a point, and one piece fewer in the count.
    assert_eq!(
        after(&text(board, "2021"), "5161"),
        "..k../...../...../...../...../...../P.K.. w 0-100 19 1 2021"
    );
    // By capture: the point for the row goes to the other side, and the pawn is still counted.
    assert_eq!(
        after(&text(board, "2021"), "5160"),
        "..k../...../...../...../...../...../..K.. w 100-100 19 1 2021"
    );
    assert_eq!(
        after(&text(board, "2022"), "5160"),
        "..k../...../...../...../...../...../..K.. w 0-200 19 1 2022"
    );
    assert_eq!(
        after(&text(board, "2022"), "5162"),
        "..k../...../...../...../...../...../P.... w 100-800 20 1 2022"
    );
    let strict = text(board, "2021-strict");
    assert_eq!(after(&strict, "5160"), "..k../...../...../...../...../...../..K.. w 0-200 18 1 2021-strict");
}

#[test]
fn a_prize_is_counted_at_what_it_is_expected_to_be_worth() {
    let text = |rules: &str| format!("..k../...../...../.*.../.P.../...../..K.. w 0-0 20 0 {rules}");
    for (rules, value) in [("2019", 85), ("2021", 90), ("2022", 95)] {
        let expected = format!("..k../...../...../.P.../...../...../..K.. b {value}-0 20 1 {rules}");
        assert_eq!(after(&text(rules), "4131"), expected);
    }
    let mut heard = position(&text("2021"));
    let mv = heard.read("4131").unwrap();
    assert!(heard.hear(mv, Color::Black, Square::at(0, 0), ByColor([1, 0])));
    assert_eq!(heard.print(), "*.k../...../...../.P.../...../...../..K.. b 100-0 20 1 2021");
}

#[test]
fn the_side_that_takes_the_king_wins_only_with_more_points() {
    for (points, winner) in [("0-0", Color::White), ("0-700", Color::White), ("0-900", Color::Black)] {
        let mut p = position(&format!("..k../..K../...../...../...../...../..... w {points} 20 0 2021"));
        p.play(p.read("1202").unwrap());
        assert_eq!(p.outcome(), Outcome::Win(winner, Reason::KingCaptured), "{points}");
    }
    let mut p = position("..k../..K../...../...../...../...../..... w 0-800 20 0 2021");
    p.play(p.read("1202").unwrap());
    assert_eq!(p.outcome(), Outcome::Draw(Reason::KingCaptured));
}

#[test]
fn bare_kings_end_the_game_by_the_servers_count() {
    let bare =
        |count| position(&format!("..k../...../..K../...../...../...../..... w 300-200 {count} 90 2021"));
    assert_eq!(bare(2).outcome(), Outcome::Win(Color::White, Reason::BareKings));
    assert_eq!(bare(3).outcome(), Outcome::Ongoing);
}

#[test]
fn jumps_are_understood_and_only_made_where_that_is_asked_for() {
    let text = |rules: &str| format!("..k../...../...../...../...../p..../..K.* b 0-0 20 0 {rules}");
    assert!(position(&text("2021")).read("5064").is_err());
    assert!(position(&text("2021+jumps")).read("5064").is_ok());
    let mut heard = position(&text("2021"));
    let jump = Move::parse("5064").unwrap();
    assert!(heard.hear(jump, Color::White, None, ByColor([0, 2])));
    assert_eq!(heard.print(), "..k../...../...../...../...../...../..K.. w 0-200 19 1 2021");
}

#[test]
fn a_move_that_does_not_fit_moves_what_stands_there() {
    let mut heard = Tuc::start();
    assert!(!heard.hear(Move::parse("0133").unwrap(), Color::Black, None, ByColor([0, 1])));
    assert_eq!(heard.print(), "p.krp/ppppp/...../***r*/...../PPPPP/PRKRP b 0-100 20 1 2021");
    assert!(!heard.hear(Move::parse("2240").unwrap(), Color::Black, Square::at(3, 3), ByColor([0, 1])));
}

#[test]
fn bad_positions_are_refused() {
    let start = Tuc::start().print();
    for (old, new) in [
        ("prkrp", "prkr"),
        ("prkrp", "prkkp"),
        ("prkrp", "Prkrp"),
        ("*****", "**x**"),
        (" w ", " W "),
        (" 0-0 ", " 0 "),
        (" 0-0 ", " -1-0 "),
        (" 20 ", " 19 "),
        (" 2021", " 2020"),
        (" 2021", ""),
        (" 0 2021", " 99999 2021"),
    ] {
        assert!(Tuc::parse(&start.replacen(old, new, 1)).is_err(), "{new}");
    }
}

#[test]
fn exchanges_are_counted_in_points() {
    let wins = |text: &str, mv: &str, value: i32| {
        let position = position(&format!("{text} w 0-0 20 0 2021"));
        let mv = position.read(mv).unwrap();
        position.see_ge(mv, value) && !position.see_ge(mv, value + 1)
    };
    // A rook takes a pawn that nobody, a rook out of reach, and a rook in reach defends.
    assert!(wins("..k../...../p..../...../R..../...../..K..", "4020", 100));
    assert!(wins("..k../...../p...r/...../R..../...../..K..", "4020", 100));
    assert!(wins("..k../...../p..r./...../R..../...../..K..", "4020", 100 - 300));
    // A prize stops the defender; one on the square itself is taken with it.
    assert!(wins("..k../...../p.*r./...../R..../...../..K..", "4020", 100));
    assert!(wins("..k../...../*..r./...../R..../...../..K..", "4020", 90 - 300));
    // The second rook takes back; a pawn that leaves the board cannot be taken.
    assert!(wins("..k../...../p..r./...../R..../R..../..K..", "4020", 100));
    assert!(wins("r.k../.P.../...../...../...../...../..K..", "1100", 300 + 100));
}

fn random_game() -> impl Strategy<Value = GameHistory<Tuc>> {
    let choices = prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index, u8)>(), 0..120);
    choices.prop_map(|choices| {
        let rules = Rules { jumps: true, ..Rules::default() };
        let mut line = GameHistory::new(Tuc::start_by(rules));
        for (choice, square, dice) in choices {
            let moves = line.now().moves();
            if moves.is_empty() {
                break;
            }
            line.play(moves[choice.index(moves.len())]);
            let mut now = line.now().clone();
            if dice < 50 && now.free_squares() != 0 {
                now.put_prize(Square::new(square.index(SQUARES)));
            }
            line.amend(now);
        }
        line
    })
}

proptest! {
    #[test]
    fn positions_and_moves_come_back_from_text_and_bits(line in random_game(), bits: u16) {
        let now = line.now();
        assert_comes_back(now, bits);
        prop_assert_eq!(&Tuc::parse(&now.print()).unwrap(), now);
    }

    #[test]
    fn hostile_text_never_panics(text in ".{0,80}", from in 0..SQUARES, to in 0..SQUARES) {
        let _ = Tuc::parse(&text);
        let _ = Tuc::start().read(&text);
        let mut position = Tuc::start();
        position.hear(Move { from: Square::new(from), to: Square::new(to) }, Color::Black, None, ByColor([0, 0]));
    }
}
