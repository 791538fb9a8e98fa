//! Challenges of the matchmaker: when, to whom, and within which limits.

use zeitnot_seat::Seats;
use zeitnot_wire::{
    Message,
    lichess::{Challenge, ChallengeEnd, Event, NewChallenge, RateLimit, TimeControl, User, VariantKey},
};

use super::{
    super::{
        not_now::NotNow,
        proposal::{Proposal, tests::user},
    },
    *,
};
use crate::lichess::{
    BotLimit, HttpError,
    challenges::{capacity::Capacity, players},
};

/// Since 1970.
const TIME: Duration = Duration::from_secs(1_800_000_000);
const DAY: Duration = Duration::from_secs(86_400);
const MINUTE: Duration = Duration::from_secs(60);

/// Returns the challenges of an account, and when they begin.
fn outgoing(config: &str) -> (OutgoingChallenges, Instant) {
    let now = Instant::now();
    (with_history(config, DeclineHistory::default(), now, TIME), now)
}

fn with_history(config: &str, kept: DeclineHistory, now: Instant, time: Duration) -> OutgoingChallenges {
    let config = toml::from_str(config).unwrap();
    let players = PlayerLists::new(players::Config::default());
    let random = fastrand::Rng::with_seed(7);
    OutgoingChallenges::new(Some(&config), Some(kept), players, "server".into(), (now, time), random)
}

fn id(text: &str) -> ChallengeId {
    text.parse().unwrap()
}

fn load(games: usize, has_room: bool) -> Load {
    let running = RunningGames { bots: games, ..RunningGames::default() };
    Load { running, has_room, has_correspondence_room: true }
}

/// Performs the steps that are due while `games` run. Returns the requests, and the time of the next step.
fn update(
    idle: &mut OutgoingChallenges,
    games: usize,
    has_room: bool,
    now: Instant,
) -> (Vec<Request>, Instant) {
    let mut effects = Vec::new();
    idle.update(load(games, has_room), now, &mut effects);
    (requests(effects), idle.look_at)
}

/// Returns the requests, but none that writes the history.
fn requests(effects: Vec<Effect>) -> Vec<Request> {
    let request = |effect| match effect {
        Effect::Send(Request::Save(_)) => None,
        Effect::Send(request) => Some(request),
        _ => None,
    };
    effects.into_iter().filter_map(request).collect()
}

/// Waits with nothing to do. Returns when to look again.
fn idle_until(idle: &mut OutgoingChallenges, games: usize, now: Instant) -> Instant {
    let (requests, next) = update(idle, games, true, now);
    assert!(requests.is_empty(), "{requests:?}");
    next
}

fn propose(idle: &mut OutgoingChallenges, online: &[User], now: Instant) -> Option<Proposal> {
    let (looked_up, _) = update(idle, 0, true, now);
    assert!(matches!(looked_up[..], [Request::Opponents]), "{looked_up:?}");
    let listed = Ok((Box::new(user("me", 1500)), online.to_vec()));
    let mut effects = Vec::new();
    idle.looked_up(listed, load(0, true), &mut Capacity::new(Seats::new(9)), now, &mut effects);
    requests(effects).into_iter().find_map(|request| match request {
        Request::Challenge(opponent, challenge) => Some(Proposal { opponent, challenge: *challenge }),
        _ => None,
    })
}

/// Tells the reply to the proposal.
fn replied(idle: &mut OutgoingChallenges, reply: Result<&str, HttpError>, now: Instant) -> Option<BotLimit> {
    idle.created(reply.map(id), now, &mut Vec::new())
}

fn order(idle: &mut OutgoingChallenges, to: &UserId, now: Instant) -> Result<(), NotNow> {
    let challenge = NewChallenge::new(TimeControl::Unlimited);
    idle.order(to.clone(), challenge, 1, now, &mut Vec::new())
}

fn declined(idle: &mut OutgoingChallenges, proposal: &Proposal, reason: &str, now: Instant) {
    let line = format!(
        r#"{{"id":"abcdefgh","challenger":null,"destUser":{{"id":"{}"}},"declineReasonKey":"{reason}",
            "timeControl":{{"type":"unlimited"}}}}"#,
        proposal.opponent
    );
    let NewChallenge { time, variant, rated, .. } = proposal.challenge.clone();
    let challenge: Challenge = Message::parse(&line).unwrap();
    let challenge = Challenge { time_control: time, variant: variant.into(), rated, ..challenge };
    idle.declined(&challenge, now, &mut Vec::new());
}

