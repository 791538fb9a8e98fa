//! Matchmaker: whom to challenge when nobody plays us. A state machine without I/O and without a clock.
//!
//! [`Matchmaker::step`] returns what to do now; the results are passed back. Times are counted from 1970, as some of
//! them are kept between runs.

use std::{mem, time::Duration};

use zeitnot_wire::lichess::{Challenge, ChallengeId, DeclineReason, User, UserId};

use super::{
    config::Config,
    decline_history::{DeclineHistory, GameType},
    proposal::{Proposal, choose},
};
use crate::lichess::{BotLimit, HttpError, challenges::players::PlayerLists};

/// Minimum delay after a failed look at the opponents online.
const LOOKUP_DELAY: Duration = Duration::from_secs(5);
/// Life of a challenge of the owner, who may have chosen a person.
const ORDERED_LIFE: Duration = Duration::from_secs(120);
/// No limit of the server is longer than a week.
const MAX_WAIT: Duration = Duration::from_secs(7 * 86_400);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Nothing before then, unless a game begins or ends.
    Wait { until: Duration },
    /// Get the list of bots online, and [choose](Matchmaker::choose).
    LookUp,
    /// Cancel the open challenge.
    Cancel(ChallengeId),
}

#[derive(Debug)]
pub(crate) struct Matchmaker {
    config: Config,
    /// See [`Config::variations`].
    variations: Vec<Config>,
    random: fastrand::Rng,
    history: DeclineHistory,
    is_dirty: bool,
    open: OpenChallenge,
    /// Whose idea the open challenge is.
    proposer: Proposer,
    /// Whether somebody is challenged without an order.
    is_automatic: bool,
    /// No challenge of ours before then.
    not_before: Duration,
    /// No challenge at all before then, as the server has told.
    limited_until: Duration,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Proposer {
    Matchmaker,
    /// The bot's owner.
    Owner,
}

/// Reason why the owner's challenge is not sent now.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum NotNow {
    #[error("the challenge to {0} is still open: wait for the answer")]
    Open(UserId),
    #[error(
        "{max} challenges a day are sent at most (`max_challenges_per_day`): the next one in {}",
        time(wait)
    )]
    Daily { max: usize, wait: Duration },
    #[error("the server limits our challenges: the next one in {}", time(.0))]
    Limited(Duration),
}

/// Formats a wait in whole seconds.
pub(super) fn time(wait: &Duration) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(wait.min(&MAX_WAIT).as_secs() + 1))
}

/// Our challenge, one at a time.
#[derive(Clone, Debug)]
enum OpenChallenge {
    None,
    /// On its way to the server.
    Sent {
        opponent: UserId,
        since: Duration,
    },
    /// Waiting for an answer.
    Created {
        id: ChallengeId,
        opponent: UserId,
        since: Duration,
    },
}

impl Matchmaker {
    /// Creates a matchmaker that is idle from now on.
    pub(crate) fn new(config: Config, history: DeclineHistory, seed: u64, now: Duration) -> Matchmaker {
        Matchmaker {
            not_before: now + config.challenge_timeout,
            random: fastrand::Rng::with_seed(seed),
            is_dirty: false,
            open: OpenChallenge::None,
            proposer: Proposer::Matchmaker,
            is_automatic: true,
            limited_until: Duration::ZERO,
            variations: config.variations(),
            config,
            history,
        }
    }

    /// Challenges nobody without an order.
    pub(crate) fn by_order_only(self) -> Matchmaker {
        Matchmaker { is_automatic: false, ..self }
    }

    /// Goes on by another configuration; without one, only by order.
    pub(crate) fn reconfigure(&mut self, config: Option<Config>) {
        self.is_automatic = config.is_some();
        self.config = config.unwrap_or_default();
        self.variations = self.config.variations();
    }

    /// Returns whom we have challenged, as long as the challenge is open.
    pub(crate) fn challenged(&self) -> Option<&UserId> {
        match &self.open {
            OpenChallenge::None => None,
            OpenChallenge::Sent { opponent, .. } | OpenChallenge::Created { opponent, .. } => Some(opponent),
        }
    }

