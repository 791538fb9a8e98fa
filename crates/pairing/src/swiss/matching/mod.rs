//! Perfect matching of the greatest weight in a general graph.
//!
//! Edmonds' blossom algorithm in its primal-dual form, with the slacks of Galil, Micali and Gabow (1986): each stage
//! grows one alternating tree from an unmatched vertex, in O(n²). The solver keeps its duals, so that a changed vertex
//! costs one stage or two, not a new start.
//!
//! Nodes are vertices, from 1 to n, and blossoms beyond them; 0 is none. The duals of vertices, less twice the weight
//! of the edge between them, are that edge's slack, which is never negative; matched edges have none.

mod blossom;
mod stage;

use std::collections::VecDeque;

use super::wide::Wide;

/// Part that a node plays in the alternating tree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Label {
    Outside,
    /// At an even distance from the root.
    Even,
    Odd,
}

/// Graph with its matching and its duals.
#[derive(Debug)]
pub(super) struct Matcher<const N: usize> {
    vertices: usize,
    /// Twice the weights of the edges; `None` where there is none.
    weights: Vec<Option<Wide<N>>>,
    changed: Vec<bool>,
    duals: Vec<Wide<N>>,
    /// For two nodes, the vertices of the edge of least slack between them; (0, 0) if there is none.
    edges: Vec<(usize, usize)>,
    /// The vertex on the other side of a node's matched edge.
    mates: Vec<usize>,
    /// The outermost blossom of each node; 0 for a blossom that is not in use.
    outer: Vec<usize>,
    /// Nodes of each blossom along its cycle, the base first.
    cycles: Vec<Vec<usize>>,
    labels: Vec<Label>,
    /// The vertex in the tree by which a node was reached.
    parents: Vec<usize>,
    /// The even vertex with the least slack to each node.
    nearest: Vec<usize>,
    visited: Vec<u64>,
    visits: u64,
    queue: VecDeque<usize>,
}

impl<const N: usize> Matcher<N> {
    /// Creates a graph without edges.
    pub(super) fn new(vertices: usize) -> Self {
        let nodes = vertices + vertices / 2 + 1;
        Matcher {
            vertices,
            weights: vec![None; vertices * vertices],
            changed: vec![true; vertices],
            duals: vec![Wide::ZERO; nodes],
            edges: vec![(0, 0); nodes * nodes],
            mates: vec![0; nodes],
            outer: vec![0; nodes],
            cycles: vec![Vec::new(); nodes],
            labels: vec![Label::Outside; nodes],
            parents: vec![0; nodes],
            nearest: vec![0; nodes],
            visited: vec![0; nodes],
            visits: 0,
            queue: VecDeque::new(),
        }
    }

    /// Sets the weight of an edge between two vertices, counted from 0. The first is the one that is matched anew:
    /// whoever changes many edges of one vertex names it first.
    pub(super) fn set(&mut self, a: usize, b: usize, weight: Option<Wide<N>>) {
        let doubled = weight.map(|weight| weight + weight);
        if self.weights[a * self.vertices + b] != doubled {
            self.weights[a * self.vertices + b] = doubled;
            self.weights[b * self.vertices + a] = doubled;
            self.changed[a] = true;
        }
    }

    /// Returns the mate of each vertex; `None` if not all can be matched.
    pub(super) fn solve(&mut self) -> Option<Vec<usize>> {
        let changed: Vec<_> = (1..=self.vertices).filter(|vertex| self.changed[vertex - 1]).collect();
        if changed.len() * 3 > self.vertices {
            self.restart();
        } else {
            changed.into_iter().for_each(|vertex| self.reset(vertex));
        }
        self.changed.fill(false);
        while let Some(root) = (1..=self.vertices).find(|vertex| self.mates[*vertex] == 0) {
            if !self.augment_from(self.outer[root]) {
                self.changed.fill(true);
                return None;
            }
        }
        Some(self.mates[1..=self.vertices].iter().map(|mate| mate - 1).collect())
    }

    /// Forgets matching and duals.
    fn restart(&mut self) {
        self.mates.fill(0);
        self.outer.fill(0);
        self.edges.fill((0, 0));
        for u in 1..=self.vertices {
            self.outer[u] = u;
            let row = &self.weights[(u - 1) * self.vertices..u * self.vertices];
            self.duals[u] = row.iter().flatten().max().copied().unwrap_or(Wide::ZERO).half();
            for v in 1..=self.vertices {
                self.join(u, v);
            }
        }
    }