/// Returns the history if it is to be written.
fn unsaved(idle: &mut OutgoingChallenges) -> Option<DeclineHistory> {
    let mut effects = Vec::new();
    idle.saved(Ok(()));
    idle.save(&mut effects);
    effects.into_iter().find_map(|effect| match effect {
        Effect::Send(Request::Save(history)) => Some(history),
        _ => None,
    })
}

#[test]
fn challenges_are_sent_only_after_an_idle_time() {
    let (mut idle, now) = outgoing("challenge_timeout = '10m'");
    assert_eq!(idle_until(&mut idle, 0, now), now + 10 * MINUTE);
    assert_eq!(idle_until(&mut idle, 1, now + 9 * MINUTE), now + 19 * MINUTE);
    assert_eq!(idle_until(&mut idle, 0, now + 10 * MINUTE), now + 19 * MINUTE);
    // Nobody else is online.
    assert_eq!(propose(&mut idle, &[user("me", 1500)], now + 19 * MINUTE), None);
    assert_eq!(idle_until(&mut idle, 0, now + 20 * MINUTE), now + 29 * MINUTE);
}

#[test]
fn with_allow_during_games_a_free_slot_is_enough() {
    let (mut idle, now) = outgoing("challenge_timeout = '10m'\nallow_during_games = true");
    assert_eq!(idle_until(&mut idle, 1, now), now + 10 * MINUTE);
    // All slots are taken, and one is free again a minute later.
    let (none, _) = update(&mut idle, 2, false, now + 9 * MINUTE);
    assert!(none.is_empty(), "{none:?}");
    assert_eq!(idle_until(&mut idle, 1, now + 10 * MINUTE), now + 19 * MINUTE);
    let (looked_up, _) = update(&mut idle, 1, true, now + 19 * MINUTE);
    assert!(matches!(looked_up[..], [Request::Opponents]), "{looked_up:?}");
}

#[test]
fn a_challenge_without_an_answer_or_without_a_slot_is_cancelled() {
    let bots = [user("bob", 1500)];
    let (mut idle, now) = outgoing("challenge_timeout = '0s'\ncancel_after = '30s'");
    for (room, seconds) in [(true, 30), (false, 1)] {
        propose(&mut idle, &bots, now).unwrap();
        replied(&mut idle, Ok("abcdefgh"), now);
        assert_eq!(idle_until(&mut idle, 0, now), now + MINUTE / 2);
        let later = now + Duration::from_secs(seconds);
        assert_eq!(idle.expire(room, later, &mut Vec::new()), Some(id("abcdefgh")));
        let (requests, _) = update(&mut idle, 0, false, later);
        assert!(requests.is_empty(), "it is cancelled once: {requests:?}");
        idle.not_before = now;
    }
    // Without a reply it is given up, and the next one waits for that.
    propose(&mut idle, &bots, now).unwrap();
    assert_eq!(idle_until(&mut idle, 0, now + MINUTE), now + MINUTE + MAX_PERIOD);
    assert_eq!(order(&mut idle, &"bob".parse().unwrap(), now + MINUTE), Err(NotNow::NoReply));
    let mut effects = Vec::new();
    idle.created(Ok(id("abcdefgh")), now + MINUTE, &mut effects);
    assert!(matches!(requests(effects)[..], [Request::Cancel(_)]));
    assert!(matches!(update(&mut idle, 0, true, now + MINUTE).0[..], [Request::Opponents]));
}

#[test]
fn a_challenge_that_ends_while_opponents_are_looked_up_is_cancelled_all_the_same() {
    let bob: UserId = "bob".parse().unwrap();
    let (mut idle, now) = outgoing("challenge_timeout = '0s'\ncancel_after = '30s'");
    assert!(matches!(update(&mut idle, 0, true, now).0[..], [Request::Opponents]));
    order(&mut idle, &bob, now).unwrap();
    replied(&mut idle, Ok("abcdefgh"), now);
    let later = now + ORDERED_LIFE;
    let listed = Ok((Box::new(user("me", 1500)), vec![user("eve", 1500)]));
    let mut effects = Vec::new();
    idle.looked_up(listed, load(0, true), &mut Capacity::new(Seats::new(9)), later, &mut effects);
    assert!(effects.is_empty(), "{effects:?}");
    assert!(matches!(update(&mut idle, 0, true, later).0[..], [Request::Cancel(_), Request::Opponents]));
}

