//! Examples of every message and form with all their fields, and random changes to them.

use std::fmt::Debug;

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Value, json};

use super::*;

/// Parses the text as some message or form, prints it, and compares it with what is parsed again. Returns the first
/// line printed, or `None` if the text cannot be parsed.
type RoundTrip = fn(&str) -> Result<Option<String>, TestCaseError>;

fn round_trip<M: Message + PartialEq + Debug>(text: &str) -> Result<Option<String>, TestCaseError> {
    let Ok(message) = M::parse(text) else { return Ok(None) };
    let line = message.to_line();
    prop_assert!(!line.contains('\n'), "{}", line);
    prop_assert_eq!(M::parse(&line), Ok(message));
    Ok(Some(line))
}

fn form_round_trip<F: Form + PartialEq + Debug>(text: &str) -> Result<Option<String>, TestCaseError> {
    let _ = F::from_form(text);
    let Ok(form) = F::from_json(text) else { return Ok(None) };
    let json = serde_json::to_string(&form).unwrap();
    let from_form = F::from_form(&form.to_form());
    prop_assert_eq!(from_form.as_ref(), Ok(&form));
    prop_assert_eq!(F::from_json(&json), Ok(form));
    Ok(Some(json))
}

fn message<M: Message + PartialEq + Debug>(example: Value) -> (RoundTrip, Value) {
    (round_trip::<M>, example)
}

fn form<F: Form + PartialEq + Debug>(example: Value) -> (RoundTrip, Value) {
    (form_round_trip::<F>, example)
}

/// All messages and forms.
pub(super) fn examples() -> Vec<(RoundTrip, Value)> {
    let user = json!({"id": "bot1", "name": "Bot1", "title": "BOT", "rating": 1500, "provisional": true, "online": true});
    let clock = json!({"type": "clock", "limit": 600, "increment": 5, "show": "10+5"});
    let challenge = json!({"id": "H9fIRZUk", "url": "http://127.0.0.1/H9fIRZUk", "status": "created",
        "challenger": user, "destUser": user, "variant": {"key": "chess960", "name": "Chess960", "short": "960"},
        "rated": true, "speed": "rapid", "timeControl": clock, "color": "random", "finalColor": "white",
        "perf": {"name": "Rapid"}, "direction": "in", "initialFen": "8/8 w - -",
        "declineReason": "Too fast for me", "declineReasonKey": "toofast", "rules": ["noAbort", "noChat"]});
    let by_days = json!({"id": "H9fIRZUk", "challenger": null, "destUser": null,
        "timeControl": {"type": "correspondence", "daysPerTurn": 3}});
    let unlimited = json!({"id": "H9fIRZUk", "timeControl": {"type": "unlimited"}});
    let unknown = json!({"id": "H9fIRZUk", "timeControl": {"type": "brandNew"}});
    let compat = json!({"bot": true, "board": true});
    let game = json!({"fullId": "Zn4tQw8e1abc", "gameId": "Zn4tQw8e", "id": "Zn4tQw8e", "fen": "8/8 b - -",
        "color": "black", "lastMove": "e2e4", "source": "friend", "status": {"id": 20, "name": "started"},
        "variant": {"key": "standard", "name": "Standard"}, "speed": "blitz", "perf": "blitz", "rating": 2101,
        "rated": true, "hasMoved": true, "isMyTurn": true, "secondsLeft": 180, "winner": "white", "ratingDiff": -5,
        "opponent": {"id": "bot2", "username": "Bot2", "rating": 1999, "ratingDiff": 5, "ai": 3},
        "tournamentId": "abcd1234", "compat": compat});
    let state = json!({"type": "gameState", "moves": "e2e4 e7e5", "wtime": 1000, "btime": 2000, "winc": 3, "binc": 4,
        "status": "started", "winner": "black", "wdraw": true, "bdraw": true, "wtakeback": true, "btakeback": true,
        "expiration": {"idleMillis": 20, "millisToMove": 30000}});
    let player =
        json!({"id": "we", "name": "We", "title": "BOT", "rating": 2000, "provisional": true, "aiLevel": 2});
    let full = json!({"type": "gameFull", "id": "5IrD6Gzz", "variant": {"key": "standard", "name": "Standard"},
        "clock": {"initial": 180000, "increment": 2000}, "daysPerTurn": 2, "speed": "blitz",
        "perf": {"name": "Blitz"}, "rated": true, "createdAt": 1790000000000u64, "white": player, "black": player,
        "initialFen": "startpos", "tournamentId": "abcd1234", "state": state});
    let perf = json!({"games": 3, "rating": 1500, "rd": 60, "prog": -4, "prov": true});
    let new_challenge = json!({"rated": "true", "clock.limit": 180, "clock.increment": "2", "days": 3,
        "color": "white", "variant": "atomic", "fen": "8/8 w - -", "keepAliveStream": true, "rules": "noAbort,noChat"});
    vec![
        message::<Event>(json!({"type": "gameStart", "game": game})),
        message::<Event>(json!({"type": "gameFinish", "game": game})),
        message::<Event>(json!({"type": "challenge", "challenge": challenge, "compat": compat})),
        message::<Event>(json!({"type": "challengeCanceled", "challenge": challenge})),
        message::<Event>(json!({"type": "challengeDeclined", "challenge": by_days})),
        message::<Event>(json!({"type": "brandNew"})),
        message::<GameMessage>(full),
        message::<GameMessage>(state),
        message::<GameMessage>(json!({"type": "chatLine", "room": "player", "username": "we", "text": "hi"})),
        message::<GameMessage>(json!({"type": "opponentGone", "gone": true, "claimWinInSeconds": 8})),
        message::<GameMessage>(json!({"type": "brandNew"})),
        message::<User>(
            json!({"id": "we", "username": "We", "title": "BOT", "perfs": {"blitz": perf, "new": perf},
            "disabled": true, "tosViolation": true, "createdAt": 1, "seenAt": 2, "url": "http://h/we",
            "count": {"all": 5, "rated": 4, "win": 3, "loss": 1, "draw": 1}}),
        ),
        message::<TokenTest>(json!({"lip_a": null, "lip_b": {"userId": "we", "scopes": "bot:play,new",
            "expires": 1790000000000u64}})),
        message::<Playing>(json!({"nowPlaying": [game]})),
        message::<Vec<UserStatus>>(
            json!([{"id": "we", "name": "We", "title": "BOT", "online": true, "playing": true}]),
        ),
        message::<Failure>(
            json!({"error": "Too many games", "ratelimit": {"key": "bot.vsBot.day", "seconds": 36}}),
        ),
        message::<Failure>(json!({"error": {"clock.limit": ["Invalid", "Too long"]}})),
        message::<Challenge>(unlimited),
        message::<Challenge>(unknown),
        message::<Keepalive>(json!({"challenge": challenge})),
        message::<Keepalive>(challenge),
        message::<Keepalive>(json!({"done": "accepted"})),
        message::<TournamentState>(
            json!({"id": "abcd1234", "fullName": "A", "isStarted": true, "isFinished": true,
            "secondsToStart": 30}),
        ),
        message::<Explored>(json!({"moves": [{"uci": "e2e4", "white": 2, "draws": 1, "black": 0}]})),
        message::<CloudEval>(
            json!({"depth": 22, "pvs": [{"moves": "c8f5", "cp": 311}, {"moves": "a", "mate": -2}]}),
        ),
        message::<Probe>(
            json!({"category": "syzygy-win", "moves": [{"uci": "h7h8q", "category": "loss", "dtz": -2,
            "dtc": -3, "dtm": -16, "zeroing": true, "checkmate": true}]}),
        ),
        form::<NewChallenge>(new_challenge),
        form::<Decline>(json!({"reason": "tooFast"})),
        form::<Chat>(json!({"room": "spectator", "text": "good luck & more"})),
        form::<MoveQuery>(json!({"offeringDraw": "yes"})),
        form::<JoinTournament>(json!({"password": "a b", "team": "t", "pairMeAsap": 1})),
        form::<JoinTeam>(json!({"message": "hi", "password": "a b"})),
    ]
}

