//! Weights of the edges of a pairing bracket: the quality criteria of FIDE handbook C.04.3, part C, in their order.
//!
//! Each criterion is a digit, wide enough for its sum over all pairs: the pairing of the greatest weight is the one
//! that satisfies the criteria best, in their order. bbpPairings, which FIDE has endorsed, weighs so too.

use zeitnot_rules::Color;

use super::{
    contender::{Contender, Float, Strength},
    wide::Wide,
};
use crate::card::Score;

/// Round to be paired.
#[derive(Copy, Clone, Debug)]
pub(super) struct Round {
    /// Rounds played so far.
    pub(super) played: usize,
    /// Rounds of the tournament.
    pub(super) rounds: usize,
    /// Colour of the first player in the first round.
    pub(super) initial: Color,
}

impl Round {
    /// Whether two players may meet: C1, and C3 with its exception for topscorers in the last round (A.7).
    pub(super) fn may_meet(&self, a: &Contender, b: &Contender) -> bool {
        let topscorers = self.played + 1 >= self.rounds
            && [a, b].iter().any(|player| player.score.halves() as usize > self.played);
        !a.has_met(b) && (topscorers || !(a.is_absolute() && b.is_absolute() && a.wants_as(b)))
    }
}

/// Bye of a round: the score of who gets it, and whether nobody else floats down from the bracket.
#[derive(Copy, Clone, Debug)]
pub(super) struct ByeRule {
    pub(super) score: Score,
    pub(super) is_only_floater: bool,
}

/// Brackets in which a pair would be: its lower player's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Current,
    Next,
    Below,
}

/// Sizes of the digits of a bracket.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    played: usize,
    /// Bits for a number of players.
    bits: u32,
    /// Scores of the bracket and the next one, the highest first, with the bits for the players who have it.
    scores: Vec<(Score, u32)>,
}

impl Scale {
    /// Returns the scale of a bracket with the next one, in the order of A.2, among `players` altogether.
    pub(super) fn new(bracket: &[&Contender], players: usize, played: usize) -> Self {
        let groups = bracket.chunk_by(|a, b| a.score == b.score);
        let scores = groups.map(|group| (group[0].score, bits_of(group.len()))).collect();
        Scale { played, bits: bits_of(players), scores }
    }

    /// Returns the bits of a weight, with room for the duals of a matching, which are sums.
    pub(super) fn total_bits(&self) -> u32 {
        let by_score: u32 = self.scores.iter().map(|(_, bits)| bits).sum();
        64 + 13 * self.bits + bits_of(self.played) + 6 * by_score + 8
    }

    /// Weighs a pair of two players who may meet, the higher one first.
    pub(super) fn pair<const N: usize>(
        &self,
        higher: &Contender,
        lower: &Contender,
        place: Place,
    ) -> Wide<N> {
        let mut weight = Wide::ZERO;
        if place == Place::Below {
            return weight;
        }
        let (current, next) = (place == Place::Current, place == Place::Next);
        // C6 and C7: pairs, and the scores of those who do not float down.
        self.push(&mut weight, current, 1);
        self.push_scores(&mut weight, &[(higher.score, current)]);
        // C8: the same for the next bracket.
        self.push(&mut weight, next, 1);
        self.push_scores(&mut weight, &[(higher.score, next)]);
        // C9 is on the edges to the bye.
        weight.push(self.bits + bits_of(self.played), 0);
        for good in colors(higher, lower) {
            self.push(&mut weight, current && good, 1);
        }
        self.push_floats(&mut weight, higher, lower, current);
        // Room for the order of the candidates.
        weight.push_word();
        weight
    }

    /// Weighs the bye of a player: C9, if `counts`, prefers those who have played most.
    pub(super) fn bye<const N: usize>(&self, player: &Contender, counts: bool) -> Wide<N> {
        let mut weight = Wide::ZERO;
        weight.push(self.bits + bits_of(self.played), if counts { player.games() as u64 } else { 0 });
        for _ in 0..4 {
            self.push(&mut weight, false, 0);
        }
        self.push_floats(&mut weight, player, player, false);
        weight.push_word();
        weight
    }

    /// C14 to C21: floats repeated from the last round and from the one before.
    fn push_floats<const N: usize>(
        &self,
        weight: &mut Wide<N>,
        higher: &Contender,
        lower: &Contender,
        counts: bool,
    ) {
        let is_float = higher.score > lower.score;
        for back in [1, 2] {
            let held = u64::from(lower.floated(back, Float::Down))
                + u64::from(!is_float && higher.floated(back, Float::Down));
            self.push(weight, counts, held);
            self.push(weight, counts && !(is_float && lower.floated(back, Float::Up)), 1);
        }
        for back in [1, 2] {
            let held =
                [lower, higher].map(|player| (player.score, counts && player.floated(back, Float::Down)));
            self.push_scores(weight, &held);
            let is_repeated = is_float && lower.floated(back, Float::Up);
            self.push_scores(weight, &[(higher.score, counts && !is_repeated)]);
        }
    }

    fn push<const N: usize>(&self, weight: &mut Wide<N>, counts: bool, number: u64) {
        weight.push(self.bits, if counts { number } else { 0 });
    }

    /// Appends a number of players for each score.
    fn push_scores<const N: usize>(&self, weight: &mut Wide<N>, players: &[(Score, bool)]) {
        for (score, bits) in &self.scores {
            let count = players.iter().filter(|(theirs, counts)| *counts && theirs == score).count();
            weight.push(*bits, count as u64);
        }
    }
}

/// C10 to C13, each satisfied or not.
fn colors(a: &Contender, b: &Contender) -> [bool; 4] {
    if !a.wants_as(b) {
        return [true; 4];
    }
    let both = |strength| a.strength >= strength && b.strength >= strength;
    // Who yields gets the colour a third time, if it is the one of the last two games.
    let (yields, insists) = if a.imbalance < b.imbalance { (a, b) } else { (b, a) };
    let third = match yields.imbalance == insists.imbalance {
        true => yields.repeated().is_some() && yields.repeated() == insists.repeated(),
        false => yields.repeated().is_some() && yields.repeated() == yields.preference.map(|color| !color),
    };
    [
        a.imbalance < 2 || b.imbalance < 2,
        !(both(Strength::Absolute) && third),
        false,
        !both(Strength::Strong) || both(Strength::Absolute),
    ]
}

/// Bits for the numbers up to this one.
fn bits_of(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}