    /// Takes a vertex out of the matching and of all blossoms, and gives it a dual that suits its new edges.
    fn reset(&mut self, vertex: usize) {
        while self.outer[vertex] != vertex {
            self.dissolve(self.outer[vertex]);
        }
        self.part(vertex);
        let dual = |v: usize| Some(self.weights[(vertex - 1) * self.vertices + v - 1]? - self.duals[v]);
        self.duals[vertex] = (1..=self.vertices).filter_map(dual).max().unwrap_or(Wide::ZERO);
        for v in 1..=self.vertices {
            self.join(vertex, v);
            self.join(v, vertex);
        }
        for blossom in self.vertices + 1..self.outer.len() {
            if self.outer[blossom] == blossom {
                self.find_edges(blossom, vertex);
            }
        }
    }

    /// Notes the edge between two vertices, if there is one.
    fn join(&mut self, u: usize, v: usize) {
        let is_edge = self.weights[(u - 1) * self.vertices + v - 1].is_some();
        self.set_edge(u, v, if is_edge { (u, v) } else { (0, 0) });
    }

    /// Gives up the matched edge of an outermost node.
    fn part(&mut self, node: usize) {
        let mate = self.mates[node];
        self.unmatch(node);
        if mate != 0 {
            self.unmatch(self.outer[mate]);
        }
    }

    /// A node's base is unmatched; the mates within stay.
    fn unmatch(&mut self, node: usize) {
        self.mates[node] = 0;
        if node > self.vertices {
            self.unmatch(self.cycles[node][0]);
        }
    }

    fn edge(&self, a: usize, b: usize) -> (usize, usize) {
        self.edges[a * self.outer.len() + b]
    }

    fn set_edge(&mut self, a: usize, b: usize, edge: (usize, usize)) {
        let at = a * self.outer.len() + b;
        self.edges[at] = edge;
    }

    /// Slack of an edge between two vertices; the edge must exist.
    fn slack(&self, (u, v): (usize, usize)) -> Wide<N> {
        let weight = self.weights[(u - 1) * self.vertices + v - 1].unwrap_or(Wide::ZERO);
        self.duals[u] + self.duals[v] - weight
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The greatest weight of a perfect matching, by trying all.
    fn best(weights: &[Vec<Option<i64>>], free: u32) -> Option<i64> {
        if free == 0 {
            return Some(0);
        }
        let a = free.trailing_zeros() as usize;
        let rest = free & !(1 << a);
        let with = |b: usize| Some(weights[a][b]? + best(weights, rest & !(1 << b))?);
        (0..weights.len()).filter(|b| rest >> b & 1 == 1).filter_map(with).max()
    }

    fn weight_of(mates: &[usize], weights: &[Vec<Option<i64>>]) -> i64 {
        mates.iter().enumerate().for_each(|(a, b)| assert_eq!(mates[*b], a));
        mates.iter().enumerate().filter(|(a, b)| a < b).map(|(a, b)| weights[a][*b].unwrap()).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn the_matching_is_the_best_one_also_after_changes(half in 1..6_usize, seed: u64, range in 1..40_i64) {
            let mut random = fastrand::Rng::with_seed(seed);
            let n = 2 * half;
            let mut weights = vec![vec![None; n]; n];
            let mut matcher = Matcher::<2>::new(n);
            let density = random.f64();
            for change in 0..24 {
                // First all edges, then those of a vertex or two.
                let vertices: Vec<_> = match change {
                    0 => (0..n).collect(),
                    _ => (0..random.usize(1..3)).map(|_| random.usize(..n)).collect(),
                };
                for a in vertices {
                    for b in (0..n).filter(|b| *b != a) {
                        let weight = (random.f64() < density).then(|| random.i64(-range..range));
                        (weights[a][b], weights[b][a]) = (weight, weight);
                        matcher.set(a, b, weight.map(Wide::from));
                    }
                }
                let found = matcher.solve().map(|mates| weight_of(&mates, &weights));
                prop_assert_eq!(found, best(&weights, (1 << n) - 1));
            }
        }
    }
}
