//! Blossoms: odd cycles that count as one node.

use super::{Label, Matcher, Wide};

impl<const N: usize> Matcher<N> {
    /// Makes a blossom of the odd cycle that an edge between two even nodes closes.
    pub(super) fn shrink(&mut self, u: usize, v: usize) {
        let base = self.common(u, v);
        let free = (self.vertices + 1..self.outer.len()).find(|blossom| self.outer[*blossom] == 0);
        // There are never more than half as many blossoms as vertices.
        let Some(blossom) = free else { return };
        let half = |node| {
            let path = self.to_root(node);
            path.into_iter().take_while(|node| *node != base).collect::<Vec<_>>()
        };
        let (mut cycle, mut first) = (vec![base], half(u));
        first.reverse();
        cycle.extend(first);
        cycle.extend(half(v));
        for &part in &cycle {
            if self.labels[part] == Label::Odd {
                self.enqueue(part);
            }
        }
        self.duals[blossom] = Wide::ZERO;
        self.labels[blossom] = Label::Even;
        self.mates[blossom] = self.mates[base];
        self.parents[blossom] = self.parents[base];
        for node in 1..self.outer.len() {
            self.set_edge(blossom, node, (0, 0));
            self.set_edge(node, blossom, (0, 0));
        }
        for &part in &cycle {
            for node in 1..self.outer.len() {
                if self.outer[node] != 0 {
                    self.inherit_edge(blossom, part, node);
                }
            }
        }
        self.cycles[blossom] = cycle;
        self.set_outer(blossom, blossom);
        self.find_nearest(blossom);
    }

    /// Opens an odd blossom whose dual is used up: the even half of its cycle stays in the tree.
    pub(super) fn expand(&mut self, blossom: usize) {
        let parent = self.parents[blossom];
        let entry = self.edge(blossom, parent).0;
        let at = self.turn(blossom, entry);
        let cycle = std::mem::take(&mut self.cycles[blossom]);
        for &part in &cycle {
            self.set_outer(part, part);
            self.labels[part] = Label::Outside;
        }
        self.outer[blossom] = 0;
        for i in (0..at).step_by(2) {
            let (odd, even) = (cycle[i], cycle[i + 1]);
            self.parents[odd] = self.edge(even, odd).0;
            (self.labels[odd], self.labels[even]) = (Label::Odd, Label::Even);
            self.nearest[odd] = 0;
            self.find_nearest(even);
            self.enqueue(even);
        }
        (self.labels[cycle[at]], self.parents[cycle[at]]) = (Label::Odd, parent);
        self.nearest[cycle[at]] = 0;
        cycle[at + 1..].iter().for_each(|part| self.find_nearest(*part));
    }

    /// Breaks a blossom into its parts; the edges within stay tight, and its matched edge is given up.
    pub(super) fn dissolve(&mut self, blossom: usize) {
        self.part(blossom);
        let share = self.duals[blossom].half();
        for vertex in 1..=self.vertices {
            if self.outer[vertex] == blossom {
                self.duals[vertex] = self.duals[vertex] + share;
            }
        }
        for part in std::mem::take(&mut self.cycles[blossom]) {
            self.set_outer(part, part);
        }
        self.outer[blossom] = 0;
    }

    /// Returns the place of a vertex in a blossom's cycle, which is reversed if that place is odd.
    pub(super) fn turn(&mut self, blossom: usize, vertex: usize) -> usize {
        let cycle = &self.cycles[blossom];
        let at = cycle.iter().position(|part| self.contains(*part, vertex)).unwrap_or(0);
        if at % 2 == 0 {
            return at;
        }
        self.cycles[blossom][1..].reverse();
        self.cycles[blossom].len() - at
    }

    pub(super) fn contains(&self, node: usize, vertex: usize) -> bool {
        node == vertex
            || node > self.vertices && self.cycles[node].iter().any(|part| self.contains(*part, vertex))
    }

    pub(super) fn set_outer(&mut self, node: usize, outer: usize) {
        self.outer[node] = outer;
        for i in 0..self.cycles[node].len() {
            self.set_outer(self.cycles[node][i], outer);
        }
    }

    /// Finds the edges of least slack between the blossoms within one and a vertex.
    pub(super) fn find_edges(&mut self, blossom: usize, vertex: usize) {
        self.set_edge(blossom, vertex, (0, 0));
        self.set_edge(vertex, blossom, (0, 0));
        for i in 0..self.cycles[blossom].len() {
            let part = self.cycles[blossom][i];
            if part > self.vertices {
                self.find_edges(part, vertex);
            }
            self.inherit_edge(blossom, part, vertex);
        }
    }

    /// Takes over a part's edge to a node, if it has less slack than the blossom's.
    pub(super) fn inherit_edge(&mut self, blossom: usize, part: usize, node: usize) {
        let (theirs, ours) = (self.edge(part, node), self.edge(blossom, node));
        if theirs.0 != 0 && (ours.0 == 0 || self.slack(theirs) < self.slack(ours)) {
            self.set_edge(blossom, node, theirs);
            self.set_edge(node, blossom, (theirs.1, theirs.0));
        }
    }
}
