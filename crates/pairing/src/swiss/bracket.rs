//! One pairing bracket (FIDE handbook C.04.3, parts B and D): players moved down, the score group, and who is left.
//!
//! Vertices are players in the order of A.2: those moved down, the group, the next group, the rest; then the bye.

use std::ops::Range;

use super::{
    contender::Contender,
    matching::Matcher,
    weights::{ByeRule, Place, Round, Scale},
    wide::Wide,
};

/// Weight in the lowest word that keeps a pair together.
const FIXED: i64 = 1 << 40;

/// Bracket being paired.
pub(super) struct Bracket<'a, const N: usize> {
    players: &'a [&'a Contender],
    group: Range<usize>,
    /// End of the next group.
    next: usize,
    matcher: Matcher<N>,
    /// Weights by the criteria alone, of the higher and the lower player.
    weights: Vec<Option<Wide<N>>>,
    mates: Vec<usize>,
    paired: Vec<bool>,
    pairs: Vec<(usize, usize)>,
}

pub(super) struct Paired {
    pub(super) pairs: Vec<(usize, usize)>,
    /// Those who go down to the next bracket.
    pub(super) floaters: Vec<usize>,
    /// Whether the floaters and the next group can be paired among themselves.
    pub(super) stays_above_rest: bool,
}

