//! Evaluation of the variants of chess by a small net each.

use zeitnot_rules::chess::VariantPosition;

use super::small_net::{Column, NetGame, NetInputs, SmallNet};

mod inputs;

/// A net of a variant; see `docs/net.md`.
type Net = SmallNet<[Column; VariantPosition::INPUTS]>;

static CRAZYHOUSE: Net = Net::read(include_bytes!("../../../nets/crazyhouse.net"));
static ATOMIC: Net = Net::read(include_bytes!("../../../nets/atomic.net"));
static ANTICHESS: Net = Net::read(include_bytes!("../../../nets/antichess.net"));
static HORDE: Net = Net::read(include_bytes!("../../../nets/horde.net"));
static KING_OF_THE_HILL: Net = Net::read(include_bytes!("../../../nets/king-of-the-hill.net"));
static RACING_KINGS: Net = Net::read(include_bytes!("../../../nets/racing-kings.net"));
static THREE_CHECK: Net = Net::read(include_bytes!("../../../nets/three-check.net"));
static GARDNER: Net = Net::read(include_bytes!("../../../nets/gardner.net"));

impl NetGame for VariantPosition {
    fn net(&self) -> &'static SmallNet {
        match self {
            VariantPosition::Crazyhouse(_) => &CRAZYHOUSE,
            VariantPosition::Atomic(_) => &ATOMIC,
            VariantPosition::Antichess(_) => &ANTICHESS,
            VariantPosition::Horde(_) => &HORDE,
            VariantPosition::KingOfTheHill(_) => &KING_OF_THE_HILL,
            VariantPosition::RacingKings(_) => &RACING_KINGS,
            VariantPosition::ThreeCheck(_) => &THREE_CHECK,
            VariantPosition::Gardner(_) => &GARDNER,
        }
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{
        Game,
        chess::{Antichess, Atomic, Crazyhouse, Gardner, Horde, KingOfTheHill, RacingKings, ThreeCheck},
    };

    use super::*;
    use crate::eval::small_net::tests::{assert_follows, score};

    fn starts() -> [VariantPosition; 8] {
        [
            Crazyhouse::start().into(),
            Atomic::start().into(),
            Antichess::start().into(),
            Horde::start().into(),
            KingOfTheHill::start().into(),
            RacingKings::start().into(),
            ThreeCheck::start().into(),
            Gardner::start().into(),
        ]
    }

    #[test]
    fn the_state_follows_the_moves() {
        for start in starts() {
            (0..60).for_each(|seed| assert_follows(&start, seed));
        }
    }

    #[test]
    fn both_sides_see_the_same_at_the_start() {
        for start in starts().into_iter().filter(|start| !matches!(start, VariantPosition::Horde(_))) {
            let fen = start.print();
            let turned = start.parse_position(&fen.replace(" w ", " b ")).unwrap();
            let scores = [score(&start), score(&turned)];
            assert!(scores.iter().all(|cp| cp.abs() < 150), "{fen}: {scores:?}");
            // Racing kings begin on the left and on the right.
            assert!(
                scores[0] == scores[1] || matches!(start, VariantPosition::RacingKings(_)),
                "{fen}: {scores:?}"
            );
        }
    }

    #[test]
    fn what_counts_counts() {
        let cp = |start: VariantPosition, fen: &str| score(&start.parse_position(fen).unwrap());
        let board = "rnbqkb1r/ppp2ppp/8/8/8/8/PPP2PPP/RNBQKB1R";
        let hand = |hand| cp(Crazyhouse::start().into(), &format!("{board}[{hand}] w KQkq - 0 6"));
        assert!(hand("NN") > hand("PN") && hand("PN") > hand("N") && hand("N") > hand("n"));
        let checks = |left| cp(ThreeCheck::start().into(), &format!("{board} w KQkq - {left} 0 6"));
        assert!(checks("1+3") > checks("2+3") && checks("2+3") > checks("3+3"));
        assert!(checks("3+3") > checks("3+2") && checks("3+2") > checks("3+1"));
        let hill =
            |king| cp(KingOfTheHill::start().into(), &format!("8/pp3pk1/8/8/{king}/8/PP3P2/8 w - - 0 40"));
        assert!(hill("2K5") > hill("K7"));
        let race = |white, black| {
            cp(RacingKings::start().into(), &format!("8/{white}/8/8/8/{black}/8/1R4r1 w - - 0 9"))
        };
        assert!(race("K7", "7k") > race("7k", "K7"));
        let few = |white| cp(Antichess::start().into(), &format!("8/pppp4/8/8/8/8/{white}/8 w - - 0 30"));
        assert!(few("PP6") > few("PPPPPP2"));
        let gardner = |row| cp(Gardner::start().into(), &format!("{row}/ppppp/5/PPPPP/RNBQK w - - 0 1"));
        assert!(gardner("rnb1k") > gardner("r1bqk") && gardner("r1bqk") > gardner("rnbqk") + 100);
    }
}
