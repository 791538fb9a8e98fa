//! Challenges at the desk: made, shown, accepted, declined, taken back, and forgotten.

use std::time::Duration;

use tokio::time::Instant;

use zeitnot_rules::Color;
use zeitnot_rules::{DynGame, chess::shuffled};
use zeitnot_wire::{
    Message,
    lichess::{
        Challenge, ChallengeEnd, ChallengeId, ChallengeStatus, ChallengeUser, Challenges, ColorWish,
        DeclineReason, Direction, Event, GameId, Keepalive, NewChallenge, Source, Status, TimeControl, Token,
        UserId, Variant, VariantKey,
    },
};

use super::{
    answer::{Answer, Body, Feed, Outcome, StreamKind, feed},
    clocks::Clocks,
    desk::{COMPAT, DeskActor},
    game::Terms,
    limit::Ration,
    messages::{perf, perf_name},
    people::Person,
    route::Call,
};

/// Challenges that one account can have open.
const MOST: usize = 100;
/// Challenges that are no longer open, and can still be shown.
const MOST_ANSWERED: usize = 500;
/// How long a rematch can be agreed to.
const REMATCH_LIFE: Duration = Duration::from_secs(30 * 60);
/// What to challenge a person costs.
const PERSON: usize = 5;

/// What somebody would play.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) challenge: Challenge,
    pub(super) terms: Terms,
    pub(super) line: DynGame,
}

/// A challenge that somebody is to answer.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) challenge: Challenge,
    pub(super) from: UserId,
    pub(super) to: UserId,
    pub(super) terms: Terms,
    pub(super) line: DynGame,
    /// When it ends by itself, unless somebody keeps it alive.
    pub(super) dies: Option<Instant>,
    /// Where its challenger waits.
    pub(super) kept: Option<Feed>,
}

impl DeskActor {
    pub(super) fn challenge_call(&mut self, who: &UserId, call: Call, at: Instant) -> Outcome {
        match call {
            Call::Challenges => Ok(self.list(who)),
            Call::Challenge(whom, form) => self.challenge(who, &whom, form, at),
            Call::Show(id) => self.show(who, id),
            Call::Accept(id, color) => self.accept(who, id, color, at),
            Call::Rematch(id) => self.rematch(who, id, at),
            Call::Computer(form) => self.play_computer(who, form, at),
            Call::Decline(id, reason) => self.decline(who, id, reason),
            Call::Cancel(id, token) => self.cancel(who, id, token, at),
            _ => Err(Answer::missing("Not found")),
        }
    }

    /// All that concern somebody.
    pub(super) fn pending_of(&self, who: &UserId) -> impl Iterator<Item = Challenge> {
        self.pending.values().filter(move |p| p.from == *who || p.to == *who).map(|p| p.challenge.clone())
    }

    fn list(&self, who: &UserId) -> Answer {
        let towards = |direction: Direction| {
            let concerns = move |challenge: &Challenge| challenge.direction.as_ref() == Some(&direction);
            self.pending_of(who).map(|challenge| directed(challenge, who)).filter(concerns).collect()
        };
        Answer::json(&Challenges { incoming: towards(Direction::In), outgoing: towards(Direction::Out) })
    }

    fn show(&self, who: &UserId, id: ChallengeId) -> Outcome {
        let open = self.pending.get(&id).map(|pending| &pending.challenge);
        let found = open.or_else(|| self.answered.iter().rfind(|challenge| challenge.id == id));
        let found = found.filter(|challenge| is_party(challenge, who)).ok_or_else(gone)?;
        Ok(Answer::json(&directed(found.clone(), who)))
    }

    fn challenge(&mut self, who: &UserId, whom: &UserId, form: NewChallenge, at: Instant) -> Outcome {
        let person =
            |id: &UserId| self.people.find(id).ok_or_else(|| Answer::bad(&format!("No such user: {id}")));
        let (us, them) = (person(who)?, person(whom)?);
        if who == whom {
            return Err(Answer::missing("Resource not found"));
        }
        let (terms, line) = terms(&form, self.config.clocks)?;
        let bots = us.user.is_bot() || them.user.is_bot();
        if them.user.is_bot() && !form.rules.is_empty() {
            return Err(Answer::bad("Rules not applicable for bots"));
        } else if self.society.blocks(whom, who) {
            return Err(Answer::bad(&format!("You cannot challenge {}.", them.user.username)));
        } else if self.pending.values().filter(|pending| pending.from == *who).count() >= MOST {
            return Err(Answer::too_many("Too many open challenges"));
        }
        if bots {
            self.config.clocks.check_for_bots(&terms.time)?;
        }
        let cost = match them.user.is_bot() {
            _ if self.society.follows(whom, who) => 0,
            true => 1,
            false => PERSON,
        };
        for ration in [Ration::ChallengeOfDay, Ration::Challenge] {
            let slowly = |_| Answer::too_many("Too many requests. Try again later.");
            self.rations.take(who, ration, cost, at).map_err(slowly)?;
        }
        self.check_cap(who, whom, at)?;
        let id = self.free_id();
        let color = drawn(&form.color);
        let challenge = self.describe(id, [Some(who), Some(whom)], &terms, (form.color.clone(), Some(color)));
        Ok(self.post([who, whom], Offer { challenge, terms, line }, form.keep_alive_stream, at))
    }