    /// Notes a challenge that the owner ordered. The caller sends it.
    ///
    /// # Errors
    /// [`NotNow`].
    pub(crate) fn order(&mut self, opponent: &UserId, now: Duration) -> Result<(), NotNow> {
        if let Some(open) = self.challenged() {
            return Err(NotNow::Open(open.clone()));
        }
        if now < self.limited_until {
            return Err(NotNow::Limited(self.limited_until - now));
        }
        let max = self.config.max_challenges_per_day;
        let allowed = self.history.next_allowed(max, now);
        if now < allowed {
            return Err(NotNow::Daily { max, wait: allowed - now });
        }
        self.sent(opponent, Proposer::Owner, now);
        Ok(())
    }

    /// Ends the open challenge to a player. Returns it if the server knows it, to be cancelled.
    pub(crate) fn withdraw_from(&mut self, player: &UserId, now: Duration) -> Option<ChallengeId> {
        if self.challenged() != Some(player) {
            return None;
        }
        let id = match self.open {
            OpenChallenge::Created { id, .. } => Some(id),
            _ => None,
        };
        self.close(now);
        id
    }

    /// Returns what to do now, with so many games running and with or without a slot for another.
    pub(crate) fn step(&mut self, games: usize, has_room: bool, now: Duration) -> Step {
        let is_busy = games > 0 || !has_room;
        if is_busy {
            self.delay(self.config.challenge_timeout, now);
        }
        let life = match self.proposer {
            Proposer::Matchmaker => self.config.cancel_after,
            Proposer::Owner => self.config.cancel_after.max(ORDERED_LIFE),
        };
        match self.open {
            // If it were accepted now, that would be one game too many.
            OpenChallenge::Created { id, since, .. } if !has_room || now >= since + life => {
                self.close(now);
                Step::Cancel(id)
            }
            // The server has not answered.
            OpenChallenge::Sent { since, .. } if now >= since + life => {
                self.close(now);
                self.step(games, has_room, now)
            }
            OpenChallenge::Created { since, .. } | OpenChallenge::Sent { since, .. } => {
                Step::Wait { until: since + life }
            }
            OpenChallenge::None if !self.is_automatic => Step::Wait { until: Duration::MAX },
            OpenChallenge::None => {
                let limit = self.history.next_allowed(self.config.max_challenges_per_day, now);
                let due = self.not_before.max(limit);
                if is_busy || now < due { Step::Wait { until: due } } else { Step::LookUp }
            }
        }
    }

    /// Chooses an opponent and a game. The caller sends the challenge.
    pub(crate) fn choose(
        &mut self,
        me: &User,
        online: &[User],
        players: &PlayerLists,
        has_correspondence_room: bool,
        now: Duration,
    ) -> Option<Proposal> {
        let Matchmaker { config, variations, random, history, .. } = self;
        let may_play = |user: &User, game: &GameType| {
            let is_blocked = user.disabled || user.tos_violation || config.block_list.contains(&user.id);
            user.id != me.id && !is_blocked && players.allows(&user.id) && history.allows(&user.id, game, now)
        };
        let proposal = choose(variations, random, me, online, may_play, has_correspondence_room);
        let Some(proposal) = proposal else {
            self.delay(self.config.challenge_timeout, now);
            return None;
        };
        self.sent(&proposal.opponent, Proposer::Matchmaker, now);
        Some(proposal)
    }

    fn sent(&mut self, opponent: &UserId, proposer: Proposer, now: Duration) {
        self.history.sent(now);
        self.is_dirty = true;
        self.proposer = proposer;
        self.open = OpenChallenge::Sent { opponent: opponent.clone(), since: now };
    }

    /// The bots online could not be looked up.
    pub(crate) fn lookup_failed(&mut self, now: Duration) {
        self.delay(self.config.challenge_timeout.max(LOOKUP_DELAY), now);
    }

    pub(crate) fn pause(&mut self, wait: Duration, now: Duration) {
        let wait = wait.min(MAX_WAIT);
        self.delay(wait, now);
        self.limited_until = self.limited_until.max(now + wait);
    }

    pub(crate) fn created(&mut self, id: ChallengeId, now: Duration) {
        if let OpenChallenge::Sent { opponent, .. } = &self.open {
            self.open = OpenChallenge::Created { id, opponent: opponent.clone(), since: now };
        }
    }

