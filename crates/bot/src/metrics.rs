//! Metrics of the games: counted here, exported by the program if it is configured to. Without an exporter they cost
//! an empty call.

use std::time::Duration;

use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use zeitnot_engine::time::Budget;
use zeitnot_rules::{Color, GameResult};
use zeitnot_seat::{GameInfo, Opponent};

use crate::status::Answer;

const GAMES: &str = "zeitnot_games_total";
const RUNNING: &str = "zeitnot_games_running";
const MOVE: &str = "zeitnot_move_seconds";
const SLACK: &str = "zeitnot_deadline_slack_seconds";
const LATE: &str = "zeitnot_late_moves_total";
const LAG: &str = "zeitnot_lag_seconds";
const RESERVE: &str = "zeitnot_reserved_seconds";
const DEPTH: &str = "zeitnot_search_depth";
const SPEED: &str = "zeitnot_search_nodes_per_second";
const NODES: &str = "zeitnot_search_nodes_total";
const EVENTS: &str = "zeitnot_waiting_events";
const WAITING: &str = "zeitnot_waiting_games";

/// Describes all metrics of this crate to the exporter.
pub fn describe() {
    describe_counter!(GAMES, "Games that are over, by server, result and kind of opponent");
    describe_gauge!(RUNNING, "Games that run");
    describe_gauge!(WAITING, "Games that wait for a player");
    describe_histogram!(MOVE, Unit::Seconds, "Time from the request for a move until it is sent");
    describe_histogram!(
        SLACK,
        Unit::Seconds,
        "Time between the sending of a move and its hard limit; below zero: after it"
    );
    describe_counter!(
        LATE,
        "Moves that were sent after their limit by more than the reserve for the network"
    );
    describe_histogram!(LAG, Unit::Seconds, "Time that a server's clock charged beyond ours for a move");
    describe_gauge!(
        RESERVE,
        Unit::Seconds,
        "Time that is reserved on the next move for the network and our own lateness"
    );
    describe_histogram!(DEPTH, "Depth of the searches behind our moves, in plies");
    describe_histogram!(SPEED, "Nodes per second of the searches behind our moves");
    describe_counter!(NODES, "Nodes of the searches behind our moves");
    describe_histogram!(EVENTS, "Events that still wait when a player takes one");
    waiting_games(0);
    crate::cache::metrics::describe();
}

/// Bounds of the buckets of each histogram.
pub const BUCKETS: &[(&str, &[f64])] = &[
    (MOVE, &[0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0]),
    (SLACK, &[-1.0, -0.1, -0.01, -0.002, 0.0, 0.002, 0.01, 0.1, 0.5, 1.0, 5.0, 30.0]),
    (LAG, &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]),
    (DEPTH, &[4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0, 64.0]),
    (SPEED, &[5e4, 1e5, 2e5, 5e5, 1e6, 1.5e6, 2e6, 3e6, 5e6, 1e7, 2e7]),
    (EVENTS, &[0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
];

/// Sets the number of games that wait for a player.
pub(crate) fn waiting_games(games: usize) {
    gauge!(WAITING).set(games as f64);
}

pub(crate) struct GameMetrics {
    server: String,
    opponent: &'static str,
    running: Gauge,
    slack: Histogram,
    late: Counter,
    reserve: Gauge,
    depth: Histogram,
    speed: Histogram,
    nodes: Counter,
    events: Histogram,
}

impl GameMetrics {
    pub(crate) fn new(info: &GameInfo) -> GameMetrics {
        let server = || info.server.clone();
        let metrics = GameMetrics {
            server: server(),
            opponent: match info.details.opponent {
                Some(Opponent::Human) => "human",
                Some(Opponent::Bot) => "bot",
                None => "unknown",
            },
            running: gauge!(RUNNING, "server" => server()),
            slack: histogram!(SLACK, "server" => server()),
            late: counter!(LATE, "server" => server()),
            reserve: gauge!(RESERVE, "server" => server()),
            depth: histogram!(DEPTH),
            speed: histogram!(SPEED),
            nodes: counter!(NODES),
            events: histogram!(EVENTS),
        };
        metrics.running.increment(1.0);
        metrics
    }

    pub(crate) fn event_taken(&self, waiting: usize) {
        self.events.record(waiting as f64);
    }

    pub(crate) fn searched(&self, depth: u16, nodes: u64, time: Duration) {
        self.depth.record(depth);
        self.nodes.increment(nodes);
        if !time.is_zero() {
            self.speed.record(nodes as f64 / time.as_secs_f64());
        }
    }

    pub(crate) fn answered(&self, answer: &Answer) {
        let spent = answer.spent();
        let origin = answer.origin.name();
        histogram!(MOVE, "server" => self.server.clone(), "origin" => origin).record(spent);
        let Budget { hard, .. } = answer.budget;
        self.slack.record(hard.as_secs_f64() - spent.as_secs_f64());
        self.reserve.set(answer.lag);
        if answer.lateness().is_some() {
            self.late.increment(1);
        }
    }

    /// Counts a game as over: with a result for us, or without one, as of a game that was aborted or goes on later.
    pub(crate) fn ended(&self, result: Option<GameResult>, us: Color) {
        let result = match result {
            Some(GameResult::Won(winner)) if winner == us => "win",
            Some(GameResult::Won(_)) => "loss",
            Some(GameResult::Draw) => "draw",
            None => "none",
        };
        let server = self.server.clone();
        counter!(GAMES, "server" => server, "result" => result, "opponent" => self.opponent).increment(1);
    }
}

impl Drop for GameMetrics {
    fn drop(&mut self) {
        self.running.decrement(1.0);
    }
}

/// Returns the histogram of what a server's clock charges beyond our own time.
pub(crate) fn lags(server: &str) -> Histogram {
    histogram!(LAG, "server" => server.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use metrics_exporter_prometheus::PrometheusBuilder;
    use zeitnot_rules::{ByColor, GameKind};

    use super::*;
    use crate::status::MoveOrigin;

    fn info() -> GameInfo {
        GameInfo {
            id: "g".into(),
            server: "https://lichess.org/".into(),
            game: GameKind::Chess,
            start: None,
            side: Color::White,
            names: ByColor(["a", "b"].map(str::to_owned)),
            time_control: None,
            details: Default::default(),
        }
    }

    /// Everything that is measured of one move, of which only the event comes before it.
    fn measure(metrics: &GameMetrics, answer: &Answer) {
        for waiting in [1, 0, 0] {
            metrics.event_taken(waiting);
        }
        metrics.searched(17, 1_234_567, Duration::from_millis(900));
        metrics.answered(answer);
    }

    #[test(limit = zeitnot_testing::SOAK)]
    #[ignore = "prints what a move costs: docs/performance.md"]
    fn cost_of_a_move() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let mut costs: Vec<_> = metrics::with_local_recorder(&recorder, || {
            let game = GameMetrics::new(&info());
            let now = Instant::now();
            let second = Duration::from_secs(1);
            let answer = Answer {
                game: "g".into(),
                side: Color::White,
                ply: 30,
                origin: MoveOrigin::Searched,
                asked_at: now,
                budget: Budget { soft: second, hard: 4 * second },
                left: None,
                lag: second / 50,
                sent_at: now + second,
            };
            let cost = |_| {
                let began = Instant::now();
                measure(&game, &answer);
                began.elapsed()
            };
            (0..100_000).map(cost).collect()
        });
        costs.sort_unstable();
        let [median, p99] = [50, 99].map(|percent| costs[costs.len() * percent / 100]);
        println!("metrics of a move: p50 {median:?}, p99 {p99:?}");
    }
}
