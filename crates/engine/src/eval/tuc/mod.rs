//! Evaluation of TUC-Chess by a small net.

use zeitnot_rules::tuc::Tuc;

use super::small_net::{Column, NetGame, NetInputs, SmallNet};

mod inputs;

/// See `docs/net.md`.
static NET: SmallNet<[Column; Tuc::INPUTS]> =
    SmallNet::<[Column; Tuc::INPUTS]>::read(include_bytes!("../../../nets/tuc.net"));

impl NetGame for Tuc {
    fn net(&self) -> &'static SmallNet {
        &NET
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::tuc::{SQUARES, Square};

    use super::*;
    use crate::eval::small_net::tests::{self, assert_follows};

    fn score(text: &str) -> i32 {
        tests::score(&Tuc::parse(text).unwrap())
    }

    #[test]
    fn both_sides_see_the_same_and_points_and_pieces_count() {
        let start = "prkrp/ppppp/...../*****/...../PPPPP/PRKRP";
        assert!(score(&format!("{start} w 0-0 20 0 2021")).abs() < 100);
        assert_eq!(score(&format!("{start} w 0-0 20 0 2021")), score(&format!("{start} b 0-0 20 0 2021")));
        assert_eq!(
            score(&format!("{start} w 300-0 20 0 2021")),
            score(&format!("{start} b 0-300 20 0 2021"))
        );
        assert!(score(&format!("{start} w 300-0 20 0 2021")) > 100);
        assert!(score(&format!("{start} b 300-0 20 0 2021")) < -100);
        let ahead = "p.krp/ppppp/...../*****/...../PPPPP/PRKRP";
        assert!(score(&format!("{ahead} w 0-0 19 0 2021")) > 100);
        assert!(score(&format!("{ahead} b 0-0 19 0 2021")) < -100);
    }

    #[test]
    fn the_state_follows_the_moves() {
        for seed in 0..100 {
            let (mut random, mut position) = (fastrand::Rng::with_seed(seed), Tuc::start());
            for _ in 0..seed % 5 {
                position.put_prize(Square::new(random.usize(..SQUARES)));
            }
            assert_follows(&position, seed);
        }
    }
}