    /// The server has not taken our challenge.
    pub(crate) fn refused(&mut self, error: &HttpError, now: Duration) {
        let OpenChallenge::Sent { opponent, .. } = self.open.clone() else { return };
        self.close(now);
        match (error.bot_limit(), error) {
            (Some(BotLimit::Theirs(wait)), _) => {
                // The opponent was not unwilling, so the next one may be asked soon.
                self.history.unavailable(&opponent, now + wait.min(MAX_WAIT), now);
                self.is_dirty = true;
            }
            (_, HttpError::Limited { wait, .. }) => self.pause(*wait, now),
            _ => {}
        }
    }

    /// A challenge of ours, perhaps of an earlier run, was declined.
    pub(crate) fn declined(&mut self, challenge: &Challenge, now: Duration) {
        self.gone(challenge.id, now);
        let Some(opponent) = &challenge.dest_user else { return };
        let game = GameType {
            speed: challenge.time_control.speed(),
            variant: challenge.variant.key.clone(),
            mode: challenge.rated.into(),
        };
        let reason = challenge.decline_reason_key.as_ref().unwrap_or(&DeclineReason::Generic);
        self.history.declined(&opponent.id, reason, &game, self.config.delay_after_decline, now);
        self.is_dirty = true;
    }

    pub(crate) fn accepted(&mut self, id: ChallengeId, now: Duration) {
        if let OpenChallenge::Created { id: open, opponent, .. } = &self.open
            && *open == id
        {
            self.history.accepted(opponent);
            self.is_dirty = true;
        }
        self.gone(id, now);
    }

    /// Returns whether this is the game of a challenge of the matchmaker, which are all to bots. It may begin before
    /// the challenge's id is known.
    pub(crate) fn has_proposed(&self, id: ChallengeId, opponent: Option<&UserId>) -> bool {
        match &self.open {
            _ if self.proposer == Proposer::Owner => false,
            OpenChallenge::None => false,
            OpenChallenge::Sent { opponent: asked, .. } => opponent == Some(asked),
            OpenChallenge::Created { id: open, .. } => *open == id,
        }
    }

    /// Returns whether this challenge of ours waits for an answer.
    pub(crate) fn is_open(&self, id: ChallengeId) -> bool {
        matches!(self.open, OpenChallenge::Created { id: open, .. } if open == id)
    }

    /// A challenge of ours does not exist any more.
    pub(crate) fn gone(&mut self, id: ChallengeId, now: Duration) {
        if self.is_open(id) {
            self.close(now);
        }
    }

    /// Returns the history if it has changed since the last call.
    pub(crate) fn take_unsaved(&mut self) -> Option<DeclineHistory> {
        mem::take(&mut self.is_dirty).then(|| self.history.clone())
    }

    fn close(&mut self, now: Duration) {
        self.open = OpenChallenge::None;
        self.delay(self.config.challenge_timeout, now);
    }

