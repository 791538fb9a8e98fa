//! Accounts as others see them: who somebody is, who is there, who plays.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use zeitnot_wire::lichess::{User, UserId, UserStatus};

use super::{
    answer::{Answer, Body, Outcome},
    desk::DeskActor,
    game::Game,
    limit::Ration,
    open::since_1970,
    people::Person,
};

/// When somebody last asked for anything, since 1970. Only those who have an account are in it.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<UserId, Duration>);

impl Seen {
    pub(super) fn note(&mut self, who: &UserId) {
        self.0.insert(who.clone(), since_1970());
    }
}

/// What the status of a user is to hold.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct StatusFlags {
    pub(super) signal: bool,
    pub(super) game_ids: bool,
    pub(super) game_metas: bool,
}

/// The best of four.
const GOOD_SIGNAL: u8 = 4;

impl DeskActor {
    /// One's own account.
    pub(super) fn account(&mut self, who: &UserId, at: Instant) -> Outcome {
        const SLOWLY: &str = "Too many requests. Try again later.";
        self.rations.take(who, Ration::Account, 1, at).map_err(|_| Answer::too_many(SLOWLY))?;
        self.profile(who, Some(who))
    }

    /// An account, as `viewer` sees it.
    pub(super) fn profile(&self, id: &UserId, viewer: Option<&UserId>) -> Outcome {
        let person = self.people.find(id).ok_or_else(|| Answer::missing("Not found"))?;
        let mut told = self.portrait(person);
        if let Some(viewer) = viewer.filter(|viewer| *viewer != id) {
            told["followable"] = json!(!self.society.blocks(id, viewer));
            told["following"] = json!(self.society.follows(viewer, id));
            told["blocking"] = json!(self.society.blocks(viewer, id));
        } else if viewer.is_some() {
            told["followable"] = json!(true);
            told["following"] = json!(false);
            told["blocking"] = json!(false);
        }
        Ok(Answer::value(&told))
    }

    fn portrait(&self, person: &Person) -> Value {
        let User { id, username, .. } = &person.user;
        let url = format!("http://{}/@/{username}", self.config.listen);
        let mut user = person.profile(url, self.is_online(id));
        user.seen_at = user.seen_at.max(self.seen.0.get(id).copied());
        let mut told = serde_json::to_value(&user).unwrap_or_default();
        told["playTime"] = json!({ "total": person.took.as_secs(), "tv": 0 });
        let playing = || self.running().filter(|game| game.side_of(id).is_some());
        told["count"]["playing"] = json!(playing().count());
        if let Some(game) = playing().next() {
            told["playing"] = json!(format!("http://{}/{}", self.config.listen, game.id));
        }
        told
    }

    /// Those of these that have an account.
    pub(super) fn users(&self, ids: &[UserId]) -> Answer {
        let people = ids.iter().filter_map(|id| self.people.find(id));
        Answer::value(&people.map(|person| self.portrait(person)).collect::<Vec<_>>())
    }

    pub(super) fn online(&self, most: usize) -> Answer {
        let bots = self.people.all().filter(|person| person.user.is_bot() && self.is_online(&person.user.id));
        Answer::of(Body::Lines(
            bots.take(most).map(|person| self.portrait(person).to_string() + "\n").collect(),
        ))
    }

    pub(super) fn statuses(&self, ids: &[UserId], flags: StatusFlags) -> Answer {
        let people = ids.iter().filter_map(|id| self.people.find(id));
        Answer::value(&people.map(|person| self.status(person, flags)).collect::<Vec<_>>())
    }

    fn status(&self, person: &Person, flags: StatusFlags) -> Value {
        let user = &person.user;
        let game = self.running().find(|game| game.side_of(&user.id).is_some());
        let online = self.is_online(&user.id);
        let mut told = serde_json::to_value(UserStatus {
            id: user.id.clone(),
            name: user.username.clone(),
            title: user.title.clone(),
            online,
            playing: game.is_some(),
            playing_id: game.map(|game| game.id).filter(|_| flags.game_ids),
        })
        .unwrap_or_default();
        if online && flags.signal {
            told["signal"] = json!(GOOD_SIGNAL);
        }
        if let Some(game) = game.filter(|_| flags.game_metas) {
            told["playing"] = meta(game);
        }
        told
    }
}

fn meta(game: &Game) -> Value {
    let mut told = json!({ "id": game.id, "variant": game.terms.variant });
    if let Some(clock) = game.terms.time.clock() {
        told["clock"] = json!(format!("{}+{}", clock.initial.as_secs(), clock.increment.as_secs()));
    }
    told
}
