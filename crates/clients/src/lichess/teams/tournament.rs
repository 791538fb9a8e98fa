//! Teams and tournaments to join, and the requests that join them.

use std::fmt;

use serde::Deserialize;
use zeitnot_net::secret::Secret;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::{Form, JoinTeam, JoinTournament, TeamId, TournamentId};

/// A team to join.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// The last part of its address.
    #[schemars(with = "String", example = &"the-team")]
    pub id: TeamId,
    /// Message to its leaders.
    #[serde(default)]
    #[schemars(example = &"I am a bot.")]
    pub message: Option<String>,
    /// Its password, if it has one.
    #[serde(default, deserialize_with = "Secret::any")]
    #[schemars(with = "String", example = &"sesame")]
    pub password: Option<Secret>,
}

/// An arena tournament to play in.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tournament {
    /// The last part of its address.
    #[schemars(with = "String", example = &"abcd1234")]
    pub id: TournamentId,
    /// Its password, if it has one.
    #[serde(default, deserialize_with = "Secret::any")]
    #[schemars(with = "String", example = &"sesame")]
    pub password: Option<Secret>,
    /// Team to play for, in a battle of teams.
    #[serde(default)]
    #[schemars(with = "String", example = &"the-team")]
    pub team: Option<TeamId>,
    /// Withdraw when the program ends.
    #[serde(default = "yes")]
    pub withdraw: bool,
}

fn yes() -> bool {
    true
}

impl Tournament {
    /// Creates a tournament without a password.
    pub fn new(id: TournamentId) -> Tournament {
        Tournament { id, password: None, team: None, withdraw: true }
    }

    /// Returns the form that joins it, and asks to be paired at once.
    pub(crate) fn form(&self, pair_me_asap: bool) -> String {
        let team = self.team.as_ref().map(TeamId::to_string);
        JoinTournament { password: self.password.clone(), team, pair_me_asap }.to_form()
    }
}

impl Team {
    pub(crate) fn form(&self) -> String {
        JoinTeam { message: self.message.clone(), password: self.password.clone() }.to_form()
    }
}

impl fmt::Display for Tournament {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        self.team.as_ref().map_or(Ok(()), |team| write!(f, " for {team}"))
    }
}

/// Request that joins a team or a tournament.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub enum JoinRequest {
    /// Join a team.
    Team(Team),
    /// Look up the state of a tournament.
    LookUp(TournamentId),
    /// Join a tournament, and ask to be paired if it is running.
    Tournament(Tournament, bool),
}
