//! Settings that hold in every game of an account.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use zeitnot_net::Contradictions;
use zeitnot_rules::Color;
use zeitnot_settings::{HumanTime, JsonSchema, schemars, settings};
use zeitnot_wire::lichess::GameFull;

/// Settings that hold in every game of an account.
#[derive(Clone, Debug)]
pub(crate) struct GameRules {
    pub(crate) claim: Claim,
    pub(crate) max_takebacks: u32,
    /// Time that `!wait` gives the opponent for the first move; `None`: the command is not answered.
    pub(crate) wait_time: Option<Duration>,
    pub(crate) berserk: Berserk,
    pub(crate) correspondence: Correspondence,
}

/// Claim when the opponent has left and the server allows one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
    /// Games with days for a move or without any limit.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Correspondence {
        /// Maximum number of such games, suspended ones included, beside those with clocks.
        max_games: NonZeroU32 = const { NonZeroU32::new(50).unwrap() },
        /// Maximum number of such games that are not suspended, each with a stream and a player.
        max_active: NonZeroUsize = const { NonZeroUsize::new(2).unwrap() },
        /// Time for a move.
        #[serde(with = "HumanTime")]
        move_time: Duration = Duration::from_secs(60),
        /// Time of the opponent after which a game is suspended.
        #[serde(with = "HumanTime")]
        disconnect_time: Duration = Duration::from_secs(180),
        /// Time between two checks of the suspended games.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-reload" = false))]
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