    /// A challenge stands: both hear of it, and its challenger may wait for its end.
    pub(super) fn post(
        &mut self,
        [who, whom]: [&UserId; 2],
        offer: Offer,
        waits: bool,
        at: Instant,
    ) -> Answer {
        let Offer { challenge, terms, line } = offer;
        let event = Event::Challenge { challenge: Box::new(challenge.clone()), compat: Some(COMPAT) };
        [who, whom].into_iter().for_each(|id| self.people.tell(id, &event));
        let created = Keepalive::Created(Box::new(challenge.clone()));
        let (kept, answer) = match waits {
            true => {
                let (feed, lines) = feed(vec![created.to_line()]);
                let keep_alive = self.config.event_keep_alive;
                (Some(feed), Answer::of(Body::Stream { kind: StreamKind::Challenge, lines, keep_alive }))
            }
            false => (None, Answer::json(&created)),
        };
        let life = match challenge.rematch_of {
            Some(_) => REMATCH_LIFE,
            None => self.config.challenge_life,
        };
        let hurries = terms.time.clock().is_some() && kept.is_none();
        let dies = hurries.then(|| at + life);
        let (from, to) = (who.clone(), whom.clone());
        self.pending.insert(challenge.id, Pending { challenge, from, to, terms, line, dies, kept });
        answer
    }

    pub(super) fn free_id(&self) -> ChallengeId {
        loop {
            let text: String = std::iter::repeat_with(fastrand::alphanumeric).take(8).collect();
            if let Ok(id) = text.parse::<ChallengeId>()
                && !self.pending.contains_key(&id)
                && !self.open.contains_key(&id)
                && !self.bulks.has_promised(id.into())
                && !self.games.contains_key(&GameId::from(id))
            {
                return id;
            }
        }
    }

    /// A challenge as it is told: between whom, what about, and the challenger's colour as wished and drawn.
    pub(super) fn describe(
        &self,
        id: ChallengeId,
        ids: [Option<&UserId>; 2],
        terms: &Terms,
        (color, final_color): (ColorWish, Option<Color>),
    ) -> Challenge {
        let [challenger, dest_user] =
            ids.map(|id| id.and_then(|id| self.people.find(id)).map(|person| self.party(person, terms)));
        Challenge {
            id,
            url: format!("http://{}/{id}", self.config.listen),
            status: Some(ChallengeStatus::Created),
            challenger,
            dest_user,
            variant: Variant::from(terms.variant.clone()),
            rated: terms.rated,
            speed: Some(terms.time.speed()),
            time_control: terms.time.clone(),
            color: Some(color),
            final_color,
            perf: Some(perf_name(&terms.variant, &terms.time)),
            direction: None,
            initial_fen: terms.fen.clone(),
            rematch_of: None,
            decline_reason: None,
            decline_reason_key: None,
            rules: terms.rules.clone(),
        }
    }

    fn party(&self, person: &Person, terms: &Terms) -> ChallengeUser {
        let rating = person.perf(&perf(&terms.variant, &terms.time));
        ChallengeUser {
            id: person.user.id.clone(),
            name: person.user.username.clone(),
            title: person.user.title.clone(),
            rating: rating.rating,
            provisional: rating.prov,
            online: self.is_online(&person.user.id),
            lag: None,
        }
    }

    pub(super) fn accept(
        &mut self,
        who: &UserId,
        id: ChallengeId,
        color: Option<Color>,
        at: Instant,
    ) -> Outcome {
        if self.open.contains_key(&id) {
            return self.accept_open(who, id, color, at);
        }
        let pending = self.pending.get(&id).filter(|pending| pending.to == *who).ok_or_else(gone)?;
        let (from, to) = (pending.from.clone(), pending.to.clone());
        self.check_start(&to, &from, at)?;
        let pending = self.close(id, ChallengeStatus::Accepted, &ChallengeEnd::Accepted).ok_or_else(gone)?;
        if let Some(before) = pending.challenge.rematch_of
            && let Some(game) = self.games.get_mut(&before)
        {
            game.rematch = Some(id.into());
        }
        let players = match pending.challenge.final_color {
            Some(Color::Black) => [&to, &from],
            _ => [&from, &to],
        };
        self.start(id.into(), pending.terms, pending.line, players, at)?;
        Ok(Answer::done())
    }

