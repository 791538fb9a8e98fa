#!/usr/bin/env python3
"""Plays through what a bot asks of Lichess, with the client `berserk`, unchanged, against an arena.

    pip install berserk
    python3 scripts/berserk_check.py http://127.0.0.1:9663 TOKEN_OF_ONE_BOT TOKEN_OF_ANOTHER

Both accounts are to be bots that nobody uses meanwhile. Each check is one line; the exit code is 1 if one failed.
"""

import datetime
import queue
import sys
import threading
import time
import traceback

try:
    import berserk
except ImportError:
    sys.exit("berserk is not there: pip install berserk")

LONG = 10
MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


class Listener:
    """A stream that is read beside everything else."""

    def __init__(self, stream):
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        try:
            for line in stream:
                self.lines.put(line)
        except Exception as error:  # the arena may close it as it likes
            self.lines.put({"type": "broken", "error": repr(error)})
        self.lines.put({"type": "end"})

    def expect(self, kind, holds=lambda line: True):
        """The next line of this type for which that holds; others are passed over."""
        passed, until = [], time.monotonic() + LONG
        while time.monotonic() < until:
            try:
                line = self.lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line.get("type") == kind and holds(line):
                return line
            passed.append(line)
        raise AssertionError(f"waited in vain for {kind}, got {passed}")


class Bot:
    """One account."""

    def __init__(self, url, token):
        self.token, self.url = token, url.rstrip("/")
        self.session = berserk.TokenSession(token)
        client = berserk.Client(self.session, base_url=self.url)
        self.account, self.bots, self.challenges = client.account, client.bots, client.challenges
        self.games, self.users, self.oauth = client.games, client.users, client.oauth
        self.name = self.account.get()["username"]
        self.id = self.name.lower()
        self.events = Listener(self.bots.stream_incoming_events())

    def deed(self, game, path):
        """What berserk has no words for."""
        response = self.session.post(f"{self.url}/api/bot/game/{game}/{path}")
        assert response.ok, f"{path}: {response.status_code} {response.text}"

    def watch(self, game):
        return Listener(self.bots.stream_game_state(game))


def refused(call, *statuses):
    """Makes sure that a call is refused in one of these ways, and told why."""
    try:
        call()
    except berserk.exceptions.ResponseError as error:
        assert error.status_code in statuses, f"{error.status_code} instead of {statuses}: {error}"
        assert "error" in (error.cause or {}), f"no reason in {error.cause}"
        return
    raise AssertionError(f"granted, and not refused with {statuses}")


def start(white, black, **terms):
    """A game between the two; returns its id."""
    terms = {"rated": False, "clock_limit": 180, "clock_increment": 2, "color": "white"} | terms
    made = white.challenges.create(black.id, **terms)
    seen = black.events.expect("challenge", lambda event: event["challenge"]["id"] == made["id"])["challenge"]
    assert seen["challenger"]["id"] == white.id and seen["destUser"]["name"] == black.name, seen
    black.bots.accept_challenge(made["id"])
    for bot, color in ((white, "white"), (black, "black")):
        game = bot.events.expect("gameStart", lambda event: event["game"]["gameId"] == made["id"])["game"]
        assert game["color"] == color and game["compat"]["bot"] and game["fullId"].startswith(game["id"]), game
        assert game["isMyTurn"] == (color == "white") and game["opponent"]["username"], game
    return made["id"]


def finished(bots, game, status):
    for bot in bots:
        event = bot.events.expect("gameFinish", lambda event: event["game"]["gameId"] == game)
        assert event["game"]["status"]["name"] == status, event


def play(white, black, game, moves):
    for ply, move in enumerate(moves):
        (white, black)[ply % 2].bots.make_move(game, move)


def clean_up(a):
    """No game of a check that has failed stands before the next one."""
    for game in a.games.get_ongoing(count=50):
        a.bots.resign_game(game["gameId"])


def has_time(user, *keys):
    for key in keys:
        assert isinstance(user.get(key), datetime.datetime), f"{key} is {user.get(key)!r}"
        assert abs(datetime.datetime.now(datetime.timezone.utc) - user[key]).days < 366 * 30, user[key]


# The checks, in this order.


