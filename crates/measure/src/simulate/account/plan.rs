//! Plan of a seed: the configuration, the outages, and how often something fails.

use std::{sync::LazyLock, time::Duration};

use fastrand::Rng;
use zeitnot_clients::lichess::Config;

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
pub(super) fn config(rng: &mut Rng) -> Config {
    PARSED[rng.usize(..PARSED.len())].clone()
}

/// State of the server during an outage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Weather {
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
    pub(super) weather: Weather,
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) config: Config,
    /// Places of the lobby.
    pub(super) seats: usize,
    /// Faults happen until then.
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
    /// When the order to stop comes; at the end without it.
    pub(super) stop: Option<Duration>,
    pub(super) revoked: Option<Duration>,
    /// Length of all games with clocks; at random without it.
    pub(super) game_length: Option<Duration>,
}

const MINUTE: u64 = 60;

impl Plan {
    pub(super) fn draw(rng: &mut Rng) -> Plan {
        let config = config(rng);
        let active = seconds(rng, 10 * MINUTE..90 * MINUTE);
        let outages = (0..[0, 0, 1, 1, 2, 3][rng.usize(..6)]).map(|_| outage(rng, active)).collect();
        let stop = (rng.u8(..3) == 0).then(|| seconds(rng, MINUTE..active.as_secs()));
        Plan {
            config,
            seats: rng.usize(1..8),
            active,
            challenge_every: active / rng.u32(4..20),
            foreign_games: rng.u32(..4),
            outages,
            request_faults: [0, 30, 200][rng.usize(..3)],
            event_faults: [0, 30, 200][rng.usize(..3)],
            stream_breaks: rng.u32(..4),
            kills: u32::from(rng.u8(..4) == 0) * rng.u32(1..3),
            orders: rng.u32(..4),
            stop,
            revoked: (rng.u8(..40) == 0).then(|| seconds(rng, MINUTE..active.as_secs())),
            game_length: None,
        }
    }

    /// Nothing happens by itself, and there are places for so many games.
    pub(super) fn quiet(games: u32) -> Plan {
        let mut config = Config::default();
        config.concurrency = config.concurrency.saturating_add(games);
        Plan {
            config,
            seats: games as usize,
            active: Duration::ZERO,
            challenge_every: Duration::ZERO,
            foreign_games: 0,
            outages: Vec::new(),
            request_faults: 0,
            event_faults: 0,
            stream_breaks: 0,
            kills: 0,
            orders: 0,
            stop: None,
            revoked: None,
            game_length: None,
        }
    }

    /// Returns the outage at this time.
    pub(super) fn outage(&self, now: Duration) -> Option<&Outage> {
        self.outages.iter().find(|outage| (outage.from..outage.to).contains(&now))
    }
}

fn outage(rng: &mut Rng, active: Duration) -> Outage {
    let from = seconds(rng, 0..active.as_secs());
    let length = match rng.u8(..3) {
        0 => seconds(rng, 1..MINUTE),
        1 => seconds(rng, MINUTE..15 * MINUTE),
        _ => seconds(rng, 15 * MINUTE..180 * MINUTE),
    };
    let weather = match rng.u8(..6) {
        0..=2 => Weather::Dead,
        3 => Weather::BadGateway,
        4 => Weather::Limited(rng.bool().then(|| seconds(rng, 1..300))),
        _ => Weather::Unauthorized,
    };
    Outage { from, to: from + length, weather }
}

/// Returns a time of whole seconds at random.
pub(super) fn seconds(rng: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_secs(rng.u64(range.start..range.end.max(range.start + 1)))
}

/// Returns a short time at random.
pub(super) fn millis(rng: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(rng.u64(range))
}