#[test]
fn opponents_are_of_our_strength_and_have_not_declined() {
    let bots = [user("me", 1500), user("weak", 1100), user("strong", 1900), user("bob", 1600)];
    let config = "challenge_timeout = '0s'\nopponent_rating_difference = 200\ndelay_after_decline = '1h'";
    let (mut idle, now) = outgoing(config);
    let proposal = propose(&mut idle, &bots, now).unwrap();
    let bob = proposal.opponent.clone();
    assert_eq!(bob.as_str(), "bob");
    assert!(proposal.challenge.rated);
    assert_eq!(proposal.challenge.time.to_string(), "3+2");
    replied(&mut idle, Ok("abcdefgh"), now);
    declined(&mut idle, &proposal, "later", now);
    assert!(unsaved(&mut idle).is_some() && unsaved(&mut idle).is_none());
    assert_eq!(propose(&mut idle, &bots, now + 59 * MINUTE), None);
    let proposal = propose(&mut idle, &bots, now + 60 * MINUTE).unwrap();
    replied(&mut idle, Ok("abcdefgh"), now + 60 * MINUTE);
    let accepted =
        idle.ended(id("abcdefgh"), Some(ChallengeEnd::Accepted), now + 60 * MINUTE, &mut Vec::new());
    assert_eq!(accepted, Some((bob.clone(), SlotKind::Bot)));
    assert_eq!(proposal.opponent, bob);
    idle.players.block(bob);
    assert_eq!(propose(&mut idle, &bots, now + 61 * MINUTE), None);
}

#[test]
fn those_of_the_block_list_are_not_challenged() {
    let (mut idle, now) = outgoing("challenge_timeout = '0s'\nblock_list = ['Eve']");
    assert_eq!(propose(&mut idle, &[user("eve", 1500)], now), None);
    assert!(propose(&mut idle, &[user("eve", 1500), user("bob", 1500)], now).is_some());
}

#[test]
fn after_a_decline_another_kind_of_game_is_proposed() {
    let bots = [user("bob", 1500)];
    let (mut idle, now) = outgoing(
        "challenge_timeout = '0s'\nvariants = { standard = 1, chess960 = 1 }\nmodes = ['rated', 'casual']",
    );
    let mut seen = Vec::new();
    for _ in 0..2 {
        let proposal = propose(&mut idle, &bots, now).unwrap();
        replied(&mut idle, Ok("abcdefgh"), now);
        declined(&mut idle, &proposal, "variant", now);
        seen.push(proposal.challenge.variant);
    }
    seen.sort();
    assert_eq!(seen, [VariantKey::Standard, VariantKey::Chess960]);
    assert_eq!(propose(&mut idle, &bots, now), None);
}

#[test]
fn the_servers_limits_are_kept() {
    let bots = [user("bob", 1500), user("eve", 1500)];
    let (mut idle, now) = outgoing("challenge_timeout = '0s'");
    let limit = RateLimit { key: RateLimit::BOT_VS_BOT.into(), wait: 120 * MINUTE };
    let theirs = HttpError::Refused { status: 400, what: "x".into(), limit: Some(limit.clone()) };
    let ours = HttpError::Limited { what: limit.key, wait: limit.wait, is_told: true };
    let first = propose(&mut idle, &bots, now).unwrap().opponent;
    assert_eq!(replied(&mut idle, Err(theirs), now), None);
    let second = propose(&mut idle, &bots, now).unwrap().opponent;
    assert_ne!(first, second);
    assert_eq!(replied(&mut idle, Err(ours), now), Some(BotLimit::Ours(120 * MINUTE)));
    assert_eq!(idle_until(&mut idle, 0, now + 119 * MINUTE), now + 120 * MINUTE);
    propose(&mut idle, &bots, now + 120 * MINUTE).unwrap();
    let slowly = HttpError::Limited { what: "<html>".into(), wait: MINUTE, is_told: false };
    assert_eq!(replied(&mut idle, Err(slowly), now + 120 * MINUTE), None);
    assert_eq!(idle_until(&mut idle, 0, now + 120 * MINUTE), now + 121 * MINUTE);
}