    fn delay(&mut self, wait: Duration, now: Duration) {
        self.not_before = self.not_before.max(now + wait);
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_wire::{
        Message,
        lichess::{NewChallenge, RateLimit, VariantKey},
    };

    use super::{
        super::{super::challenges::players, proposal::tests::user},
        *,
    };

    const NOW: Duration = Duration::from_secs(1_800_000_000);
    const DAY: Duration = Duration::from_secs(86_400);
    const MINUTE: Duration = Duration::from_secs(60);

    fn matchmaker(config: &str) -> Matchmaker {
        Matchmaker::new(toml::from_str(config).unwrap(), DeclineHistory::default(), 7, NOW)
    }

    fn anybody() -> PlayerLists {
        PlayerLists::new(players::Config::default())
    }

    fn id(text: &str) -> ChallengeId {
        text.parse().unwrap()
    }

    fn propose(matchmaker: &mut Matchmaker, online: &[User], now: Duration) -> Option<Proposal> {
        assert_eq!(matchmaker.step(0, true, now), Step::LookUp);
        matchmaker.choose(&user("me", 1500), online, &anybody(), true, now)
    }

    fn declined(proposal: &Proposal, reason: &str) -> Challenge {
        let line = format!(
            r#"{{"id":"abcdefgh","challenger":null,"destUser":{{"id":"{}"}},"declineReasonKey":"{reason}",
                "timeControl":{{"type":"unlimited"}}}}"#,
            proposal.opponent
        );
        let NewChallenge { time, variant, rated, .. } = proposal.challenge.clone();
        let challenge: Challenge = Message::parse(&line).unwrap();
        Challenge { time_control: time, variant: variant.into(), rated, ..challenge }
    }

    #[test]
    fn challenges_are_sent_only_after_an_idle_time() {
        let mut idle = matchmaker("challenge_timeout = '10m'");
        assert_eq!(idle.step(0, true, NOW), Step::Wait { until: NOW + 10 * MINUTE });
        assert_eq!(idle.step(1, true, NOW + 9 * MINUTE), Step::Wait { until: NOW + 19 * MINUTE });
        assert_eq!(idle.step(0, true, NOW + 10 * MINUTE), Step::Wait { until: NOW + 19 * MINUTE });
        assert_eq!(idle.step(0, true, NOW + 19 * MINUTE), Step::LookUp);
        // Nobody else is online.
        assert_eq!(propose(&mut idle, &[user("me", 1500)], NOW + 19 * MINUTE), None);
        assert_eq!(idle.step(0, true, NOW + 20 * MINUTE), Step::Wait { until: NOW + 29 * MINUTE });
    }

    #[test]
    fn a_challenge_without_an_answer_or_without_a_slot_is_cancelled() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker("challenge_timeout = '0s'\ncancel_after = '30s'");
        for (room, seconds) in [(true, 30), (false, 1)] {
            propose(&mut idle, &bots, NOW).unwrap();
            idle.created(id("abcdefgh"), NOW);
            assert_eq!(idle.step(0, true, NOW), Step::Wait { until: NOW + MINUTE / 2 });
            let later = NOW + Duration::from_secs(seconds);
            assert_eq!(idle.step(0, room, later), Step::Cancel(id("abcdefgh")));
            assert!(matches!(idle.step(0, false, later), Step::Wait { .. }), "it is cancelled once");
            idle.not_before = NOW;
        }
        // The server never answered.
        propose(&mut idle, &bots, NOW).unwrap();
        assert_eq!(idle.step(0, true, NOW + MINUTE), Step::LookUp);
    }

    #[test]
    fn opponents_are_of_our_strength_and_have_not_declined() {
        let bots = [user("me", 1500), user("weak", 1100), user("strong", 1900), user("bob", 1600)];
        let mut idle = matchmaker(
            "challenge_timeout = '0s'\nopponent_rating_difference = 200\ndelay_after_decline = '1h'",
        );
        let proposal = propose(&mut idle, &bots, NOW).unwrap();
        assert_eq!(proposal.opponent.as_str(), "bob");
        assert!(proposal.challenge.rated);
        assert_eq!(proposal.challenge.time.to_string(), "3+2");
        idle.created(id("abcdefgh"), NOW);
        idle.declined(&declined(&proposal, "later"), NOW);
        assert!(idle.take_unsaved().is_some() && idle.take_unsaved().is_none());
        assert_eq!(propose(&mut idle, &bots, NOW + 59 * MINUTE), None);
        let proposal = propose(&mut idle, &bots, NOW + 60 * MINUTE).unwrap();
        idle.created(id("abcdefgh"), NOW + 60 * MINUTE);
        idle.accepted(id("abcdefgh"), NOW + 60 * MINUTE);
        assert_eq!(proposal.opponent.as_str(), "bob");
        let never = PlayerLists::new(toml::from_str("block_list = ['bob']").unwrap());
        assert_eq!(idle.choose(&user("me", 1500), &bots, &never, true, NOW + 61 * MINUTE), None);
    }

    #[test]
    fn those_of_the_block_list_are_not_challenged() {
        let mut idle = matchmaker("challenge_timeout = '0s'\nblock_list = ['Eve']");
        assert_eq!(propose(&mut idle, &[user("eve", 1500)], NOW), None);
        assert!(propose(&mut idle, &[user("eve", 1500), user("bob", 1500)], NOW).is_some());
    }

    #[test]
    fn after_a_decline_another_kind_of_game_is_proposed() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker(
            "challenge_timeout = '0s'\nvariants = { standard = 1, chess960 = 1 }\nmodes = ['rated', 'casual']",
        );
        let mut seen = Vec::new();
        for _ in 0..2 {
            let proposal = propose(&mut idle, &bots, NOW).unwrap();
            idle.created(id("abcdefgh"), NOW);
            idle.declined(&declined(&proposal, "variant"), NOW);
            seen.push(proposal.challenge.variant);
        }
        seen.sort();
        assert_eq!(seen, [VariantKey::Standard, VariantKey::Chess960]);
        assert_eq!(propose(&mut idle, &bots, NOW), None);
    }

    #[test]
    fn the_servers_limits_are_kept() {
        let bots = [user("bob", 1500), user("eve", 1500)];
        let mut idle = matchmaker("challenge_timeout = '0s'");
        let limit = RateLimit { key: RateLimit::BOT_VS_BOT.into(), wait: 120 * MINUTE };
        let theirs = HttpError::Refused { status: 400, what: "x".into(), limit: Some(limit.clone()) };
        let ours = HttpError::Limited { what: limit.key, wait: limit.wait, is_told: true };
        let first = propose(&mut idle, &bots, NOW).unwrap();
        idle.refused(&theirs, NOW);
        let second = propose(&mut idle, &bots, NOW).unwrap();
        assert_ne!(first.opponent, second.opponent);
        idle.refused(&ours, NOW);
        assert_eq!(idle.step(0, true, NOW + 119 * MINUTE), Step::Wait { until: NOW + 120 * MINUTE });
        assert!(propose(&mut idle, &bots, NOW + 120 * MINUTE).is_some());
        let slowly = HttpError::Limited { what: "<html>".into(), wait: MINUTE, is_told: false };
        idle.refused(&slowly, NOW + 120 * MINUTE);
        assert_eq!(idle.step(0, true, NOW + 120 * MINUTE), Step::Wait { until: NOW + 121 * MINUTE });
    }

    #[test]
    fn the_owner_may_challenge_at_once_within_the_limits() {
        let bob: UserId = "bob".parse().unwrap();
        let mut idle = matchmaker("max_challenges_per_day = 2").by_order_only();
        assert_eq!(idle.step(0, true, NOW + DAY), Step::Wait { until: Duration::MAX });
        assert_eq!(idle.order(&bob, NOW), Ok(()));
        assert_eq!(idle.order(&bob, NOW), Err(NotNow::Open(bob.clone())));
        idle.created(id("abcdefgh"), NOW);
        // People need longer than bots, and the game may be against a person.
        assert_eq!(idle.step(0, true, NOW + MINUTE), Step::Wait { until: NOW + ORDERED_LIFE });
        assert!(!idle.has_proposed(id("abcdefgh"), Some(&bob)));
        assert_eq!(idle.withdraw_from(&"eve".parse().unwrap(), NOW), None);
        assert_eq!(idle.withdraw_from(&bob, NOW), Some(id("abcdefgh")));
        assert_eq!(idle.order(&bob, NOW), Ok(()));
        idle.refused(&HttpError::Limited { what: "x".into(), wait: MINUTE, is_told: true }, NOW);
        let error = idle.order(&bob, NOW).unwrap_err().to_string();
        assert_eq!(error, "the server limits our challenges: the next one in 1m 1s");
        let error = idle.order(&bob, NOW + MINUTE).unwrap_err().to_string();
        assert!(error.starts_with("2 challenges a day are sent at most"), "{error}");
    }

    #[test]
    fn challenges_a_day_are_limited() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker("challenge_timeout = '0s'\nmax_challenges_per_day = 3");
        for minutes in 0..3 {
            propose(&mut idle, &bots, NOW + minutes * MINUTE).unwrap();
            idle.refused(&HttpError::NotFound, NOW + minutes * MINUTE);
        }
        assert_eq!(idle.step(0, true, NOW + 5 * MINUTE), Step::Wait { until: NOW + DAY });
        // Also after a restart.
        let kept = serde_json::to_string(&idle.take_unsaved().unwrap()).unwrap();
        let config = toml::from_str("challenge_timeout = '0s'\nmax_challenges_per_day = 3").unwrap();
        let kept = serde_json::from_str(&kept).unwrap();
        let mut idle = Matchmaker::new(config, kept, 7, NOW + 6 * MINUTE);
        assert_eq!(idle.step(0, true, NOW + 6 * MINUTE), Step::Wait { until: NOW + DAY });
        assert!(propose(&mut idle, &bots, NOW + DAY).is_some());
        let mut never = matchmaker("challenge_timeout = '0s'\nmax_challenges_per_day = 0");
        assert!(matches!(never.step(0, true, NOW), Step::Wait { .. }));
    }
}