/// Change of one value.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Null,
    Text(String),
    Number(Value),
}

fn change() -> impl Strategy<Value = Change> {
    let number = prop_oneof![
        (0..5000u32).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        Just(json!(1.5))
    ];
    prop_oneof![
        2 => Just(Change::Remove),
        1 => Just(Change::Null),
        4 => prop_oneof!["[a-zA-Z0-9]{8}", "[ -~]{0,12}", ".{0,8}"].prop_map(Change::Text),
        3 => number.prop_map(Change::Number),
    ]
}

/// An example with random changes that mostly keep the types of its values.
pub(super) fn changed() -> impl Strategy<Value = (RoundTrip, Value)> {
    let example = any::<Index>().prop_map(|at| at.get(&examples()).clone());
    (example, vec((any::<Index>(), change()), 0..6)).prop_map(|((round_trip, mut value), changes)| {
        for (at, change) in changes {
            let mut count = 0;
            leaves(&mut value, &mut |_| {
                count += 1;
                false
            });
            let mut left = at.index(count.max(1));
            leaves(&mut value, &mut |leaf| {
                let is_chosen = left == 0;
                left = left.wrapping_sub(1);
                is_chosen && apply(leaf, &change)
            });
        }
        (round_trip, value)
    })
}

/// Visits all values in objects, and removes those for which the visitor returns true.
fn leaves(value: &mut Value, visit: &mut impl FnMut(&mut Value) -> bool) {
    match value {
        Value::Object(fields) => fields.retain(|key, value| {
            leaves(value, visit);
            // The kind of a message stays, and keys of reasons are in lower case.
            matches!(key.as_str(), "type" | "declineReasonKey") || !visit(value)
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| leaves(item, visit)),
        _ => {}
    }
}

/// Returns whether to remove the value.
fn apply(value: &mut Value, change: &Change) -> bool {
    match (&mut *value, change) {
        (_, Change::Remove) => return true,
        (_, Change::Null) => *value = Value::Null,
        (Value::String(text), Change::Text(new)) => text.clone_from(new),
        (Value::Number(_), Change::Number(new)) => *value = new.clone(),
        (Value::Bool(flag), _) => *flag = !*flag,
        _ => {}
    }
    false
}
