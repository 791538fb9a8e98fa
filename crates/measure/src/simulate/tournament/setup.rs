//! Tournaments of the simulation: every pairing system, with and without an organiser who begins, and an open one.

use std::time::Duration;

use zeitnot_arena::TournamentConfig;
use zeitnot_pairing::{Name, format::PairingKind};

pub(super) const NAMES: [&str; 6] = ["ada", "bob", "cyd", "dan", "eve", "fay"];

/// Moves of every game, unless somebody resigns: White is mated.
pub(super) const MOVES: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

const SYSTEMS: [&str; 9] = [
    "players = 4\ngames_per_pair = 1",
    "players = 3\ngames_per_pair = 2",
    "start = 'organiser'\ngames_per_pair = 2\nlate_entries = true",
    "start = 'organiser'\npairing = 'swiss'\nrounds = 3\nlate_entries = true",
    "players = 5\npairing = 'swiss'\nrounds = 3",
    "start = 'organiser'\npairing = 'gauntlet'\ngauntlet = ['ada']\ngames_per_pair = 2",
    "players = 4\npairing = 'knockout'",
    "players = 5\npairing = 'knockout'",
    "games_per_pair = 1",
];

/// A tournament, and who plays in it.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) config: TournamentConfig,
    pub(super) names: Vec<Name>,
    /// The organiser pairs by hand and corrects results.
    pub(super) intervenes: bool,
}

impl Setup {
    pub(super) fn new(random: &mut fastrand::Rng) -> Option<Setup> {
        let system = SYSTEMS[random.usize(..SYSTEMS.len())];
        let text = format!("name = 'class'\ntime = '3'\n{system}");
        let mut config: TournamentConfig = toml::from_str(&text).ok()?;
        config.ack_timeout = Duration::from_secs(5);
        config.pairing_interval = Duration::from_millis(500);
        config.pause = Duration::from_millis(random.u64(..2) * 300);
        config.absent_after = Duration::from_secs(20);
        config.max_illegal_moves = 2;
        let count = config.players.unwrap_or_else(|| random.usize(3..6));
        let names = NAMES.iter().take(count).filter_map(|name| Name::try_from(*name).ok());
        Some(Setup { names: names.collect(), config, intervenes: random.bool() })
    }

    /// Returns whether everybody plays whoever is there, without an end.
    pub(super) fn is_open(&self) -> bool {
        self.config.players.is_none() && self.config.start.is_none()
    }

    pub(super) fn is_swiss(&self) -> bool {
        self.config.pairing == PairingKind::Swiss
    }

    pub(super) fn is_knockout(&self) -> bool {
        self.config.pairing == PairingKind::Knockout
    }

    /// Games that a pair may have with a result.
    pub(super) fn games_per_pair(&self) -> usize {
        if self.config.pairing.has_rounds() { 1 } else { self.config.games_per_pair as usize }
    }
}