    fn decline(&mut self, who: &UserId, id: ChallengeId, reason: DeclineReason) -> Outcome {
        let pending = self.pending.get_mut(&id).filter(|pending| pending.to == *who).ok_or_else(gone)?;
        let reason = if let DeclineReason::Other(_) = reason { DeclineReason::Generic } else { reason };
        pending.challenge.decline_reason = Some(words(&reason).to_owned());
        pending.challenge.decline_reason_key = Some(reason);
        self.close(id, ChallengeStatus::Declined, &ChallengeEnd::Declined);
        Ok(Answer::done())
    }

    /// Also aborts the game that it has just become, and with the opponent's consent any.
    fn cancel(&mut self, who: &UserId, id: ChallengeId, opponent: Option<Token>, at: Instant) -> Outcome {
        let parties = self.pending.get(&id).map(|pending| (&pending.from == who, &pending.to == who));
        match parties {
            Some((true, _)) => {
                self.close(id, ChallengeStatus::Canceled, &ChallengeEnd::Canceled);
                return Ok(Answer::done());
            }
            Some((_, true)) => return self.decline(who, id, DeclineReason::Generic),
            _ if self.close_open(who, id) => return Ok(Answer::done()),
            _ => {}
        }
        let agreed = opponent.and_then(|token| self.people.by_token(&token).cloned());
        let id = GameId::from(id);
        let game = self.games.get_mut(&id).filter(|game| game.end.is_none()).ok_or_else(gone)?;
        let side = game.side_of(who).ok_or_else(gone)?;
        match agreed {
            _ if game.can_abort() => {}
            Some(agreed) if game.players[!side].id == agreed => {}
            Some(_) => return Err(Answer::bad("Not the opponent token")),
            None => return Err(Answer::bad("Missing opponentToken")),
        }
        game.finish(Status::Aborted, None, at);
        self.conclude(id, at);
        Ok(Answer::done())
    }

    /// Challenges whose time is over, or whose challenger has gone.
    pub(super) fn expire(&mut self, now: Instant) {
        self.open.retain(|_, open| now < open.dies);
        let is_dead = |pending: &Pending| {
            let is_left = pending.kept.as_ref().is_some_and(|kept| kept.receiver_count() == 0);
            is_left || pending.dies.is_some_and(|dies| now >= dies)
        };
        let dead: Vec<_> =
            self.pending.iter().filter(|(_, pending)| is_dead(pending)).map(|(id, _)| *id).collect();
        for id in dead {
            self.close(id, ChallengeStatus::Canceled, &ChallengeEnd::Canceled);
        }
    }

    /// A challenge is no longer open: whoever it concerns is told.
    fn close(&mut self, id: ChallengeId, status: ChallengeStatus, end: &ChallengeEnd) -> Option<Pending> {
        let mut pending = self.pending.remove(&id)?;
        pending.challenge.status = Some(status);
        if let Some(kept) = pending.kept.take() {
            // Who waits no longer needs not be told.
            let _ = kept.send(Keepalive::Done { done: end.clone() }.to_line().into());
        }
        let challenge = Box::new(pending.challenge.clone());
        let event = match end {
            ChallengeEnd::Declined => Some(Event::ChallengeDeclined { challenge }),
            ChallengeEnd::Canceled => Some(Event::ChallengeCanceled { challenge }),
            _ => None,
        };
        for id in [&pending.from, &pending.to] {
            event.iter().for_each(|event| self.people.tell(id, event));
        }
        self.answered.push_back(pending.challenge.clone());
        if self.answered.len() > MOST_ANSWERED {
            self.answered.pop_front();
        }
        Some(pending)
    }
}

pub(super) fn gone() -> Answer {
    Answer::missing("No such challenge")
}

fn is_party(challenge: &Challenge, who: &UserId) -> bool {
    [&challenge.challenger, &challenge.dest_user].into_iter().flatten().any(|user| user.id == *who)
}

/// The colour that a wish comes to.
pub(super) fn drawn(wish: &ColorWish) -> Color {
    match wish {
        ColorWish::White => Color::White,
        ColorWish::Black => Color::Black,
        _ if fastrand::bool() => Color::White,
        _ => Color::Black,
    }
}

