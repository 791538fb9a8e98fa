//! Measured ratings of the built-in players. `scripts/measure-ratings` prints the table; see CONTRIBUTING.md.
//!
//! The anchors are Stockfish 15.1's levels (`UCI_LimitStrength`) at 50,000 nodes a move, the strongest at 200,000.

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
    rating("random", 0xcaa3_b985, -223, 153, 440),
    rating("greedy", 0xd5d7_73b5, 111, 141, 720),
    rating("minimax-2", 0x37d6_b8cd, 961, 78, 1_160),
    rating("alpha-beta-3", 0x49fc_dc80, 1137, 77, 848),
    rating("level-1", 0x17c7_f107, 737, 85, 920),
    rating("level-2", 0x1f21_79c8, 948, 78, 975),
    rating("level-3", 0x226d_ca71, 1185, 72, 1_036),
    rating("level-4", 0x2c6e_170e, 1656, 63, 677),
    rating("level-5", 0x4e2f_3e57, 1846, 63, 357),
    rating("level-6", 0xf88a_453f, 2104, 69, 294),
    rating("level-7", 0x78cd_dfa2, 2468, 83, 184),
    rating("level-8", 0x856e_b67c, 2843, 113, 62),
];
