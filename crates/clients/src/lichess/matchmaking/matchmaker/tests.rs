//! Challenges of the matchmaker: when, to whom, and within which limits.

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
    let mut idle =
        matchmaker("challenge_timeout = '0s'\nopponent_rating_difference = 200\ndelay_after_decline = '1h'");
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
