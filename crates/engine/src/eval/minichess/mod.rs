//! Evaluation of MiniChess by a small net for each of the rules.

use zeitnot_rules::minichess::{MiniChess, Rules};

use super::small_net::{Column, NetGame, NetInputs, SmallNet};

mod inputs;

/// A net of MiniChess; see `docs/net.md`.
type Net = SmallNet<[Column; MiniChess::INPUTS]>;

static IMCS: Net = Net::read(include_bytes!("../../../nets/minichess-imcs.net"));
static NTHU_2023: Net = Net::read(include_bytes!("../../../nets/minichess-2023.net"));
static NTHU_2026: Net = Net::read(include_bytes!("../../../nets/minichess-2026.net"));

impl NetGame for MiniChess {
    fn net(&self) -> &'static SmallNet {
        match self.rules() {
            Rules::Imcs => &IMCS,
            Rules::Nthu2023 => &NTHU_2023,
            Rules::Nthu2026 => &NTHU_2026,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::small_net::tests::{assert_follows, score};

    const ALL_RULES: [Rules; 3] = [Rules::Imcs, Rules::Nthu2023, Rules::Nthu2026];

    fn cp(rules: Rules, text: &str) -> i32 {
        score(&MiniChess::parse(rules, text).unwrap())
    }

    #[test]
    fn both_sides_see_the_same_and_a_queen_counts() {
        for rules in ALL_RULES {
            let cp = |text| cp(rules, text);
            assert!(cp("kqbnr/ppppp/...../...../PPPPP/RNBQK W 1").abs() < 100, "{rules:?}");
            assert!(cp("k.bnr/ppppp/...../...../PPPPP/RNBQK W 1") > 200, "{rules:?}");
            assert!(cp("k.bnr/ppppp/...../...../PPPPP/RNBQK B 1") < -200, "{rules:?}");
        }
    }

    #[test]
    fn a_lead_counts_for_more_where_it_decides_soon() {
        let at = |rules, number: u16| cp(rules, &format!("k..../..p../...../..P../.P.../K.... W {number}"));
        assert!(at(Rules::Nthu2026, 49) > at(Rules::Nthu2026, 20));
        assert!(at(Rules::Nthu2023, 24) > at(Rules::Nthu2023, 10));
        assert!(at(Rules::Imcs, 39) < at(Rules::Imcs, 10), "that count is a draw");
    }

    #[test]
    fn the_state_follows_the_moves() {
        for rules in ALL_RULES {
            (0..100).for_each(|seed| assert_follows(&MiniChess::start(rules), seed));
        }
    }
}
