//! Evaluation of MiniChess: a small net by the rules of 2023 and of 2026 each, and by hand by those of IMCS.

use zeitnot_rules::{
    Game, GameKind,
    minichess::{MiniChess, Move},
};

use super::{
    Evaluator,
    small_net::{Column, HiddenLayers, NetInputs, SmallNet},
};
use crate::Score;
use hand_made::Sums;

mod hand_made;
mod inputs;
mod weights;

/// A net of MiniChess; see `docs/net.md`.
type Net = SmallNet<[Column; MiniChess::INPUTS]>;

/// By the rules of 2023.
static NET_2023: Net = Net::read(include_bytes!("../../../nets/minichess-2023.net"));
/// By the rules of 2026.
static NET_2026: Net = Net::read(include_bytes!("../../../nets/minichess-2026.net"));

/// Evaluator of all kinds of MiniChess.
#[derive(Copy, Clone, Debug, Default)]
pub struct MiniChessEval;

/// Incrementally updated state of the evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Net(NetRules, HiddenLayers),
    HandMade(Sums),
}

/// Rules with a net.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum NetRules {
    Nthu2023,
    Nthu2026,
}

impl NetRules {
    fn of(position: &MiniChess) -> Option<NetRules> {
        match position.kind() {
            GameKind::Minichess2023 => Some(NetRules::Nthu2023),
            GameKind::Minichess2026 => Some(NetRules::Nthu2026),
            _ => None,
        }
    }

    fn net(self) -> &'static SmallNet {
        match self {
            NetRules::Nthu2023 => &NET_2023,
            NetRules::Nthu2026 => &NET_2026,
        }
    }
}

impl Evaluator<MiniChess> for MiniChessEval {
    type State = State;

    fn refresh(&mut self, position: &MiniChess) -> State {
        State(match NetRules::of(position) {
            Some(rules) => Kind::Net(rules, rules.net().refresh(position)),
            None => Kind::HandMade(Sums::of(position)),
        })
    }

    fn update(&mut self, state: &State, before: &MiniChess, mv: Move) -> State {
        State(match &state.0 {
            Kind::Net(rules, layers) => Kind::Net(*rules, rules.net().update(layers, before, mv)),
            Kind::HandMade(sums) => Kind::HandMade(sums.after(before, mv)),
        })
    }

    fn evaluate(&mut self, state: &State, position: &MiniChess) -> Score {
        Score::cp(match &state.0 {
            Kind::Net(rules, layers) => rules.net().evaluate(layers, position),
            Kind::HandMade(sums) => sums.evaluate(position),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::minichess::Rules;

    const ALL_RULES: [Rules; 3] = [Rules::Imcs, Rules::Nthu2023, Rules::Nthu2026];

    fn score(rules: Rules, text: &str) -> i32 {
        let position = MiniChess::parse(rules, text).unwrap();
        MiniChessEval.evaluate(&MiniChessEval.refresh(&position), &position).get()
    }

    #[test]
    fn both_sides_see_the_same_and_a_queen_counts() {
        for rules in ALL_RULES {
            let score = |text| score(rules, text);
            assert!(score("kqbnr/ppppp/...../...../PPPPP/RNBQK W 1").abs() < 100, "{rules:?}");
            assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK W 1") > 200, "{rules:?}");
            assert!(score("k.bnr/ppppp/...../...../PPPPP/RNBQK B 1") < -200, "{rules:?}");
        }
    }

    #[test]
    fn a_lead_counts_for_more_where_it_decides_soon() {
        let at =
            |rules, number: u16| score(rules, &format!("k..../..p../...../..P../.P.../K.... W {number}"));
        assert!(at(Rules::Nthu2026, 49) > at(Rules::Nthu2026, 20));
        assert!(at(Rules::Nthu2023, 24) > at(Rules::Nthu2023, 10));
        assert_eq!(at(Rules::Imcs, 39), at(Rules::Imcs, 10), "that count is a draw");
    }

    #[test]
    fn the_state_follows_the_moves() {
        for rules in ALL_RULES {
            for game in 0..100 {
                let (mut random, mut position) = (fastrand::Rng::with_seed(game), MiniChess::start(rules));
                let mut state = MiniChessEval.refresh(&position);
                while !position.outcome().is_over() {
                    let mv = random.choice(position.moves()).unwrap();
                    state = MiniChessEval.update(&state, &position, mv);
                    position.play(mv);
                    assert_eq!(state, MiniChessEval.refresh(&position));
                }
            }
        }
    }
}
