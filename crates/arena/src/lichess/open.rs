//! Challenges to anybody: the first who accepts takes a side, the second begins the game.

use std::time::Duration;

use serde_json::json;
use time::OffsetDateTime;
use tokio::time::Instant;

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{ChallengeId, ColorWish, OpenChallenge, Source, UserId};

use super::{
    answer::{Answer, Body, Outcome},
    challenges::{Offer, drawn, gone, terms},
    desk::DeskActor,
};

/// How long one stands, unless it says so itself; and at most.
const LIFE: Duration = Duration::from_secs(24 * 3600);
const LONGEST_LIFE: Duration = Duration::from_secs(14 * 24 * 3600);
/// Open challenges at once.
const MOST: usize = 1000;

/// A challenge to anybody.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) offer: Offer,
    /// Who made it, if that is known: may close it again.
    owner: Option<UserId>,
    /// Who alone may play, White first.
    users: Option<[UserId; 2]>,
    /// Who has accepted, and the side that goes with it.
    first: Option<(UserId, Color)>,
    pub(super) dies: Instant,
}

impl DeskActor {
    pub(super) fn open(&mut self, owner: Option<UserId>, form: OpenChallenge, at: Instant) -> Outcome {
        let users = match form.users.as_slice() {
            [] => None,
            [white, black] if white != black => Some([white.clone(), black.clone()]),
            _ => return Err(Answer::field("users", "Must be 2 usernames, White first")),
        };
        if let Some(unknown) = users.iter().flatten().find(|id| self.people.find(id).is_none()) {
            return Err(Answer::field("users", &format!("No such user: {unknown}")));
        } else if self.open.len() >= MOST {
            return Err(Answer::too_many("Too many open challenges"));
        }
        let (mut terms, line) = terms(&form.terms, self.config.clocks)?;
        terms.source = Source::Api;
        let life = match form.expires_at {
            Some(at) => at.saturating_sub(since_1970()).min(LONGEST_LIFE),
            None => LIFE,
        };
        let id = self.free_id();
        let color = (form.terms.color, None);
        let challenge = self.describe(id, [None, None], &terms, color);
        let mut told = serde_json::to_value(&challenge).unwrap_or_default();
        told["urlWhite"] = json!(format!("{}?color=white", challenge.url));
        told["urlBlack"] = json!(format!("{}?color=black", challenge.url));
        told["open"] = json!({ "userIds": &users });
        if let Some(name) = form.name {
            told["name"] = json!(name);
        }
        let offer = Offer { challenge, terms, line };
        self.open.insert(id, Open { offer, owner, users, first: None, dies: at + life });
        Ok(Answer::of(Body::Json(told.to_string())))
    }

    pub(super) fn accept_open(
        &mut self,
        who: &UserId,
        id: ChallengeId,
        wish: Option<Color>,
        at: Instant,
    ) -> Outcome {
        let open = self.open.get_mut(&id).ok_or_else(gone)?;
        let is_bot = self.people.find(who).is_some_and(|person| person.user.is_bot());
        if is_bot {
            self.config.clocks.check_for_bots(&open.offer.terms.time)?;
        }
        let owned = match &open.users {
            Some([white, _]) if white == who => Some(Color::White),
            Some([_, black]) if black == who => Some(Color::Black),
            Some(_) => return Err(Answer::missing("No such challenge")),
            None => None,
        };
        let Some((first, side)) = open.first.clone() else {
            let wished = wish.map_or(ColorWish::Random, |color| match color {
                Color::White => ColorWish::White,
                Color::Black => ColorWish::Black,
            });
            open.first = Some((who.clone(), owned.unwrap_or_else(|| drawn(&wished))));
            return Ok(Answer::done());
        };
        if first == *who {
            return Err(gone());
        }
        self.check_start(who, &first, at)?;
        let Some(Open { offer, .. }) = self.open.remove(&id) else { return Err(gone()) };
        let players = match side {
            Color::White => [&first, who],
            Color::Black => [who, &first],
        };
        self.start(id.into(), offer.terms, offer.line, players, at)?;
        Ok(Answer::done())
    }

    /// Whoever made it takes it back.
    pub(super) fn close_open(&mut self, who: &UserId, id: ChallengeId) -> bool {
        let is_owned = self.open.get(&id).is_some_and(|open| open.owner.as_ref() == Some(who));
        is_owned && self.open.remove(&id).is_some()
    }
}

/// The time of day as the API counts it.
pub(super) fn since_1970() -> Duration {
    let millis = OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}
