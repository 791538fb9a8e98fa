//! Laws of hosted games, and mutants of their front that break them.

use super::super::law::laws;

laws! {
    MOVE_ONCE "move-once": "a move is played at most once, by the side to move, and the position follows from the moves by the rules" {
        OTHER_SIDE "hosted-other-side": "a move out of turn is played for the other side";
    }
    TOLD_IS_WRITTEN "told-is-written": "an end is announced and shown when it is on the disk, or when the disk has failed or has not answered for 5 s" {
        TOLD_EARLY "hosted-told-early": "the end is announced before it is written";
        SHOWN_EARLY "hosted-shown-early": "the page shows the end before it is written";
    }
    CLOCK_OF_OWNER "clock-of-owner": "a clock runs only on its owner's turn, and no clock after the end" {
        OTHER_CLOCK "hosted-other-clock": "the clock of the side that has moved is started";
    }
    USED_IS_PASSED "used-is-passed": "a clock loses exactly the time of its owner's turns" {
        STALE_REQUEST_TIME "hosted-stale-request": "the next clock runs from when the last move was read, before its player is asked";
    }
    TIME_GOES_ON "time-goes-on": "a clock gains time only by the increment of a move" {
        BONUS_AFTER_TAKEBACK "hosted-bonus": "a takeback gives both sides a second";
    }
    ONE_END "one-end": "a game ends once, with one result, the same in the database and in its PGN" {
        SECOND_END "hosted-second-end": "the end is announced twice";
        OTHER_RESULT "hosted-other-result": "the end is announced without its result";
    }
    RESTORED "restored": "after a kill a game has exactly the moves and times that the database has acknowledged" {
        FORGETS_TAKEBACK "hosted-forgets-takeback": "a takeback is not written";
        FORGETS_LAST "hosted-forgets-last": "a restored game lacks its last move";
    }
}