def accounts(a, b):
    me = a.account.get()
    assert me["id"] == a.id and me["title"] == "BOT", me
    assert me["perfs"]["blitz"]["rating"] > 0 and me["perfs"]["blitz"]["games"] >= 0, me["perfs"]
    assert me["url"].endswith(f"/@/{me['username']}") and me["count"]["all"] >= 0, me
    has_time(me, "createdAt", "seenAt")
    tested = a.oauth.test_tokens(a.token, "nobodys")
    assert "bot:play" in tested[a.token]["scopes"].split(",") and tested[a.token]["userId"] == a.id, tested
    assert tested["nobodys"] is None, tested
    stranger = berserk.Client(berserk.TokenSession("nobodys"), base_url=a.url)
    refused(stranger.account.get, 401)


def users(a, b):
    profile = a.users.get_public_data(b.name)
    assert profile["id"] == b.id and profile["username"] == b.name, profile
    has_time(profile, "createdAt", "seenAt")
    refused(lambda: a.users.get_public_data("nobody-at-all"), 404)
    both = a.users.get_by_id(a.id, b.name, "nobody-at-all")
    assert sorted(user["id"] for user in both) == sorted((a.id, b.id)), both
    has_time(both[0], "createdAt")
    statuses = {status["id"]: status for status in a.users.get_realtime_statuses(a.id, b.id)}
    assert statuses[b.id]["online"] and statuses[b.id]["name"] == b.name, statuses
    assert "playing" not in statuses[b.id], statuses


def online_bots(a, b):
    bots = {bot["id"]: bot for bot in a.bots.get_online_bots(limit=50)}
    assert {a.id, b.id} <= set(bots), bots
    has_time(bots[a.id], "createdAt")
    assert len(list(a.bots.get_online_bots(limit=1))) == 1


def challenges(a, b):
    made = a.challenges.create(b.id, rated=True, clock_limit=300, clock_increment=3, variant="chess960")
    assert made["status"] == "created" and made["url"].startswith("http"), made
    assert made["timeControl"] == {"type": "clock", "limit": 300, "increment": 3, "show": "5+3"}, made
    assert made["speed"] == "blitz" and made["rated"] is True and made["variant"]["key"] == "chess960", made
    assert made["perf"]["name"] and made["color"] == "random" and made["finalColor"] in ("white", "black"), made
    b.challenges.decline(made["id"], reason="tooFast")
    event = a.events.expect("challengeDeclined")["challenge"]
    assert event["declineReasonKey"] == "toofast" and event["declineReason"], event
    refused(lambda: b.challenges.accept(made["id"]), 404)
    made = a.challenges.create(b.id, rated=False, clock_limit=60, clock_increment=0)
    a.challenges.cancel(made["id"])
    b.events.expect("challengeCanceled", lambda event: event["challenge"]["id"] == made["id"])
    refused(lambda: a.challenges.create("nobody-at-all", rated=False, clock_limit=60, clock_increment=0), 400, 404)
    refused(lambda: a.challenges.create(b.id, rated=False, clock_limit=7, clock_increment=0), 400)
    refused(lambda: a.challenges.create(b.id, rated=False, days=2), 400)


def a_game_to_the_mate(a, b):
    game = start(a, b, rated=True)
    board = b.watch(game)
    full = board.expect("gameFull")
    assert full["clock"] == {"initial": 180_000, "increment": 2000} and full["initialFen"] == "startpos", full
    assert full["white"]["name"] == a.name and full["black"]["title"] == "BOT" and full["speed"] == "blitz", full
    has_time(full, "createdAt")
    # What a stream begins with is not converted by berserk, what follows is.
    assert full["state"]["wtime"] == 180_000 and full["state"]["status"] == "started", full
    play(a, b, game, MATE[:1])
    state = board.expect("gameState")
    assert state["wtime"] == datetime.timedelta(minutes=3), state
    assert state["winc"] == datetime.timedelta(seconds=2) and state["moves"] == "f2f3", state
    refused(lambda: a.bots.make_move(game, "a2a3"), 400)
    refused(lambda: b.bots.make_move(game, "a2a3"), 400)
    ongoing = b.games.get_ongoing()
    assert [g["gameId"] for g in ongoing] == [game] and ongoing[0]["isMyTurn"], ongoing
    assert ongoing[0]["secondsLeft"] == 180 and ongoing[0]["lastMove"] == "f2f3", ongoing
    assert a.users.get_realtime_statuses(b.id)[0]["playing"]
    a.bots.post_message(game, "good luck")
    line = board.expect("chatLine")
    assert (line["username"], line["room"], line["text"]) == (a.name, "player", "good luck"), line
    b.bots.post_message(game, "they never saw it coming", spectator=True)
    board.expect("chatLine", lambda line: line["room"] == "spectator")
    for ply, move in enumerate(MATE[1:]):
        (b, a)[ply % 2].bots.make_move(game, move)
    last = board.expect("gameState", lambda state: state["status"] != "started")
    assert (last["status"], last["winner"], last["moves"]) == ("mate", "black", " ".join(MATE)), last
    board.expect("end")
    finished((a, b), game, "mate")
    pgn = a.games.export(game, as_pgn=True, clocks=True)
    assert "Qh4#" in pgn and f'[White "{a.name}"]' in pgn and "[%clk" in pgn, pgn
    refused(lambda: a.games.export("nosuchgm", as_pgn=True), 404)


