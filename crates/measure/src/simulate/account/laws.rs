//! Laws of the Lichess account, and mutants between its state machine and the world that break them.

use super::super::law::laws;

laws! {
    ONE_AT_A_TIME "one-at-a-time": "no request of a kind is sent while one of that kind runs" {
        REPEAT_LOOKUP "repeat-lookup": "the list of running games is asked for twice";
    }
    ACCEPTS_ONCE "accepts-once": "a challenge is accepted once, and only while it is open as far as we know" {
        REPEAT_ACCEPT "repeat-accept": "a challenge is accepted twice";
        ACCEPT_AGAIN "accept-again": "a challenge that was accepted is accepted again";
        LOSE_WITHDRAWAL "lose-withdrawal": "the withdrawal of a challenge is lost";
    }
    BOUNDED_RATE "bounded-rate": "requests of each kind in a minute are bounded, in every outage" {
        OLD_LOOKUPS "old-lookups": "each cause begins a chain of look-ups, repeated every 2 s while they fail (fault 1)";
    }
    CAPACITY "capacity": "no more games are agreed on than `concurrency` and the lobby have seats for, and no more with bots than `reserved_for_humans` leaves" {
        OLD_CAPACITY "old-capacity": "the lobby's seats are ignored (fault 2)";
        TOO_MANY "too-many": "`concurrency` is ignored";
        NO_RESERVE "no-reserve": "`reserved_for_humans` is ignored";
        FORGET_OURS "forget-ours": "a challenge of ours that is accepted is taken for a declined one";
    }
    PLAYED "played": "each game that we know of, and have a seat for, is played or given up" {
        SKIP_BEGIN "skip-begin": "one game in four is not begun";
        SKIP_COUNTED "skip-counted": "the same, by accounts with `games`";
    }
    BEGINS_ONCE "begins-once": "a game is begun once at a time, and only if it was announced" {
        BEGIN_TWICE "begin-twice": "a game is begun twice";
    }
    RESULT "result": "the end of a game is reported once, with the server's result, and only if it is over" {
        LOSE_RESULT "lose-result": "the result that `gameFinish` told does not reach the game's task, only the end does (fault 3)";
        SHORT_LIST "short-list": "running games are missing from the list";
    }
    NO_NEW_GAMES "no-new-games": "no game is agreed on or begun after the order to stop, or the last of `games`" {
        IGNORE_STOP "ignore-stop": "the order to stop is lost";
        COUNT_NONE "count-none": "no game is counted that ends";
    }
    LEAVES "leaves": "the account leaves soon after its games, in outages as well" {
        RUNS_ON "runs-on": "after the order to stop, no game is given up while the server is away (fault 5)";
        STAY_AFTER_GAMES "stay-after-games": "an account does not leave after the last of `games`";
    }
    STAYS "stays": "the account leaves only by order, after the last of `games`, or when the server refuses it, and never during a game" {
        MISREAD_TOKEN "misread-token": "a good token is taken for a revoked one";
        COUNT_SHORT "count-short": "`games` is taken for one less";
    }
    ONLINE "online": "the account is seen online again after every fault" {
        KEEP_STREAM "keep-stream": "a dead event stream is not opened anew";
        NO_WAKE "no-wake": "nothing happens by time alone";
    }
    ANSWERED "answered": "each challenge is answered while there is a seat, and each of ours that waits ends" {
        LOSE_CHALLENGE "lose-challenge": "one challenge in two is lost";
        LOSE_COUNTED "lose-counted": "the same, of accounts with `games`";
    }
    ORDERS "orders": "an order is answered once, and at once" {
        ANSWER_TWICE "answer-twice": "an order is answered twice";
    }
    NO_BUSY_LOOP "no-busy-loop": "the account does not wake again and again for nothing" {
        ALWAYS_DUE "always-due": "something is always due at once";
        SOON_DUE "soon-due": "something is always due in half a second";
    }
}
