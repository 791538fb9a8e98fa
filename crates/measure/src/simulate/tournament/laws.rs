//! Laws of tournaments, and mutants between a tournament and its world that break them.

use super::super::law::laws;

laws! {
    MEETS_ONCE "meets-once": "no pair plays one game twice, no game is stored twice, and none is repeated twice" {
        GAME_TWICE "tournament-game-twice": "the database has a finished game twice";
    }
    ONE_BOARD "one-board": "no player plays two games at once" {
        STAYS_AT_BOARD "tournament-stays-at-board": "an announced game stays at its board";
    }
    COLOURS "colours": "the colours of each pair are balanced, where the organiser has not paired by hand" {
        WHITE_ALWAYS "tournament-white-always": "the database records the player with the lesser name as White";
    }
    BYES "byes": "byes exist only with rounds, and in a Swiss at most one for each player" {
        BYE_TWICE "tournament-bye-twice": "the standings have each bye twice";
    }
    STANDINGS "standings": "the standings are the sum of the stored results and byes" {
        LOSES_RESULT "tournament-loses-result": "the standings lack a point of the leader";
    }
    TOLD_IS_WRITTEN "tournament-told-is-written": "a result is announced and shown as stored, unless the disk has failed or has not answered for 5 s" {
        TOLD_EARLY "tournament-told-early": "players learn of an end before it is stored";
    }
    RESTORED "counted-once": "after a kill each stored result counts once, and all announced ones are stored" {
        LOSES_LAST "tournament-loses-last": "a kill loses an announced result";
    }
    ENDS "ends": "a tournament with an end ends once all can play, and aborted games have been repeated by then" {
        NO_PAIRING "tournament-no-pairing": "players are never paired";
    }
}
