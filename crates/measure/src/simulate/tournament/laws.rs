//! Laws of tournaments, and mutants between a tournament and its world that break them.

use super::super::law::laws;

laws! {
    MEETS_ONCE "meets-once": "no pair plays one game twice, no game is stored twice, and none is repeated twice" {
        GAME_TWICE "tournament-game-twice": "the database has a game that is over a second time";
    }
    ONE_BOARD "one-board": "no player plays two games at once" {
        STAYS_AT_BOARD "tournament-stays-at-board": "a game that is told stays at its board";
    }
    COLOURS "colours": "the colours of each pair are balanced, where the organiser has not paired by hand" {
        WHITE_ALWAYS "tournament-white-always": "the database has the player whose name comes first as White";
    }
    BYES "byes": "there are byes where there are rounds, and in a Swiss one for each player" {
        BYE_TWICE "tournament-bye-twice": "the standings have each bye twice";
    }
    STANDINGS "standings": "the standings are the sum of the results and byes that are written" {
        LOSES_RESULT "tournament-loses-result": "the standings lack a point of the leader";
    }
    TOLD_IS_WRITTEN "tournament-told-is-written": "a result is told and shown as it is on the disk, unless the disk has failed, or not answered for 5 s" {
        TOLD_EARLY "tournament-told-early": "players hear of an end as soon as the game has one";
    }
    RESTORED "counted-once": "after a kill each result that is written counts once, and those that were told are there" {
        LOSES_LAST "tournament-loses-last": "a kill takes back a result that was told";
    }
    ENDS "ends": "a tournament with an end ends once all can play, and what was broken off is repeated by then" {
        NO_PAIRING "tournament-no-pairing": "the turns that pair players never come";
    }
}
