//! Whom to challenge when nobody challenges us: a state machine that is told the time and sends nothing.
//!
//! [`Matchmaker::step`] says what is to be done now; what became of it is told back. Times are counted from
//! 1970, as some of them outlive the program.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_rules as game;
use zeitnot_wire::lichess::{
    Challenge, ChallengeId, DeclineReason, NewChallenge, PerfKey, Speed, TimeControl, User, UserId,
    VariantKey,
};

use super::{
    grudges::{Grudges, Kind},
    http::HttpError,
    people::People,
    terms::{Mode, played},
};

/// Before it is asked again who is there, at least.
const AGAIN: Duration = Duration::from_secs(5);
/// No limit of the server's is for longer than a week.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 86_400);

/// The `matchmaking` table; without it nobody is challenged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// After so long without a game; between two challenges as well.
    #[serde(with = "humantime_serde")]
    pub after: Duration,
    /// Clocks, each with a weight: `{ "180+2" = 3, "60+1" = 1 }`.
    #[serde(deserialize_with = "times")]
    pub times: Vec<(game::TimeControl, u32)>,
    /// Variants, each with a weight: `{ standard = 3, chess960 = 1 }`.
    #[serde(deserialize_with = "variants")]
    pub variants: Vec<(VariantKey, u32)>,
    /// About ratings or not; of both, by chance.
    pub modes: Vec<Mode>,
    /// The opponent's rating differs from ours by no more than this.
    pub rating_difference: Option<u32>,
    /// The opponent's rating, at least and at most.
    pub lowest_rating: Option<i32>,
    #[allow(missing_docs)]
    pub highest_rating: Option<i32>,
    /// A challenge that nobody has answered by then is taken back.
    #[serde(with = "humantime_serde")]
    pub patience: Duration,
    /// Who has declined is left alone for this long; next time for twice as long, and so on.
    #[serde(with = "humantime_serde")]
    pub pause: Duration,
    /// Challenges a day, at most; those of earlier runs count where there is a `file`.
    pub per_day: usize,
    /// Who has declined what is kept here between runs, and when the challenges of the last day were sent.
    pub file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        let blitz =
            game::TimeControl { initial: Duration::from_secs(180), increment: Duration::from_secs(2) };
        Config {
            after: Duration::from_secs(600),
            times: vec![(blitz, 1)],
            variants: vec![(VariantKey::Standard, 1)],
            modes: vec![Mode::Rated],
            rating_difference: Some(300),
            lowest_rating: None,
            highest_rating: None,
            patience: Duration::from_secs(30),
            pause: Duration::from_secs(3600),
            per_day: 100,
            file: None,
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.times.iter().map(|(time, _)| TimeControl::Clock(*time).to_string());
        let variants = self.variants.iter().map(|(variant, _)| variant.to_string());
        let modes = self.modes.iter().map(|mode| mode.word().to_owned());
        let [times, variants, modes] =
            [times.collect::<Vec<_>>(), variants.collect(), modes.collect()].map(|words| words.join(", "));
        write!(f, "after {}: {times}; {variants}; {modes}", humantime::format_duration(self.after))
    }
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing before then; but ask again when a game begins or ends.
    Wait {
        /// The time.
        until: Duration,
    },
    /// Get the list of bots, and [choose](Matchmaker::choose).
    Look,
    /// Take the open challenge back.
    Cancel(ChallengeId),
}

/// A challenge to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// To whom.
    pub opponent: UserId,
    /// What.
    pub challenge: NewChallenge,
}

/// Why the server did not take a challenge.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// We have asked too often: wait for so long.
    TooMany(Duration),
    /// The opponent has played its games for today, or however long that is.
    OpponentRests(Duration),
    /// It did not come so far, or something else is wrong with it.
    Other,
}

impl Refusal {
    /// What an answer means. No wait is longer than the server's longest.
    pub fn of(error: &HttpError) -> Refusal {
        match (error.bots_rest(), error) {
            (Some((wait, false)), _) => Refusal::OpponentRests(wait.min(LONGEST_WAIT)),
            (_, HttpError::Limited { wait, .. }) => Refusal::TooMany((*wait).min(LONGEST_WAIT)),
            _ => Refusal::Other,
        }
    }
}

/// Finds opponents.
#[derive(Debug)]
pub struct Matchmaker {
    config: Config,
    random: fastrand::Rng,
    grudges: Grudges,
    /// Are the grudges others than those on the disk?
    is_dirty: bool,
    open: Open,
    /// No challenge before then.
    not_before: Duration,
}