/// As one of the two sees it.
fn directed(challenge: Challenge, who: &UserId) -> Challenge {
    let is_ours = challenge.challenger.as_ref().is_some_and(|user| user.id == *who);
    Challenge { direction: Some(if is_ours { Direction::Out } else { Direction::In }), ..challenge }
}

/// What is to be played, if it can be.
pub(super) fn terms(form: &NewChallenge, clocks: Clocks) -> Result<(Terms, DynGame), Answer> {
    clocks.check(&form.time)?;
    let (variant, fen) = match (&form.variant, &form.fen) {
        (VariantKey::Standard | VariantKey::FromPosition, Some(fen)) => {
            (VariantKey::FromPosition, Some(fen.clone()))
        }
        (VariantKey::Chess960, fen) => {
            (VariantKey::Chess960, Some(fen.clone().unwrap_or_else(|| shuffled(&mut fastrand::Rng::new()))))
        }
        (VariantKey::FromPosition, None) => return Err(Answer::field("fen", "This field is required")),
        (VariantKey::Other(_), _) => return Err(Answer::field("variant", "Invalid variant")),
        (variant, fen) => (variant.clone(), fen.clone()),
    };
    let (time, rules) = (form.time.clone(), form.rules.clone());
    let terms = Terms { variant, rated: form.rated, time, fen, source: Source::Friend, rules };
    let line = line(&terms)?;
    let is_own = terms.variant != VariantKey::Chess960 && terms.fen.is_some();
    let is_plain = !is_own && form.time != TimeControl::Unlimited;
    if form.rated && !is_plain {
        return Err(Answer::field("rated", "Such a game can only be casual"));
    }
    Ok((terms, line))
}

/// Where a game on such terms begins.
pub(super) fn line(terms: &Terms) -> Result<DynGame, Answer> {
    let invalid = || Answer::field("fen", "Invalid FEN");
    let line = terms.variant.begin(terms.fen.as_deref()).map_err(|_| invalid())?;
    if line.outcome().is_over() { Err(invalid()) } else { Ok(line) }
}

/// What the challenger reads.
fn words(reason: &DeclineReason) -> &'static str {
    match reason {
        DeclineReason::Generic | DeclineReason::Other(_) => "I'm not accepting challenges at the moment.",
        DeclineReason::Later => "This is not the right time for me, please ask again later.",
        DeclineReason::TooFast => {
            "This time control is too fast for me, please challenge again with a slower game."
        }
        DeclineReason::TooSlow => {
            "This time control is too slow for me, please challenge again with a faster game."
        }
        DeclineReason::TimeControl => "I'm not accepting challenges with this time control.",
        DeclineReason::Rated => "Please send me a rated challenge instead.",
        DeclineReason::Casual => "Please send me a casual challenge instead.",
        DeclineReason::Standard => "I'm not accepting variant challenges right now.",
        DeclineReason::Variant => "I'm not willing to play this variant right now.",
        DeclineReason::NoBot => "I'm not accepting challenges from bots.",
        DeclineReason::OnlyBot => "I'm only accepting challenges from bots.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_wire::lichess::Form;

    #[test]
    fn what_can_be_played() {
        for (form, fine) in [
            ("clock.limit=180&clock.increment=2&rated=true", true),
            ("variant=chess960&clock.limit=60&clock.increment=1", true),
            ("days=3", true),
            ("", true),
            ("fen=4k3/8/8/8/8/8/8/4K2R+w+K+-+0+1", true),
            ("rated=true", false),
            ("days=4", false),
            ("clock.limit=61&clock.increment=0", false),
            ("clock.limit=0&clock.increment=0", false),
            ("clock.limit=60&clock.increment=61", false),
            ("variant=atomic", true),
            ("variant=threeCheck&clock.limit=180&clock.increment=0&rated=true", true),
            ("variant=racingKings&fen=8/4k3/8/8/8/8/8/4K3+w+-+-+0+1", true),
            ("variant=horde&rated=true&clock.limit=60&fen=4k3/8/8/8/8/8/8/P7+w+-+-+0+1", false),
            ("variant=horde&fen=4k3/8/8/8/8/8/8/8+w+-+-+0+1", false),
            ("variant=brandNew", false),
            ("variant=fromPosition", false),
            ("fen=nonsense", false),
            ("rated=true&fen=4k3/8/8/8/8/8/8/4K2R+w+K+-+0+1&clock.limit=60", false),
        ] {
            let challenge = NewChallenge::from_form(form).unwrap();
            assert_eq!(terms(&challenge, Clocks::Lichess).is_ok(), fine, "{form}");
        }
    }
}
