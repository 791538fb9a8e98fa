//! One stage of the matching: an alternating tree is grown until it reaches an unmatched node.

use super::{Label, Matcher, Wide};

impl<const N: usize> Matcher<N> {
    /// Grows a tree from an unmatched node until another one is reached, and matches both; returns whether one was.
    pub(super) fn augment_from(&mut self, root: usize) -> bool {
        self.labels.fill(Label::Outside);
        self.nearest.fill(0);
        self.queue.clear();
        self.parents[root] = 0;
        self.labels[root] = Label::Even;
        self.enqueue(root);
        loop {
            while let Some(u) = self.queue.pop_front() {
                for v in 1..=self.vertices {
                    if self.outer[u] == self.outer[v] || self.edge(u, v).0 == 0 {
                        continue;
                    }
                    if self.slack((u, v)) != Wide::ZERO {
                        self.note_slack(u, self.outer[v]);
                    } else if self.follow((u, v)) {
                        return true;
                    }
                }
            }
            let Some(step) = self.step() else { return false };
            self.change_duals(step);
            for node in 1..self.outer.len() {
                let near = self.nearest[node];
                if self.outer[node] == node
                    && near != 0
                    && self.outer[near] != node
                    && self.slack(self.edge(near, node)) == Wide::ZERO
                    && self.follow(self.edge(near, node))
                {
                    return true;
                }
            }
            for blossom in self.vertices + 1..self.outer.len() {
                let is_odd = self.outer[blossom] == blossom && self.labels[blossom] == Label::Odd;
                if is_odd && self.duals[blossom] == Wide::ZERO {
                    self.expand(blossom);
                }
            }
        }
    }

    /// Returns the least change of the duals after which an edge is tight or a blossom can be opened.
    fn step(&self) -> Option<Wide<N>> {
        let step = |node: usize| {
            if self.outer[node] != node {
                return None;
            }
            if self.labels[node] == Label::Odd {
                return (node > self.vertices).then(|| self.duals[node].half());
            }
            let near = self.nearest[node];
            let slack = (near != 0).then(|| self.slack(self.edge(near, node)))?;
            Some(if self.labels[node] == Label::Even { slack.half() } else { slack })
        };
        (1..self.outer.len()).filter_map(step).min()
    }

    fn change_duals(&mut self, step: Wide<N>) {
        for node in 1..self.outer.len() {
            let (is_vertex, outer) = (node <= self.vertices, self.outer[node]);
            match self.labels[outer] {
                Label::Even if is_vertex => self.duals[node] = self.duals[node] - step,
                Label::Odd if is_vertex => self.duals[node] = self.duals[node] + step,
                Label::Even if outer == node => self.duals[node] = self.duals[node] + step + step,
                Label::Odd if outer == node => self.duals[node] = self.duals[node] - step - step,
                _ => {}
            }
        }
    }

    /// Follows a tight edge out of the tree or within it; returns whether the matching has grown.
    pub(super) fn follow(&mut self, (from, to): (usize, usize)) -> bool {
        let (u, v) = (self.outer[from], self.outer[to]);
        match self.labels[v] {
            Label::Outside if self.mates[v] == 0 => {
                self.augment(u, v);
                self.augment(v, u);
                return true;
            }
            Label::Outside => {
                let mate = self.outer[self.mates[v]];
                self.parents[v] = from;
                self.labels[v] = Label::Odd;
                self.labels[mate] = Label::Even;
                (self.nearest[v], self.nearest[mate]) = (0, 0);
                self.enqueue(mate);
            }
            Label::Even => self.shrink(u, v),
            Label::Odd => {}
        }
        false
    }

    /// Matches a node with another, and the rest of the path to the root anew.
    fn augment(&mut self, mut u: usize, mut v: usize) {
        loop {
            let next = self.outer[self.mates[u]];
            self.match_with(u, v);
            if next == 0 {
                return;
            }
            let parent = self.outer[self.parents[next]];
            self.match_with(next, parent);
            (u, v) = (parent, next);
        }
    }

    /// Matches a node along its edge to another; a blossom turns so that its base is where the edge begins.
    fn match_with(&mut self, node: usize, other: usize) {
        let edge = self.edge(node, other);
        self.mates[node] = edge.1;
        if node > self.vertices {
            let at = self.turn(node, edge.0);
            for i in 0..at {
                let (a, b) = (self.cycles[node][i], self.cycles[node][i ^ 1]);
                self.match_with(a, b);
            }
            let part = self.cycles[node][at];
            self.match_with(part, other);
            self.cycles[node].rotate_left(at);
        }
    }

    /// Nodes from an even one to the root, every second one even.
    pub(super) fn to_root(&self, node: usize) -> Vec<usize> {
        let mut path = vec![node];
        let mut even = node;
        while self.mates[even] != 0 {
            let odd = self.outer[self.mates[even]];
            even = self.outer[self.parents[odd]];
            path.extend([odd, even]);
        }
        path
    }

    /// The first node that both ways to the root have in common.
    pub(super) fn common(&mut self, u: usize, v: usize) -> usize {
        self.visits += 1;
        for node in self.to_root(u) {
            self.visited[node] = self.visits;
        }
        self.to_root(v).into_iter().find(|node| self.visited[*node] == self.visits).unwrap_or(0)
    }

    /// Its vertices are to be looked at.
    pub(super) fn enqueue(&mut self, node: usize) {
        if node <= self.vertices {
            self.queue.push_back(node);
        }
        for i in 0..self.cycles[node].len() {
            self.enqueue(self.cycles[node][i]);
        }
    }

    fn note_slack(&mut self, u: usize, node: usize) {
        let near = self.nearest[node];
        if near == 0 || self.slack(self.edge(u, node)) < self.slack(self.edge(near, node)) {
            self.nearest[node] = u;
        }
    }

    pub(super) fn find_nearest(&mut self, node: usize) {
        self.nearest[node] = 0;
        for u in 1..=self.vertices {
            let outer = self.outer[u];
            if outer != node && self.labels[outer] == Label::Even && self.edge(u, node).0 != 0 {
                self.note_slack(u, node);
            }
        }
    }
}