/// Our challenge, of which there is one at a time.
#[derive(Clone, Debug)]
enum Open {
    None,
    /// On its way to the server.
    Sent {
        opponent: UserId,
        since: Duration,
    },
    /// Waits for an answer.
    Made {
        id: ChallengeId,
        opponent: UserId,
        since: Duration,
    },
}

impl Matchmaker {
    /// With what is known of opponents; idle from now on. The seed decides what chance decides.
    pub fn new(config: Config, grudges: Grudges, seed: u64, now: Duration) -> Matchmaker {
        Matchmaker {
            not_before: now + config.after,
            random: fastrand::Rng::with_seed(seed),
            is_dirty: false,
            open: Open::None,
            config,
            grudges,
        }
    }

    /// What is to be done now? `games` are running, and there may be `room` for another one or not.
    pub fn step(&mut self, games: usize, room: bool, now: Duration) -> Step {
        let busy = games > 0 || !room;
        if busy {
            self.not_before = self.not_before.max(now + self.config.after);
        }
        let patience = self.config.patience;
        match self.open.clone() {
            // A challenge that is accepted now would be one game too many.
            Open::Made { id, since, .. } if !room || now >= since + patience => {
                self.close(now);
                Step::Cancel(id)
            }
            // An answer that never comes is none.
            Open::Sent { since, .. } if now >= since + patience => {
                self.close(now);
                self.step(games, room, now)
            }
            Open::Made { since, .. } | Open::Sent { since, .. } => Step::Wait { until: since + patience },
            Open::None => {
                let due = self.due(now);
                if busy || now < due { Step::Wait { until: due } } else { Step::Look }
            }
        }
    }

    /// When the next challenge may be sent.
    fn due(&mut self, now: Duration) -> Duration {
        self.not_before.max(self.grudges.free(self.config.per_day, now))
    }

    /// Whom to challenge, and to what. The caller sends it, and tells what became of it.
    pub fn choose(&mut self, me: &User, online: &[User], people: &People, now: Duration) -> Option<Proposal> {
        let mut kinds = self.kinds();
        while let Some((time, kind)) = self.draw(&mut kinds) {
            let suits = |user: &&User| {
                user.id != me.id
                    && !user.disabled
                    && !user.tos_violation
                    && people.welcomes(&user.id)
                    && self.config.suits(me, user, &perf(&kind))
                    && self.grudges.allow(&user.id, &kind, now)
            };
            let candidates: Vec<_> = online.iter().filter(suits).collect();
            let Some(opponent) = self.random.choice(candidates) else { continue };
            let challenge = NewChallenge {
                rated: kind.mode == Mode::Rated,
                variant: kind.variant,
                ..NewChallenge::new(TimeControl::Clock(time))
            };
            self.grudges.asked(now);
            self.is_dirty = true;
            self.open = Open::Sent { opponent: opponent.id.clone(), since: now };
            return Some(Proposal { opponent: opponent.id.clone(), challenge });
        }
        self.not_before = now + self.config.after;
        None
    }

    /// Nobody could be asked who is there.
    pub fn nobody(&mut self, now: Duration) {
        self.not_before = self.not_before.max(now + self.config.after.max(AGAIN));
    }

    /// No games against bots before then, whoever asks.
    pub fn rests(&mut self, wait: Duration, now: Duration) {
        self.not_before = self.not_before.max(now + wait.min(LONGEST_WAIT));
    }

    /// The server has taken our challenge.
    pub fn made(&mut self, id: ChallengeId, now: Duration) {
        if let Open::Sent { opponent, .. } = &self.open {
            self.open = Open::Made { id, opponent: opponent.clone(), since: now };
        }
    }

    /// The server has not taken our challenge.
    pub fn refused(&mut self, refusal: Refusal, now: Duration) {
        let Open::Sent { opponent, .. } = self.open.clone() else { return };
        self.close(now);
        match refusal {
            Refusal::TooMany(wait) => self.not_before = self.not_before.max(now + wait),
            Refusal::OpponentRests(wait) => {
                // It is not the opponent that was unwilling: the next one may be asked soon.
                self.grudges.rests(&opponent, now + wait, now);
                self.is_dirty = true;
            }
            Refusal::Other => {}
        }
    }

    /// A challenge of ours was declined, also one of an earlier run.
    pub fn declined(&mut self, challenge: &Challenge, now: Duration) {
        self.gone(challenge.id, now);
        let Some(opponent) = &challenge.dest_user else { return };
        let kind = Kind {
            speed: challenge.time_control.speed(),
            variant: challenge.variant.key.clone(),
            mode: challenge.rated.into(),
        };
        let reason = challenge.decline_reason_key.as_ref().unwrap_or(&DeclineReason::Generic);
        self.grudges.declined(&opponent.id, reason, &kind, self.config.pause, now);
        self.is_dirty = true;
    }

