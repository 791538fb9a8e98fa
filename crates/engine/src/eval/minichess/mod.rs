//! Evaluation of MiniChess: a small net by the rules of 2026, on which it was trained, and by hand by the others.

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

/// See `docs/net.md`.
static NET: SmallNet<[Column; MiniChess::INPUTS]> =
    SmallNet::<[Column; MiniChess::INPUTS]>::read(include_bytes!("../../../nets/minichess-2026.net"));

/// Evaluator of all kinds of MiniChess.
#[derive(Copy, Clone, Debug, Default)]
pub struct MiniChessEval;

/// Incrementally updated state of the evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Net(HiddenLayers),
    HandMade(Sums),
}

fn net() -> &'static SmallNet {
    &NET
}

impl Evaluator<MiniChess> for MiniChessEval {
    type State = State;

    fn refresh(&mut self, position: &MiniChess) -> State {
        State(match position.kind() {
            GameKind::Minichess2026 => Kind::Net(net().refresh(position)),
            _ => Kind::HandMade(Sums::of(position)),
        })
    }

    fn update(&mut self, state: &State, before: &MiniChess, mv: Move) -> State {
        State(match &state.0 {
            Kind::Net(layers) => Kind::Net(net().update(layers, before, mv)),
            Kind::HandMade(sums) => Kind::HandMade(sums.after(before, mv)),
        })
    }

    fn evaluate(&mut self, state: &State, position: &MiniChess) -> Score {
        Score::cp(match &state.0 {
            Kind::Net(layers) => net().evaluate(layers, position),
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
            |rules, number: u16| score(rules, &format!("kqbnr/.pppp/...../...../PPPPP/RNBQK W {number}"));
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
