//! Pairing of one round by the Dutch rules (FIDE handbook C.04.3 of 2026), bracket after bracket.
//!
//! The pairing of a bracket is a matching of the greatest weight: the criteria of part C are the weights, and the
//! order of the candidates (part D: who is exchanged, who meets whom) is found by one question after the other, each
//! by a little more weight on some edges. The matching always takes in all who are left, so that the rest can be
//! paired (C4); a bye is a vertex of its own. The way is that of bbpPairings (Apache-2.0), which FIDE has endorsed.

use zeitnot_rules::Color;

use super::{
    baku::Acceleration,
    bracket::Bracket,
    color,
    contender::Contender,
    matching::Matcher,
    weights::{ByeRule, Round, Scale},
    wide::Wide,
};
use crate::card::{Card, SeatNo};

/// Pairs of a round, White first, and who has the bye.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundPairing {
    pub(super) games: Vec<[SeatNo; 2]>,
    pub(super) bye: Option<SeatNo>,
}

/// Pairs the players of a round. `None` if no pairing satisfies the absolute criteria.
pub(super) fn pair(
    cards: &[Card],
    players: &[SeatNo],
    round: Round,
    acceleration: &Acceleration,
) -> Option<RoundPairing> {
    let contenders = Contender::all(cards, players, round.played, acceleration);
    if contenders.is_empty() {
        return Some(RoundPairing::default());
    }
    let bye = match contenders.len() % 2 {
        0 => None,
        _ => Some(find_bye(&contenders, round)?),
    };
    pair_brackets(&contenders, round, bye)
}

/// Returns the colour of the first of two players of a round who are paired with each other.
pub(super) fn color_between(
    cards: &[Card],
    players: [SeatNo; 2],
    round: Round,
    acceleration: &Acceleration,
) -> Color {
    let contenders = Contender::all(cards, &players, round.played, acceleration);
    let [higher, lower] = contenders.as_slice() else { return Color::White };
    let color = color::allocate(higher, lower, round.initial);
    if higher.seat == players[0] { color } else { !color }
}

/// C5: the lowest score at which somebody can have the bye.
fn find_bye(contenders: &[Contender], round: Round) -> Option<ByeRule> {
    let bye = contenders.len();
    let top = contenders.partition_point(|player| player.score == contenders[0].score);
    let mut matcher = Matcher::<1>::new(bye + 1);
    for (i, player) in contenders.iter().enumerate() {
        for (j, other) in contenders.iter().enumerate().skip(i + 1) {
            // Of equal scores, the one with which the first group is paired best.
            let weight = Wide::from(i64::from(j < top));
            matcher.set(i, j, round.may_meet(player, other).then_some(weight));
        }
        let price = -i64::from(player.score.halves()) * (bye as i64 + 1);
        matcher.set(i, bye, player.may_have_bye.then_some(Wide::from(price)));
    }
    let mates = matcher.solve()?;
    let score = contenders[mates[bye]].score;
    let stay = mates[..top].iter().all(|mate| *mate < top || *mate == bye);
    Some(ByeRule { score, is_only_floater: score == contenders[0].score && stay })
}

fn pair_brackets(contenders: &[Contender], round: Round, mut bye: Option<ByeRule>) -> Option<RoundPairing> {
    let mut pairing = RoundPairing::default();
    let mut moved_down: Vec<&Contender> = Vec::new();
    let mut below = contenders;
    while let Some(first) = below.first() {
        let group = below.partition_point(|player| player.score == first.score);
        let (group, rest) = below.split_at(group);
        let next = rest.partition_point(|player| player.score == rest[0].score);
        let sizes = [moved_down.len(), group.len(), next];
        let players: Vec<_> = moved_down.iter().copied().chain(group).chain(rest).collect();
        let scale = Scale::new(&players[..sizes.iter().sum()], players.len(), round.played);
        let paired = match scale.total_bits().div_ceil(64) {
            ..=4 => Bracket::<4>::new(&players, sizes, &scale, round, bye).pair(),
            5..=8 => Bracket::<8>::new(&players, sizes, &scale, round, bye).pair(),
            9..=16 => Bracket::<16>::new(&players, sizes, &scale, round, bye).pair(),
            _ => Bracket::<64>::new(&players, sizes, &scale, round, bye).pair(),
        }?;
        for (higher, lower) in paired.pairs {
            let (higher, lower) = (players[higher], players[lower]);
            let white_is_higher = color::allocate(higher, lower, round.initial) == Color::White;
            let seats = [higher.seat, lower.seat];
            pairing.games.push(if white_is_higher { seats } else { [seats[1], seats[0]] });
        }
        moved_down = paired.floaters.into_iter().map(|player| players[player]).collect();
        if let Some(bye) = &mut bye {
            bye.is_only_floater =
                paired.stays_above_rest && rest.first().is_some_and(|player| bye.score >= player.score);
        }
        below = rest;
    }
    pairing.bye = moved_down.first().map(|player| player.seat);
    Some(pairing)
}