    /// A challenge of ours became a game.
    pub fn accepted(&mut self, id: ChallengeId, now: Duration) {
        if let Open::Made { id: open, opponent, .. } = self.open.clone()
            && open == id
        {
            self.grudges.forgive(&opponent);
            self.is_dirty = true;
        }
        self.gone(id, now);
    }

    /// Is this the game of our challenge? The server's answer to that may come later than the game.
    pub fn has_asked(&self, id: ChallengeId, whom: Option<&UserId>) -> bool {
        match &self.open {
            Open::None => false,
            Open::Sent { opponent, .. } => whom == Some(opponent),
            Open::Made { id: open, .. } => *open == id,
        }
    }

    /// A challenge of ours is no more.
    pub fn gone(&mut self, id: ChallengeId, now: Duration) {
        if matches!(self.open, Open::Made { id: open, .. } if open == id) {
            self.close(now);
        }
    }

    /// What is to be written to [`Config::file`], if it has changed since it was asked for last.
    pub fn unsaved(&mut self) -> Option<Grudges> {
        std::mem::take(&mut self.is_dirty).then(|| self.grudges.clone())
    }

    fn close(&mut self, now: Duration) {
        self.open = Open::None;
        self.not_before = self.not_before.max(now + self.config.after);
    }

    /// All kinds of games that we may propose, with their weights.
    fn kinds(&self) -> Vec<(u32, (game::TimeControl, Kind))> {
        let Config { times, variants, modes, .. } = &self.config;
        let mut kinds = Vec::new();
        for (time, of_time) in times {
            for (variant, of_variant) in variants {
                let weight = of_time.saturating_mul(*of_variant);
                let kind =
                    |mode: &Mode| Kind { speed: Speed::of(*time), variant: variant.clone(), mode: *mode };
                kinds.extend(modes.iter().map(|mode| (weight, (*time, kind(mode)))));
            }
        }
        kinds.retain(|(weight, _)| *weight > 0);
        kinds
    }

    /// Takes one out, by weight.
    fn draw<T>(&mut self, from: &mut Vec<(u32, T)>) -> Option<T> {
        let all: u64 = from.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = if all == 0 { return None } else { self.random.u64(..all) };
        let at = from.iter().position(|(weight, _)| {
            let is_it = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            is_it
        })?;
        Some(from.swap_remove(at).1)
    }
}

impl Config {
    /// Is the opponent's rating one that we look for?
    fn suits(&self, me: &User, opponent: &User, perf: &PerfKey) -> bool {
        let Some(rating) = opponent.rating(perf) else {
            return self.lowest_rating.is_none() && self.highest_rating.is_none();
        };
        let differs = me.rating(perf).map_or(0, |ours| ours.abs_diff(rating));
        self.rating_difference.is_none_or(|most| differs <= most)
            && self.lowest_rating.is_none_or(|lowest| rating >= lowest)
            && self.highest_rating.is_none_or(|highest| rating <= highest)
    }
}

/// Which rating such a game is about.
fn perf(kind: &Kind) -> PerfKey {
    match &kind.variant {
        VariantKey::Standard | VariantKey::FromPosition => kind.speed.as_str().into(),
        variant => variant.as_str().into(),
    }
}

fn times<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<(game::TimeControl, u32)>, D::Error> {
    let time = |(text, weight): (String, u32)| {
        let time: game::TimeControl = text.parse().map_err(D::Error::custom)?;
        if offered(time) {
            return Ok((time, weight));
        }
        Err(D::Error::custom(format!(
            "{text} is no clock that Lichess has for bots: 15, 30, 45, 60, 90 or whole minutes up to three hours, \
             with an increment of at most 60 seconds, and no UltraBullet"
        )))
    };
    BTreeMap::<String, u32>::deserialize(table)?.into_iter().map(time).collect()
}

/// Does the server have such clocks, for bots?
pub fn offered(time: game::TimeControl) -> bool {
    let (initial, increment) = (time.initial.as_secs(), time.increment.as_secs());
    let whole = time.initial.subsec_nanos() == 0 && time.increment.subsec_nanos() == 0;
    let known = matches!(initial, 15 | 30 | 45 | 90) || (initial % 60 == 0 && initial <= 10_800);
    whole && known && increment <= 60 && Speed::of(time) != Speed::UltraBullet
}