impl<'a, const N: usize> Bracket<'a, N> {
    /// Prepares a bracket of players moved down, a group and the next one, of these sizes.
    pub(super) fn new(
        players: &'a [&'a Contender],
        [moved_down, group, next]: [usize; 3],
        scale: &Scale,
        round: Round,
        bye: Option<ByeRule>,
    ) -> Self {
        let group = moved_down..moved_down + group;
        let vertices = players.len() + usize::from(bye.is_some());
        let mut bracket = Bracket {
            players,
            next: group.end + next,
            group,
            matcher: Matcher::new(vertices),
            weights: vec![None; vertices * vertices],
            mates: Vec::new(),
            paired: vec![false; vertices],
            pairs: Vec::new(),
        };
        for (lower, player) in players.iter().enumerate() {
            for (higher, opponent) in players[..lower].iter().enumerate() {
                // Nobody moved down could be paired with another one: they would have been, in their bracket.
                if lower >= moved_down && round.may_meet(opponent, player) {
                    let weight = scale.pair(opponent, player, bracket.place(lower));
                    bracket.weights[higher * vertices + lower] = Some(weight);
                }
            }
            if let Some(bye) = bye
                && player.may_have_bye
                && player.score <= bye.score
            {
                let weight = scale.bye(player, bye.is_only_floater);
                bracket.weights[lower * vertices + players.len()] = Some(weight);
            }
        }
        for higher in 0..vertices {
            for lower in higher + 1..vertices {
                bracket.set(higher, lower, 0);
            }
        }
        bracket
    }

    /// Pairs the bracket. `None` if the absolute criteria cannot be satisfied.
    pub(super) fn pair(mut self) -> Option<Paired> {
        self.solve()?;
        for player in self.choose_moved_down()? {
            self.choose_opponent(player)?;
        }
        let remainder: Vec<_> = self.group.clone().filter(|v| self.mates[*v] >= self.group.start).collect();
        self.exchange(&remainder)?;
        let leaders: Vec<_> = remainder.iter().copied().filter(|player| self.leads(*player)).collect();
        for player in leaders {
            self.choose_partner(player, &remainder)?;
        }
        let floaters: Vec<_> = (0..self.group.end).filter(|player| !self.paired[*player]).collect();
        let open = floaters.iter().copied().chain(self.group.end..self.next);
        let stays =
            |player: usize| self.mates[player] < self.next || self.mates[player] == self.players.len();
        Some(Paired { stays_above_rest: open.into_iter().all(stays), floaters, pairs: self.pairs })
    }

    fn place(&self, lower: usize) -> Place {
        match lower {
            _ if lower < self.group.end => Place::Current,
            _ if lower < self.next => Place::Next,
            _ => Place::Below,
        }
    }

    /// Chooses those moved down who are paired: as many of each score as the criteria want, the higher ones first.
    fn choose_moved_down(&mut self) -> Option<Vec<usize>> {
        let mut chosen = Vec::new();
        let mut class_start = 0;
        while class_start < self.group.start {
            let score = self.players[class_start].score;
            let class = class_start..self.players[..self.group.start].partition_point(|p| p.score >= score);
            let mut wanted = class.clone().filter(|player| self.is_in_group(*player)).count();
            for player in class.clone() {
                if wanted == 0 {
                    break;
                }
                if class.end - player > wanted {
                    if !self.is_in_group(player) {
                        self.group.clone().for_each(|opponent| self.set(player, opponent, 1));
                        self.solve()?;
                    }
                    if !self.is_in_group(player) {
                        continue;
                    }
                    let keep = self.group.len() as i64 + 1;
                    self.group.clone().for_each(|opponent| self.set(player, opponent, keep));
                }
                chosen.push(player);
                wanted -= 1;
            }
            class_start = class.end;
        }
        Some(chosen)
    }

    /// Whether the player is paired within the group, as things stand.
    fn is_in_group(&self, player: usize) -> bool {
        self.group.contains(&self.mates[player])
    }

    /// Pairs a player moved down with the highest opponent possible.
    fn choose_opponent(&mut self, player: usize) -> Option<()> {
        let open: Vec<_> = self.group.clone().rev().filter(|opponent| !self.paired[*opponent]).collect();
        for (bonus, opponent) in (self.next as i64..).zip(open) {
            self.set(player, opponent, bonus);
        }
        self.solve()?;
        self.fix(player);
        Some(())
    }

    /// Pairs a player of the remainder with the highest partner possible.
    fn choose_partner(&mut self, player: usize, remainder: &[usize]) -> Option<()> {
        let lower = remainder.iter().rev().take_while(|other| **other > player);
        let open: Vec<_> = lower.copied().filter(|other| !self.paired[*other]).collect();
        for (bonus, other) in open.into_iter().enumerate() {
            self.set(player, other, bonus as i64);
        }
        self.solve()?;
        self.fix(player);
        Some(())
    }

    /// Keeps a player and the present mate together.
    fn fix(&mut self, player: usize) {
        let mate = self.mates[player];
        self.set(player, mate, FIXED);
        (self.paired[player], self.paired[mate]) = (true, true);
        self.pairs.push((player, mate));
    }

    /// Decides which players of the remainder change between its halves S1 and S2 (D.2): as few as possible, with
    /// the least difference of numbers; then the lowest of S1 and the highest of S2.
    fn exchange(&mut self, remainder: &[usize]) -> Option<()> {
        let pairs = remainder.iter().filter(|player| self.leads(**player)).count();
        for at in 0..remainder.len() {
            self.weigh(remainder, at, pairs, 0);
        }
        self.solve()?;
        let exchanges = remainder[..pairs].iter().filter(|player| !self.leads(**player)).count();
        let mut left = exchanges;
        for at in (0..pairs).rev() {
            if left == 0 {
                break;
            }
            let player = remainder[at];
            if self.leads(player) {
                self.weigh(remainder, at, pairs, -1);
                self.solve()?;
            }
            if !self.leads(player) {
                left -= 1;
                remainder[at + 1..].iter().for_each(|lower| self.forbid(player, *lower));
            }
            self.weigh(remainder, at, pairs, 0);
        }
        let mut left = exchanges;
        for at in pairs..remainder.len() {
            if left <= 1 {
                break;
            }
            let player = remainder[at];
            let leads = self.leads(player);
            if !leads {
                self.weigh(remainder, at, pairs, 1);
                self.solve()?;
            }
            if self.leads(player) {
                left -= 1;
                remainder[..at].iter().for_each(|higher| self.forbid(*higher, player));
                (self.group.end..self.next).for_each(|lower| self.forbid(player, lower));
            }
            if !leads {
                self.weigh(remainder, at, pairs, 0);
            }
        }
        self.settle(remainder);
        Some(())
    }

    /// Whether the player is the higher one of a pair of the group.
    fn leads(&self, player: usize) -> bool {
        self.mates[player] > player && self.mates[player] < self.group.end
    }

    /// Weighs the pairs that a player of the remainder would lead: those of S1 should, and else the first ones.
    fn weigh(&mut self, remainder: &[usize], at: usize, pairs: usize, bonus: i64) {
        let spread = 1 << (2 * (usize::BITS - self.players.len().leading_zeros()));
        let order = (if at < pairs { spread } else { 0 }) - at as i64;
        for lower in &remainder[at + 1..] {
            self.set(remainder[at], *lower, 2 * order + bonus);
        }
    }

    /// Admits only pairs of a leader with one who does not lead.
    fn settle(&mut self, remainder: &[usize]) {
        for (at, &higher) in remainder.iter().enumerate() {
            for &lower in &remainder[at + 1..] {
                if !self.leads(higher) || self.leads(lower) {
                    self.forbid(higher, lower);
                }
                self.set(higher, lower, 0);
            }
        }
    }

    fn forbid(&mut self, higher: usize, lower: usize) {
        let vertices = self.paired.len();
        self.weights[higher * vertices + lower] = None;
        self.set(higher, lower, 0);
    }

    /// Sets the weight of a pair: that of the criteria, and one below them all.
    fn set(&mut self, higher: usize, lower: usize, bonus: i64) {
        let weight = self.weights[higher * self.paired.len() + lower];
        self.matcher.set(higher, lower, weight.map(|weight| weight + Wide::from(bonus)));
    }

    fn solve(&mut self) -> Option<()> {
        self.mates = self.matcher.solve()?;
        Some(())
    }
}
