//! Laws of report files.

use proptest::{collection::vec, prelude::*, sample::Index};
use zeitnot_rules::Color;

use super::*;

/// Points of a pair, and whether the game was played.
fn round_of(pairs: usize) -> impl Strategy<Value = Vec<(u32, bool, bool)>> {
    vec((0..4_u32, any::<bool>(), any::<bool>()), pairs)
}

/// Tournaments in which the n-th player meets the one beside, or has a bye.
fn tournaments() -> impl Strategy<Value = Trf> {
    let sizes = (1..5_usize, 0..6_usize);
    let rounds = sizes.prop_flat_map(|(pairs, rounds)| (Just(pairs), vec(round_of(pairs), rounds)));
    let head =
        ("[A-Za-zäöü .,0-9]{0,30}", proptest::option::of(1..60_usize), proptest::option::of(any::<bool>()));
    let people =
        vec(("[A-Za-zäöüß,' -]{0,40}", 0..4000_u16, 0..2000_u16, vec(0..5_u32, 0..4), any::<bool>()), 8);
    (rounds, head, people).prop_map(|((pairs, rounds), (name, count, first), people)| {
        let mut players: Vec<_> = people
            .into_iter()
            .take(2 * pairs)
            .zip(1..)
            .map(|((name, rating, rank, points, is_absent), number)| TrfPlayer {
                number: number * 7,
                name: name.trim().chars().take(NAME_LEN).collect::<String>().trim().to_owned(),
                rating,
                rank,
                card: Card::default(),
                virtual_points: points.into_iter().map(Score::from_halves).collect(),
                is_absent,
            })
            .collect();
        for round in &rounds {
            for (pair, &(points, is_played, turned)) in round.iter().enumerate() {
                for (side, color) in [(0, Color::White), (1, Color::Black)] {
                    let place = 2 * pair + side;
                    let opponent = SeatNo(2 * pair + 1 - side);
                    let color = if turned { !color } else { color };
                    let score = Score::from_halves(if side == 0 { points.min(2) } else { 2 - points.min(2) });
                    players[place].card.0.push(match (points, is_played) {
                        (3, _) => Cell::Bye([Bye::Half, Bye::Zero][side]),
                        (_, true) => Cell::Game { opponent, color, score },
                        (1, false) => Cell::Bye([Bye::Allocated, Bye::Full][side]),
                        (_, false) => Cell::Forfeit { opponent, color, score },
                    });
                }
            }
        }
        let first_color = first.map(|white| if white { Color::White } else { Color::Black });
        Trf { name: name.trim().to_owned(), rounds: count, first_color, players }
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_parsed_back(trf in tournaments()) {
        prop_assert_eq!(trf.to_string().parse::<Trf>(), Ok(trf));
    }

    #[test]
    fn hostile_files_do_no_harm(trf in tournaments(), cuts in vec((any::<Index>(), ".{0,12}"), 0..4), any in ".*") {
        let mut text = trf.to_string();
        for (at, garbage) in cuts {
            let chars: Vec<_> = text.chars().collect();
            let at = at.index(chars.len() + 1);
            text = chars[..at].iter().copied().chain(garbage.chars()).chain(chars[at..].iter().copied()).collect();
        }
        for text in [text, any] {
            if let Ok(parsed) = text.parse::<Trf>() {
                prop_assert_eq!(parsed.to_string().parse::<Trf>(), Ok(parsed));
            }
        }
    }
}

fn fault(text: &str) -> String {
    text.parse::<Trf>().unwrap_err().to_string()
}

#[test]
fn faults_say_what_to_mend() {
    let line = |number: u32, rest: &str| format!("001 {number:4}{:83}{rest}\n", "");
    assert_eq!(fault("012 x\n"), "the file has no players (lines that begin with 001)");
    assert_eq!(fault(&format!("012 x\n{}", line(0, ""))), "line 2: \"0\" is no number from 1 to 9999");
    assert_eq!(fault(&line(1, "   9 w 1")), "round 1: the lines of players [1, 9] do not agree");
    assert_eq!(fault(&line(1, "   1 w =")), "round 1: the lines of players [1, 1] do not agree");
    let both = |a: &str, b: &str| fault(&(line(1, a) + &line(2, b)));
    assert_eq!(both("   2 w 1", "   1 b ="), "round 1: the lines of players [1, 2] do not agree");
    assert_eq!(both("   2 w 1", "   1 w 0"), "round 1: the lines of players [1, 2] do not agree");
    assert_eq!(both("   2 w  ", "   1 b  "), "line 1: round 1: the game against 2 has no result yet");
    assert_eq!(both("   2 w ?", ""), "line 1: round 1: \"2 w ?\" is no opponent, colour and result");
    assert_eq!(fault("XXR 61"), "line 1: \"61\" is no number of rounds from 1 to 60");
    assert_eq!(fault(&(line(1, "") + &line(1, ""))), "line 2: a second player with the number 1");
    let many: String = (1..=1025).map(|number| line(number, "")).collect();
    assert_eq!(fault(&many), "line 1025: more than 1024 players");
    assert_eq!(fault(&"x".repeat(3 << 20)), "the file is larger than 2048 KiB");
}