#[test]
fn the_owner_may_challenge_at_once_within_the_limits() {
    let bob: UserId = "bob".parse().unwrap();
    let (mut idle, now) = outgoing("max_challenges_per_day = 2");
    idle.is_automatic = false;
    assert_eq!(idle_until(&mut idle, 0, now + DAY), now + DAY + MAX_PERIOD);
    assert_eq!(order(&mut idle, &bob, now), Ok(()));
    assert_eq!(order(&mut idle, &bob, now), Err(NotNow::Open(bob.clone())));
    replied(&mut idle, Ok("abcdefgh"), now);
    // People need longer than bots, and the game may be against a person.
    assert_eq!(idle_until(&mut idle, 0, now + MINUTE), now + ORDERED_LIFE);
    let mut effects = Vec::new();
    idle.withdraw_from(&"eve".parse().unwrap(), now, &mut effects);
    assert!(effects.is_empty());
    idle.withdraw_from(&bob, now, &mut effects);
    assert!(matches!(requests(effects)[..], [Request::Cancel(of_bob)] if of_bob == id("abcdefgh")));
    assert_eq!(order(&mut idle, &bob, now), Ok(()));
    let limited = HttpError::Limited { what: "x".into(), wait: MINUTE, is_told: true };
    replied(&mut idle, Err(limited), now);
    let error = order(&mut idle, &bob, now).unwrap_err().to_string();
    assert_eq!(error, "the server limits our challenges: the next one in 1m 1s");
    let error = order(&mut idle, &bob, now + MINUTE).unwrap_err().to_string();
    assert!(error.starts_with("2 challenges a day are sent at most"), "{error}");
}

#[test]
fn a_game_of_a_challenge_without_an_order_is_against_a_bot() {
    let line = r#"{"type":"gameStart","game":{"gameId":"abcdefgh","color":"white",
        "opponent":{"id":"bob","username":"Bob"}}}"#;
    let Event::GameStart { game } = Event::parse(line).unwrap() else { panic!() };
    let bob: UserId = "bob".parse().unwrap();
    for (is_ordered, is_known) in [(false, false), (false, true), (true, false), (true, true)] {
        let (mut idle, now) = outgoing("challenge_timeout = '0s'");
        match is_ordered {
            true => order(&mut idle, &bob, now).unwrap(),
            false => drop(propose(&mut idle, &[user("bob", 1500)], now).unwrap()),
        }
        if is_known {
            replied(&mut idle, Ok("abcdefgh"), now);
        }
        assert_eq!(idle.game_started(&game, now, &mut Vec::new()), !is_ordered);
        assert_eq!(idle.is_open(), !is_known);
    }
}

#[test]
fn challenges_a_day_are_limited() {
    const CONFIG: &str = "challenge_timeout = '0s'\nmax_challenges_per_day = 3";
    let bots = [user("bob", 1500)];
    let (mut idle, now) = outgoing(CONFIG);
    for minutes in 0..3 {
        let at = now + minutes * MINUTE;
        propose(&mut idle, &bots, at).unwrap();
        replied(&mut idle, Err(HttpError::NotFound), at);
    }
    assert_eq!(idle_until(&mut idle, 0, now + 5 * MINUTE), now + DAY);
    // Also after a restart.
    let kept = serde_json::to_string(&idle.history).unwrap();
    let kept = serde_json::from_str(&kept).unwrap();
    let mut idle = with_history(CONFIG, kept, now + 6 * MINUTE, TIME + 6 * MINUTE);
    assert_eq!(idle_until(&mut idle, 0, now + 6 * MINUTE), now + DAY);
    assert!(propose(&mut idle, &bots, now + DAY).is_some());
    let (mut never, now) = outgoing("challenge_timeout = '0s'\nmax_challenges_per_day = 0");
    assert!(idle_until(&mut never, 0, now) > now);
}
