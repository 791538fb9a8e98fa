//! Choice and sending of our challenges.

use std::time::Instant;

use tracing::{debug, info};
use zeitnot_seat::{ChallengeState, News, OwnChallenge};
use zeitnot_wire::lichess::{ChallengeId, NewChallenge, TimeControl, User, UserId};

use super::{Load, OpenChallenge, OutgoingChallenges, series::Series};
use crate::lichess::{
    HttpError,
    account::interface::{Effect, Request},
    challenges::capacity::{Capacity, SlotKind},
    matchmaking::{
        decline_history::GameType,
        not_now::NotNow,
        proposal::{Proposal, choose},
    },
    terms::terms,
};

impl OutgoingChallenges {
    /// Challenges one of the bots online.
    pub(crate) fn looked_up(
        &mut self,
        result: Result<(Box<User>, Vec<User>), HttpError>,
        load: Load,
        capacity: &mut Capacity,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let (me, online) = match result {
            Ok(listed) => listed,
            Err(error) => return self.opponents.failed(&error, now, &mut self.random),
        };
        self.opponents.succeeded();
        if !self.may_challenge(load, now) || !capacity.reserve_for_proposal() {
            return;
        }
        match self.choose(&me, &online, load.has_correspondence_room, now) {
            Some(proposal) => self.propose(proposal, false, now, effects),
            None => {
                self.delay(self.config.challenge_timeout, now);
                debug!("none of {} bots is suitable", online.len());
            }
        }
    }

    fn choose(
        &mut self,
        me: &User,
        online: &[User],
        has_correspondence_room: bool,
        now: Instant,
    ) -> Option<Proposal> {
        let time = self.time(now);
        let OutgoingChallenges { config, variations, random, history, players, .. } = self;
        let may_play = |user: &User, game: &GameType| {
            let is_blocked = user.disabled || user.tos_violation || config.block_list.contains(&user.id);
            user.id != me.id
                && !is_blocked
                && players.allows(&user.id)
                && history.allows(&user.id, game, time)
        };
        choose(variations, random, me, online, may_play, has_correspondence_room)
    }

    /// Challenges a player by order of the owner, to a series if there are several games.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(crate) fn order(
        &mut self,
        opponent: UserId,
        mut challenge: NewChallenge,
        games: u32,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) -> Result<(), NotNow> {
        self.check_series(&opponent, games)?;
        self.check_limits(now)?;
        if games > 1 {
            let series = Series::new(opponent.clone(), &mut challenge, games, &mut self.random, now);
            self.series = Some(series);
        }
        self.propose(Proposal { opponent, challenge }, true, now, effects);
        Ok(())
    }

    /// Fails if no challenge may be sent now, not even by order.
    pub(super) fn check_limits(&mut self, now: Instant) -> Result<(), NotNow> {
        if let Some(open) = &self.open {
            return Err(NotNow::Open(open.opponent.clone()));
        }
        if self.awaits_reply {
            return Err(NotNow::NoReply);
        }
        if now < self.limited_until {
            return Err(NotNow::Limited(self.limited_until - now));
        }
        let allowed = self.next_allowed(now);
        if now < allowed {
            return Err(NotNow::Daily { max: self.config.max_challenges_per_day, wait: allowed - now });
        }
        Ok(())
    }

    pub(super) fn propose(
        &mut self,
        proposal: Proposal,
        is_ordered: bool,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let Proposal { opponent, mut challenge } = proposal;
        let terms = terms(&challenge.variant, &challenge.time, challenge.rated);
        info!("challenging {opponent}: {terms}");
        self.history.sent(self.time(now));
        self.is_unsaved = true;
        let slot = match challenge.time {
            TimeControl::Clock(_) => SlotKind::with_clock(!is_ordered),
            _ => SlotKind::Correspondence,
        };
        effects.push(self.news(None, &opponent, &terms, ChallengeState::Open));
        let to = opponent.clone();
        self.open = Some(OpenChallenge { id: None, opponent: to, since: now, is_ordered, slot, terms });
        challenge.keep_alive_stream = true;
        effects.push(Effect::Send(Request::Challenge(opponent, Box::new(challenge))));
    }

    pub(super) fn news(
        &self,
        id: Option<ChallengeId>,
        to: &UserId,
        terms: &str,
        state: ChallengeState,
    ) -> Effect {
        Effect::News(News::Challenging(OwnChallenge {
            server: self.server.clone(),
            id: id.map(|id| id.to_string()),
            to: to.to_string(),
            terms: terms.to_owned(),
            state,
        }))
    }
}
