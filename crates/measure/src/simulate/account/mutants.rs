//! Mutants of the account: faults between the state machine and the world.

use super::{super::law::Mutant, laws};

pub(super) const REPEAT_LOOKUP: Mutant = Mutant {
    name: "repeat-lookup",
    text: "the list of running games is asked for twice",
    law: &laws::ONE_AT_A_TIME,
};
pub(super) const REPEAT_ACCEPT: Mutant =
    Mutant { name: "repeat-accept", text: "a challenge is accepted twice", law: &laws::ACCEPTS_ONCE };
pub(super) const OLD_LOOKUPS: Mutant = Mutant {
    name: "old-lookups",
    text: "each cause begins a chain of look-ups, repeated every 2 s while they fail (fault 1)",
    law: &laws::BOUNDED_RATE,
};
pub(super) const OLD_CAPACITY: Mutant =
    Mutant { name: "old-capacity", text: "the lobby's places are ignored (fault 2)", law: &laws::CAPACITY };
pub(super) const TOO_MANY: Mutant =
    Mutant { name: "too-many", text: "`concurrency` is ignored", law: &laws::CAPACITY };
pub(super) const LOSE_BEGIN: Mutant =
    Mutant { name: "lose-begin", text: "one game in four is not begun", law: &laws::PLAYED };
pub(super) const BEGIN_TWICE: Mutant =
    Mutant { name: "begin-twice", text: "a game is begun twice", law: &laws::BEGINS_ONCE };
pub(super) const LOSE_RESULT: Mutant = Mutant {
    name: "lose-result",
    text: "the result that `gameFinish` told does not reach the game's task, only the end does (fault 3)",
    law: &laws::RESULT,
};
pub(super) const SHORT_LIST: Mutant =
    Mutant { name: "short-list", text: "running games are missing from the list", law: &laws::RESULT };
pub(super) const DEAF_TO_STOP: Mutant =
    Mutant { name: "deaf-to-stop", text: "the order to stop is not heard", law: &laws::QUIET };
pub(super) const RUNS_ON: Mutant = Mutant {
    name: "runs-on",
    text: "after the order to stop, no game is given up while the server is away (fault 5)",
    law: &laws::LEAVES,
};
pub(super) const MISREAD_TOKEN: Mutant =
    Mutant { name: "misread-token", text: "a good token is taken for a revoked one", law: &laws::STAYS };
pub(super) const KEEP_STREAM: Mutant =
    Mutant { name: "keep-stream", text: "a dead event stream is not opened anew", law: &laws::ONLINE };
pub(super) const LOSE_CHALLENGE: Mutant =
    Mutant { name: "lose-challenge", text: "one challenge in two is overlooked", law: &laws::ANSWERED };
pub(super) const NO_WAKE: Mutant =
    Mutant { name: "no-wake", text: "nothing happens by time alone", law: &laws::ONLINE };
pub(super) const ANSWER_TWICE: Mutant =
    Mutant { name: "answer-twice", text: "an order is answered twice", law: &laws::ORDERS };
pub(super) const RESTLESS: Mutant =
    Mutant { name: "restless", text: "something is always due at once", law: &laws::CALM };

pub(super) const ALL: &[&Mutant] = &[
    &REPEAT_LOOKUP,
    &REPEAT_ACCEPT,
    &OLD_LOOKUPS,
    &OLD_CAPACITY,
    &TOO_MANY,
    &LOSE_BEGIN,
    &BEGIN_TWICE,
    &LOSE_RESULT,
    &SHORT_LIST,
    &DEAF_TO_STOP,
    &RUNS_ON,
    &MISREAD_TOKEN,
    &KEEP_STREAM,
    &LOSE_CHALLENGE,
    &NO_WAKE,
    &ANSWER_TWICE,
    &RESTLESS,
];
