//! Teams and their members, for as long as the server runs.

use std::collections::{BTreeMap, BTreeSet};

use zeitnot_wire::lichess::{JoinTeam, UserId};

use super::{
    answer::{Answer, Outcome, Refusal},
    config::TeamConfig,
};
use crate::secret::is_same_if_asked;

#[derive(Debug)]
struct Team {
    password: Option<String>,
    members: BTreeSet<UserId>,
}

/// The teams of the configuration.
#[derive(Debug)]
pub(super) struct Teams(BTreeMap<String, Team>);

impl Teams {
    pub(super) fn new(teams: &[TeamConfig]) -> Teams {
        let team = |config: &TeamConfig| Team { password: config.password.clone(), members: BTreeSet::new() };
        Teams(teams.iter().map(|config| (config.id.clone(), team(config))).collect())
    }

    pub(super) fn exists(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    pub(super) fn is_member(&self, id: &str, who: &UserId) -> bool {
        self.0.get(id).is_some_and(|team| team.members.contains(who))
    }

    pub(super) fn join(&mut self, who: &UserId, id: &str, form: &JoinTeam) -> Outcome {
        let team = self.0.get_mut(id).ok_or_else(|| Refusal::missing("Not found"))?;
        if !is_same_if_asked(team.password.as_deref(), form.password.as_deref()) {
            return Err(Refusal::bad("Incorrect team password"));
        }
        team.members.insert(who.clone());
        Ok(Answer::done())
    }
}
