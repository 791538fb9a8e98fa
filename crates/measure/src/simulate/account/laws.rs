//! Laws of the Lichess account, and mutants between its state machine and the world that break them.

use super::super::law::laws;

laws! {
    ONE_AT_A_TIME "one-at-a-time": "only one request of each kind runs at a time" {
        REPEAT_LOOKUP "repeat-lookup": "the list of running games is requested twice";
    }
    ACCEPTS_ONCE "accepts-once": "a challenge is accepted once, and only while it is open as far as we know" {
        REPEAT_ACCEPT "repeat-accept": "a challenge is accepted twice";
        ACCEPT_AGAIN "accept-again": "a challenge that was accepted is accepted again";
        LOSE_WITHDRAWAL "lose-withdrawal": "the withdrawal of a challenge is lost";
    }
    BOUNDED_RATE "bounded-rate": "requests of each kind are bounded per minute, also in outages" {
        OLD_LOOKUPS "old-lookups": "each cause begins a chain of look-ups, repeated every 2 s while they fail (fault 1)";
    }
    CAPACITY "capacity": "games never exceed `concurrency` and the lobby's seats, nor games with bots what `reserved_for_humans` leaves" {
        OLD_CAPACITY "old-capacity": "the lobby's seats are ignored (fault 2)";
        TOO_MANY "too-many": "`concurrency` is ignored";
        NO_RESERVE "no-reserve": "`reserved_for_humans` is ignored";
        FORGET_OURS "forget-ours": "our accepted challenge is treated as declined";
    }
    PLAYED "played": "each game that we know of, and have a seat for, is played or given up" {
        SKIP_BEGIN "skip-begin": "one game in four is not started";
        SKIP_COUNTED "skip-counted": "the same, by accounts with `games`";
    }
    BEGINS_ONCE "begins-once": "a game is started once at a time, and only if it was announced" {
        BEGIN_TWICE "begin-twice": "a game is started twice";
    }
    RESULT "result": "the end of a game is reported once, with the server's result, and only if it is over" {
        LOSE_RESULT "lose-result": "the game's task learns of the end, but not of the result in `gameFinish` (fault 3)";
        SHORT_LIST "short-list": "running games are missing from the list";
    }
    NO_NEW_GAMES "no-new-games": "no game is accepted or started after the order to stop, or after the last of `games`" {
        IGNORE_STOP "ignore-stop": "the order to stop is lost";
        COUNT_NONE "count-none": "ended games are not counted";
    }
    LEAVES "leaves": "the account leaves soon after its games, also in outages" {
        RUNS_ON "runs-on": "after the order to stop, no game is given up while the server is away (fault 5)";
        STAY_AFTER_GAMES "stay-after-games": "an account does not leave after the last of `games`";
    }
    STAYS "stays": "the account leaves only by order, after the last of `games`, or when the server refuses it, and never during a game" {
        MISREAD_TOKEN "misread-token": "a valid token is taken for a revoked one";
        COUNT_SHORT "count-short": "`games` is taken as one less";
    }
    ONLINE "online": "the account is seen online again after every fault" {
        KEEP_STREAM "keep-stream": "a dead event stream is not reopened";
        NO_WAKE "no-wake": "timers never fire";
    }
    ANSWERED "answered": "each challenge is answered while there is a seat, and each of our own ends" {
        LOSE_CHALLENGE "lose-challenge": "one challenge in two is lost";
        LOSE_COUNTED "lose-counted": "the same, of accounts with `games`";
    }
    ORDERS "orders": "an order is answered exactly once, and at once" {
        ANSWER_TWICE "answer-twice": "an order is answered twice";
    }
    NO_BUSY_LOOP "no-busy-loop": "the account does not wake repeatedly without work" {
        ALWAYS_DUE "always-due": "something is always due at once";
        SOON_DUE "soon-due": "something is always due in half a second";
    }
}
