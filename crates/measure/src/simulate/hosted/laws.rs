//! Laws of hosted games, and mutants of their front that break them.

use super::super::law::{Law, Mutant};

pub(super) const MOVE_ONCE: Law = Law {
    name: "move-once",
    text: "a request is played at most once, by the side to move, and the position is what the rules make of the moves",
};
pub(super) const TOLD_IS_WRITTEN: Law = Law {
    name: "told-is-written",
    text: "an end is told and shown when it is on the disk, or when the disk has failed, or not answered for 5 s",
};
pub(super) const CLOCK_OF_OWNER: Law =
    Law { name: "clock-of-owner", text: "a clock runs only on its owner's turn, and none after the end" };
pub(super) const USED_IS_PASSED: Law = Law {
    name: "used-is-passed",
    text: "the time that a clock has lost is the time that passed in its owner's turns",
};
pub(super) const TIME_GOES_ON: Law =
    Law { name: "time-goes-on", text: "no clock gains time but by the increment of a move" };
pub(super) const ONE_END: Law = Law {
    name: "one-end",
    text: "a game ends once, with one result, which the database and the PGN printed from it have",
};
pub(super) const RESTORED: Law = Law {
    name: "restored",
    text: "after a kill a game has exactly the moves, with their times, that the database has acknowledged",
};

pub(super) const LAWS: &[&Law] =
    &[&MOVE_ONCE, &TOLD_IS_WRITTEN, &CLOCK_OF_OWNER, &USED_IS_PASSED, &TIME_GOES_ON, &ONE_END, &RESTORED];

pub(super) const OTHER_SIDE: Mutant = Mutant {
    name: "hosted-other-side",
    text: "a move out of turn is played for the other side",
    law: &MOVE_ONCE,
};
pub(super) const TOLD_EARLY: Mutant =
    Mutant { name: "hosted-told-early", text: "the end is told before it is written", law: &TOLD_IS_WRITTEN };
pub(super) const OTHER_CLOCK: Mutant = Mutant {
    name: "hosted-other-clock",
    text: "the clock of the side that has moved is started",
    law: &CLOCK_OF_OWNER,
};
pub(super) const STALE_REQUEST_TIME: Mutant = Mutant {
    name: "hosted-stale-request",
    text: "the next clock runs from when the last move was read, before its player is asked",
    law: &USED_IS_PASSED,
};
pub(super) const BONUS_AFTER_TAKEBACK: Mutant =
    Mutant { name: "hosted-bonus", text: "a takeback gives both sides a second", law: &TIME_GOES_ON };
pub(super) const SECOND_END: Mutant =
    Mutant { name: "hosted-second-end", text: "the end is told again", law: &ONE_END };
pub(super) const OTHER_RESULT: Mutant =
    Mutant { name: "hosted-other-result", text: "the end is told without its result", law: &ONE_END };
pub(super) const FORGETS_TAKEBACK: Mutant =
    Mutant { name: "hosted-forgets-takeback", text: "a takeback is not written", law: &RESTORED };
pub(super) const FORGETS_LAST: Mutant =
    Mutant { name: "hosted-forgets-last", text: "a restored game lacks its last move", law: &RESTORED };

pub(super) const MUTANTS: &[&Mutant] = &[
    &OTHER_SIDE,
    &TOLD_EARLY,
    &OTHER_CLOCK,
    &STALE_REQUEST_TIME,
    &BONUS_AFTER_TAKEBACK,
    &SECOND_END,
    &OTHER_RESULT,
    &FORGETS_TAKEBACK,
    &FORGETS_LAST,
];