fn variants<'de, D: Deserializer<'de>>(table: D) -> Result<Vec<(VariantKey, u32)>, D::Error> {
    let list: Vec<_> = BTreeMap::<String, u32>::deserialize(table)?
        .into_iter()
        .map(|(k, w)| (VariantKey::from(k), w))
        .collect();
    // A position to begin from is none that we have.
    let unknown = |key: &VariantKey| !played().contains(key) || *key == VariantKey::FromPosition;
    match list.iter().find(|(key, _)| unknown(key)) {
        Some((key, _)) => Err(D::Error::custom(format!("'{key}' is no variant that we propose"))),
        None => Ok(list),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::people, *};
    use zeitnot_wire::{Message, lichess::RateLimit};

    const NOW: Duration = Duration::from_secs(1_800_000_000);
    const DAY: Duration = Duration::from_secs(86_400);
    const MINUTE: Duration = Duration::from_secs(60);

    fn user(name: &str, blitz: i32) -> User {
        let perfs = format!(r#"{{"blitz":{{"rating":{blitz}}},"chess960":{{"rating":{}}}}}"#, blitz + 100);
        Message::parse(&format!(r#"{{"id":"{name}","title":"BOT","perfs":{perfs}}}"#)).unwrap()
    }

    fn matchmaker(config: &str) -> Matchmaker {
        Matchmaker::new(toml::from_str(config).unwrap(), Grudges::default(), 7, NOW)
    }

    fn anybody() -> People {
        People::new(people::Config::default())
    }

    fn id(text: &str) -> ChallengeId {
        text.parse().unwrap()
    }

    /// One step that looks, and a challenge to whoever is there.
    fn propose(matchmaker: &mut Matchmaker, online: &[User], now: Duration) -> Option<Proposal> {
        assert_eq!(matchmaker.step(0, true, now), Step::Look);
        matchmaker.choose(&user("me", 1500), online, &anybody(), now)
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
    fn only_when_nothing_has_happened_for_a_while() {
        let mut idle = matchmaker("after = '10m'");
        assert_eq!(idle.step(0, true, NOW), Step::Wait { until: NOW + 10 * MINUTE });
        assert_eq!(idle.step(1, true, NOW + 9 * MINUTE), Step::Wait { until: NOW + 19 * MINUTE });
        assert_eq!(idle.step(0, true, NOW + 10 * MINUTE), Step::Wait { until: NOW + 19 * MINUTE });
        assert_eq!(idle.step(0, true, NOW + 19 * MINUTE), Step::Look);
        // Nobody is there.
        assert_eq!(propose(&mut idle, &[user("me", 1500)], NOW + 19 * MINUTE), None);
        assert_eq!(idle.step(0, true, NOW + 20 * MINUTE), Step::Wait { until: NOW + 29 * MINUTE });
    }

    #[test]
    fn a_challenge_that_nobody_answers_or_for_which_there_is_no_room_is_taken_back() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker("after = '0s'\npatience = '30s'");
        for (room, seconds) in [(true, 30), (false, 1)] {
            propose(&mut idle, &bots, NOW).unwrap();
            idle.made(id("abcdefgh"), NOW);
            assert_eq!(idle.step(0, true, NOW), Step::Wait { until: NOW + MINUTE / 2 });
            let later = NOW + Duration::from_secs(seconds);
            assert_eq!(idle.step(0, room, later), Step::Cancel(id("abcdefgh")));
            assert!(matches!(idle.step(0, false, later), Step::Wait { .. }), "it is taken back once");
            idle.not_before = NOW;
        }
        // The server never said that it has it.
        propose(&mut idle, &bots, NOW).unwrap();
        assert_eq!(idle.step(0, true, NOW + MINUTE), Step::Look);
    }

    #[test]
    fn opponents_are_of_our_strength_and_not_unwilling() {
        let bots = [user("me", 1500), user("weak", 1100), user("strong", 1900), user("bob", 1600)];
        let mut idle = matchmaker("after = '0s'\nrating_difference = 200\npause = '1h'");
        let proposal = propose(&mut idle, &bots, NOW).unwrap();
        assert_eq!(proposal.opponent.as_str(), "bob");
        assert!(proposal.challenge.rated);
        assert_eq!(proposal.challenge.time.to_string(), "3+2");
        idle.made(id("abcdefgh"), NOW);
        idle.declined(&declined(&proposal, "later"), NOW);
        assert!(idle.unsaved().is_some() && idle.unsaved().is_none());
        assert_eq!(propose(&mut idle, &bots, NOW + 59 * MINUTE), None);
        let proposal = propose(&mut idle, &bots, NOW + 60 * MINUTE).unwrap();
        idle.made(id("abcdefgh"), NOW + 60 * MINUTE);
        idle.accepted(id("abcdefgh"), NOW + 60 * MINUTE);
        assert_eq!(proposal.opponent.as_str(), "bob");
        let never = People::new(toml::from_str("never = ['bob']").unwrap());
        assert_eq!(idle.choose(&user("me", 1500), &bots, &never, NOW + 61 * MINUTE), None);
    }

    #[test]
    fn who_does_not_like_it_so_is_asked_for_something_else() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker(
            "after = '0s'\nvariants = { standard = 1, chess960 = 1 }\nmodes = ['rated', 'casual']",
        );
        let mut seen = Vec::new();
        for _ in 0..2 {
            let proposal = propose(&mut idle, &bots, NOW).unwrap();
            idle.made(id("abcdefgh"), NOW);
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
        let mut idle = matchmaker("after = '0s'");
        let limit = RateLimit { key: RateLimit::BOT_VS_BOT.into(), wait: 120 * MINUTE };
        let theirs = HttpError::Refused { status: 400, what: "x".into(), limit: Some(limit.clone()) };
        let ours = HttpError::Limited { what: limit.key, wait: limit.wait };
        assert_eq!(Refusal::of(&HttpError::NotFound), Refusal::Other);
        let first = propose(&mut idle, &bots, NOW).unwrap();
        idle.refused(Refusal::of(&theirs), NOW);
        let second = propose(&mut idle, &bots, NOW).unwrap();
        assert_ne!(first.opponent, second.opponent);
        idle.refused(Refusal::of(&ours), NOW);
        assert_eq!(idle.step(0, true, NOW + 119 * MINUTE), Step::Wait { until: NOW + 120 * MINUTE });
        assert!(propose(&mut idle, &bots, NOW + 120 * MINUTE).is_some());
        let slowly = HttpError::Limited { what: "<html>".into(), wait: MINUTE };
        idle.refused(Refusal::of(&slowly), NOW + 120 * MINUTE);
        assert_eq!(idle.step(0, true, NOW + 120 * MINUTE), Step::Wait { until: NOW + 121 * MINUTE });
    }

    #[test]
    fn no_more_than_so_many_a_day() {
        let bots = [user("bob", 1500)];
        let mut idle = matchmaker("after = '0s'\nper_day = 3");
        for minutes in 0..3 {
            propose(&mut idle, &bots, NOW + minutes * MINUTE).unwrap();
            idle.refused(Refusal::Other, NOW + minutes * MINUTE);
        }
        assert_eq!(idle.step(0, true, NOW + 5 * MINUTE), Step::Wait { until: NOW + DAY });
        // Nor if we start again.
        let kept = serde_json::to_string(&idle.unsaved().unwrap()).unwrap();
        let config = toml::from_str("after = '0s'\nper_day = 3").unwrap();
        let kept = serde_json::from_str(&kept).unwrap();
        let mut idle = Matchmaker::new(config, kept, 7, NOW + 6 * MINUTE);
        assert_eq!(idle.step(0, true, NOW + 6 * MINUTE), Step::Wait { until: NOW + DAY });
        assert!(propose(&mut idle, &bots, NOW + DAY).is_some());
        let mut never = matchmaker("after = '0s'\nper_day = 0");
        assert!(matches!(never.step(0, true, NOW), Step::Wait { .. }));
    }

    #[test]
    fn chance_goes_by_weight() {
        let mut idle = matchmaker("times = { '180+2' = 9, '60+1' = 1, '300' = 0 }");
        let mut fast = 0;
        for _ in 0..1000 {
            let mut kinds = idle.kinds();
            assert_eq!(kinds.len(), 2);
            let (time, _) = idle.draw(&mut kinds).unwrap();
            fast += usize::from(time.initial == MINUTE);
        }
        assert!((50..150).contains(&fast), "{fast}");
    }

    #[test]
    fn what_the_server_would_refuse_is_no_configuration() {
        for (wrong, told) in [
            ("times = { '100+2' = 1 }", "no clock that Lichess has"),
            ("times = { '15' = 1 }", "no UltraBullet"),
            ("times = { '180+0.5' = 1 }", "no clock"),
            ("times = { 'x' = 1 }", "no time control"),
            ("variants = { chaturanga = 1 }", "no variant that we propose"),
            ("modes = ['both']", "unknown variant"),
        ] {
            let error = toml::from_str::<Config>(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
