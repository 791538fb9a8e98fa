//! Plan of a seed: the configuration, the outages, and how often something fails.

use std::{sync::LazyLock, time::Duration};

use zeitnot_clients::lichess::Config;

use super::super::run::Run;

/// Configurations that seeds draw from. Tables that nobody draws keep their defaults.
const CONFIGS: &[&str] = &[
    "",
    "concurrency = 1\n[challenge]\nmax_queue = 2",
    "concurrency = 2\n[challenge]\nreserved_for_humans = 1\nsort_by = 'best'",
    "concurrency = 3\n[challenge.human]\ntime_controls = ['blitz', 'rapid', 'classical', 'correspondence']\n\
     [correspondence]\nmax_games = 3\nmax_active = 1\ncheckin_period = '60s'",
    "concurrency = 2\n[matchmaking]\nchallenge_timeout = '60s'\ncancel_after = '20s'\ndelay_after_decline = '5m'",
    "concurrency = 2\ngames = 3\n[matchmaking]\nchallenge_timeout = '90s'",
    "concurrency = 2\n[[team]]\nid = 'the-bots'\n[[tournament]]\nid = 'tourney1'",
];

static PARSED: LazyLock<Vec<Config>> = LazyLock::new(|| {
    CONFIGS
        .iter()
        .map(|text| toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}")))
        .collect()
});

/// Returns a configuration at random.
pub(super) fn config(run: &mut Run) -> Config {
    PARSED[run.rng.usize(..PARSED.len())].clone()
}

/// State of the server during an outage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum OutageKind {
    /// Nothing answers.
    Dead,
    /// A proxy answers 502.
    BadGateway,
    /// 429, with or without a waiting time.
    Limited(Option<Duration>),
    /// 401 for requests, although the token is good.
    Unauthorized,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct Outage {
    pub(super) from: Duration,
    pub(super) to: Duration,
    pub(super) kind: OutageKind,
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) config: Config,
    /// Seats of the lobby.
    pub(super) seats: usize,
    /// Time until which faults happen.
    pub(super) active: Duration,
    /// Time between two challenges to us, on average.
    pub(super) challenge_every: Duration,
    /// Games that begin without us: by other programs of our account.
    pub(super) foreign_games: u32,
    pub(super) outages: Vec<Outage>,
    /// Requests of a thousand that fail.
    pub(super) request_faults: u32,
    /// Events of a thousand that are lost, late or told twice.
    pub(super) event_faults: u32,
    pub(super) stream_breaks: u32,
    pub(super) kills: u32,
    pub(super) orders: u32,
    /// Time of the order to stop; `None`: at the end.
    pub(super) stop: Option<Duration>,
    pub(super) revoked: Option<Duration>,
    /// Length of all games with clocks; at random without it.
    pub(super) game_length: Option<Duration>,
}

const MINUTE: u64 = 60;

impl Plan {
    pub(super) fn draw(run: &mut Run) -> Plan {
        let config = config(run);
        let active = run.secs(10 * MINUTE..90 * MINUTE);
        let outages = (0..[0, 0, 1, 1, 2, 3][run.rng.usize(..6)]).map(|_| outage(run, active)).collect();
        let stop = (run.rng.u8(..3) == 0).then(|| run.secs(MINUTE..active.as_secs()));
        Plan {
            config,
            seats: run.rng.usize(1..8),
            active,
            challenge_every: active / run.rng.u32(4..20),
            foreign_games: run.rng.u32(..4),
            outages,
            request_faults: [0, 30, 200][run.rng.usize(..3)],
            event_faults: [0, 30, 200][run.rng.usize(..3)],
            stream_breaks: run.rng.u32(..4),
            kills: u32::from(run.rng.u8(..4) == 0) * run.rng.u32(1..3),
            orders: run.rng.u32(..4),
            stop,
            revoked: (run.rng.u8(..40) == 0).then(|| run.secs(MINUTE..active.as_secs())),
            game_length: None,
        }
    }

    /// Returns the outage at this time.
    pub(super) fn outage(&self, now: Duration) -> Option<&Outage> {
        self.outages.iter().find(|outage| (outage.from..outage.to).contains(&now))
    }
}

fn outage(run: &mut Run, active: Duration) -> Outage {
    let from = run.secs(0..active.as_secs());
    let length = match run.rng.u8(..3) {
        0 => run.secs(1..MINUTE),
        1 => run.secs(MINUTE..15 * MINUTE),
        _ => run.secs(15 * MINUTE..180 * MINUTE),
    };
    let kind = match run.rng.u8(..6) {
        0..=2 => OutageKind::Dead,
        3 => OutageKind::BadGateway,
        4 => OutageKind::Limited(run.rng.bool().then(|| run.secs(1..300))),
        _ => OutageKind::Unauthorized,
    };
    Outage { from, to: from + length, kind }
}
