//! Settings that hold in every game of an account.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use serde::Deserialize;
use zeitnot_net::Contradictions;
use zeitnot_rules::Color;
use zeitnot_wire::lichess::GameFull;

use crate::settings::settings;

/// Settings that hold in every game of an account.
#[derive(Clone, Debug)]
pub(crate) struct GameRules {
    pub(crate) claim: Claim,
    pub(crate) max_takebacks: u32,
    pub(crate) berserk: Berserk,
    pub(crate) correspondence: Correspondence,
}

/// Claim when the opponent has left and the server allows one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Claim {
    #[default]
    Victory,
    Draw,
    /// Wait for the opponent.
    Nothing,
}

/// Tournament games to play with half the time, for more points.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Berserk {
    /// Never.
    #[default]
    Never,
    /// Against lower rated opponents.
    Weaker,
    /// In every tournament game.
    Always,
}

impl Berserk {
    /// Returns whether to play this game so. The server takes it only before our first move.
    pub(crate) fn applies(self, full: &GameFull, color: Color) -> bool {
        let players = full.players();
        let is_weaker =
            players[color].rating.zip(players[!color].rating).is_some_and(|(ours, theirs)| theirs < ours);
        let is_possible = full.tournament_id.is_some() && full.clock.is_some();
        is_possible
            && match self {
                Berserk::Never => false,
                Berserk::Weaker => is_weaker,
                Berserk::Always => true,
            }
    }
}

settings! {
    /// The `correspondence` table: games with days for a move or without any limit. Between moves they are suspended.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Correspondence {
        /// Games at once, suspended ones included, beside those with clocks.
        max_games: NonZeroU32 = const { NonZeroU32::new(50).unwrap() },
        /// Games at once that are not suspended, each with a stream and a player.
        max_active: NonZeroUsize = const { NonZeroUsize::new(2).unwrap() },
        /// Time for a move.
        #[serde(with = "humantime_serde")]
        move_time: Duration = Duration::from_secs(60),
        /// A game is suspended if the opponent takes longer than this.
        #[serde(with = "humantime_serde")]
        disconnect_time: Duration = Duration::from_secs(180),
        /// Between two looks at the suspended games.
        #[serde(with = "humantime_serde")]
        checkin_period: Duration = Duration::from_secs(300),
    }
}

impl Correspondence {
    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        let max_games = self.max_games.get() as usize;
        found.at_most(("max_active", self.max_active.get()), ("max_games", max_games));
        found.above_zero(&[("move_time", self.move_time), ("checkin_period", self.checkin_period)]);
    }
}