def draws(a, b):
    game = start(a, b)
    board = b.watch(game)
    board.expect("gameFull")
    play(a, b, game, ["e2e4", "e7e5"])
    a.deed(game, "draw/yes")
    assert board.expect("gameState", lambda state: state.get("wdraw"))["status"] == "started"
    b.deed(game, "draw/no")
    board.expect("gameState", lambda state: not state.get("wdraw"))
    a.deed(game, "move/g1f3?offeringDraw=true")
    board.expect("gameState", lambda state: state.get("wdraw"))
    b.deed(game, "draw/yes")
    last = board.expect("gameState", lambda state: state["status"] == "draw")
    assert last.get("winner") is None, last
    finished((a, b), game, "draw")


def takebacks(a, b):
    game = start(a, b)
    board = b.watch(game)
    board.expect("gameFull")
    play(a, b, game, ["e2e4", "e7e5", "g1f3"])
    a.deed(game, "takeback/yes")
    board.expect("gameState", lambda state: state.get("wtakeback"))
    b.deed(game, "takeback/yes")
    board.expect("gameState", lambda state: state["moves"] == "e2e4 e7e5" and not state.get("wtakeback"))
    a.bots.make_move(game, "b1c3")
    a.deed(game, "takeback/yes")
    b.deed(game, "takeback/no")
    assert board.expect("gameState", lambda state: not state.get("wtakeback"))["moves"].endswith("b1c3")
    b.bots.resign_game(game)
    last = board.expect("gameState", lambda state: state["status"] == "resign")
    assert last["winner"] == "white", last
    finished((a, b), game, "resign")


def aborts(a, b):
    game = start(a, b)
    a.bots.abort_game(game)
    finished((a, b), game, "aborted")
    game = start(a, b)
    play(a, b, game, ["e2e4", "e7e5"])
    refused(lambda: a.bots.abort_game(game), 400)
    claim = a.session.post(f"{a.url}/api/bot/game/{game}/claim-victory")
    assert claim.status_code == 400 and claim.json()["error"], f"{claim.status_code} {claim.text}"
    a.bots.resign_game(game)
    finished((a, b), game, "resign")
    refused(lambda: a.bots.make_move(game, "a2a3"), 400)
    game = start(a, b)
    b.challenges.cancel(game)
    finished((a, b), game, "aborted")


def chess960(a, b):
    castles = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    game = start(a, b, variant="chess960", position=castles)
    board = a.watch(game)
    full = board.expect("gameFull")
    assert full["variant"]["key"] == "chess960" and full["variant"]["name"] == "Chess960", full
    assert full["initialFen"] == castles, full
    play(a, b, game, ["a2c3", "c5c4"])
    board.expect("gameState", lambda state: state["moves"] == "a2c3 c5c4")
    a.bots.resign_game(game)
    finished((a, b), game, "resign")


def streams(a, b):
    """A second event stream ends the first, and is told what runs."""
    game = start(a, b)
    again = Listener(a.bots.stream_incoming_events())
    a.events.expect("end")
    assert again.expect("gameStart")["game"]["gameId"] == game
    a.events = again
    a.bots.abort_game(game)
    finished((a, b), game, "aborted")
    refused(lambda: next(a.bots.stream_game_state("nosuchgm")), 404)


CHECKS = [accounts, users, online_bots, challenges, a_game_to_the_mate, draws, takebacks, aborts]
CHECKS += [chess960, streams]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    url, tokens = sys.argv[1], sys.argv[2:]
    a, b = (Bot(url, token) for token in tokens)
    failed = 0
    for check in CHECKS:
        try:
            check(a, b)
            print(f"ok      {check.__name__}", flush=True)
        except Exception as error:
            failed += 1
            where = traceback.extract_tb(error.__traceback__)[1]
            print(f"FAILED  {check.__name__}, line {where.lineno}: {where.line}\n        {error!r}", flush=True)
            clean_up(a)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
