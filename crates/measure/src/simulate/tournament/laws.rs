//! Laws of tournaments, and mutants between a tournament and its world that break them.

use super::super::law::{Law, Mutant};

pub(super) const MEETS_ONCE: Law = Law {
    name: "meets-once",
    text: "no pair plays one game twice, no game is stored twice, and none is repeated twice",
};
pub(super) const ONE_BOARD: Law = Law { name: "one-board", text: "no player plays two games at once" };
pub(super) const COLOURS: Law = Law {
    name: "colours",
    text: "the colours of each pair are balanced, where the organiser has not paired by hand",
};
pub(super) const BYES: Law =
    Law { name: "byes", text: "there are byes where there are rounds, and in a Swiss one for each player" };
pub(super) const STANDINGS: Law =
    Law { name: "standings", text: "the standings are the sum of the results and byes that are written" };
pub(super) const TOLD_IS_WRITTEN: Law = Law {
    name: "tournament-told-is-written",
    text: "a result is told and shown as it is on the disk, unless the disk has failed, or not answered for 5 s",
};
pub(super) const RESTORED: Law = Law {
    name: "counted-once",
    text: "after a kill each result that is written counts once, and those that were told are there",
};
pub(super) const ENDS: Law = Law {
    name: "ends",
    text: "a tournament with an end ends once all can play, and what was broken off is repeated by then",
};

pub(super) const LAWS: &[&Law] =
    &[&MEETS_ONCE, &ONE_BOARD, &COLOURS, &BYES, &STANDINGS, &TOLD_IS_WRITTEN, &RESTORED, &ENDS];

pub(super) const GAME_TWICE: Mutant = Mutant {
    name: "tournament-game-twice",
    text: "the database has a game that is over a second time",
    law: &MEETS_ONCE,
};
pub(super) const STAYS_AT_BOARD: Mutant = Mutant {
    name: "tournament-stays-at-board",
    text: "a game that is told stays at its board",
    law: &ONE_BOARD,
};
pub(super) const WHITE_ALWAYS: Mutant = Mutant {
    name: "tournament-white-always",
    text: "the database has the player whose name comes first as White",
    law: &COLOURS,
};
pub(super) const BYE_TWICE: Mutant =
    Mutant { name: "tournament-bye-twice", text: "the standings have each bye twice", law: &BYES };
pub(super) const LOSES_RESULT: Mutant = Mutant {
    name: "tournament-loses-result",
    text: "the standings lack a point of the leader",
    law: &STANDINGS,
};
pub(super) const TOLD_EARLY: Mutant = Mutant {
    name: "tournament-told-early",
    text: "players hear of an end as soon as the game has one",
    law: &TOLD_IS_WRITTEN,
};
pub(super) const LOSES_LAST: Mutant = Mutant {
    name: "tournament-loses-last",
    text: "a kill takes back a result that was told",
    law: &RESTORED,
};
pub(super) const NO_PAIRING: Mutant =
    Mutant { name: "tournament-no-pairing", text: "the turns that pair players never come", law: &ENDS };

pub(super) const MUTANTS: &[&Mutant] = &[
    &GAME_TWICE,
    &STAYS_AT_BOARD,
    &WHITE_ALWAYS,
    &BYE_TWICE,
    &LOSES_RESULT,
    &TOLD_EARLY,
    &LOSES_LAST,
    &NO_PAIRING,
];
