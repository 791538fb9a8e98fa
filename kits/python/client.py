"""Plays on an arena with choose_move of my_bot.py: python3 client.py NAME [KEY]. No need to change this file.

The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.
"""

import os
import socket
import sys
import time

from guard import FOLDER, Guard, run

RETRY = 2  # seconds until the next try to reach the arena


def main():
    settings = read_settings()
    name, key = (sys.argv[1:] + ["", ""])[:2]
    name, key = name or settings.get("name", ""), key or settings.get("key")
    if len(name.split()) != 1 or len(sys.argv) > 3:
        sys.exit("under which name? python3 client.py NAME [KEY], or `name = ...` in settings.txt; a name has no spaces")
    given, tournament = settings.get("arena", ""), settings.get("tournament", "")
    arena = given.split("//")[-1]  # tcp://HOST:PORT, too
    host, _, port = arena.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535 or len(tournament.split()) != 1:
        needed = "settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`"
        sys.exit(f"{needed}; it has `arena = {given}` and `tournament = {tournament}`")
    join = ["JOIN", tournament, name] + ([key] if key else []) + ["+moves", "+protocol=1"]
    guard, was_in = Guard(), False
    try:
        while True:
            is_in, last = False, ""
            try:
                with socket.create_connection((host, int(port)), timeout=10) as connection:
                    connection.settimeout(None)
                    enable_keep_alive(connection)
                    for is_in, last in play(connection, guard, name, join):
                        was_in = was_in or is_in
                hint = "" if last else f" Is {arena} its TCP port (8000 by default)?"
                problem = "The arena has closed the connection." + hint
            except OSError as error:
                problem = f"Cannot reach the arena at {arena}: {error.strerror or error}. Is it running, and is settings.txt right?"
            is_over = last.endswith("is over")
            may_retry = "try again" in last or was_in and "already taken" in last
            if last and not is_in:
                if not is_over and not may_retry:
                    sys.exit(f"The arena does not let {name} in: {last}")
                print(last)
            if is_over:
                return
            print(problem)
            print(f"Trying again in {RETRY} s; Ctrl-C stops.", flush=True)
            time.sleep(RETRY)
    finally:
        guard.stop()


def enable_keep_alive(connection):
    """Enables TCP keep-alive, so that a connection that died silently ends."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def read_settings():
    """Reads settings.txt: lines `key = value`."""
    path = os.path.join(FOLDER, "settings.txt")
    if not os.path.exists(path):
        sys.exit(f"settings.txt is missing; it belongs in {FOLDER}")
    with open(path, encoding="utf-8") as file:
        pairs = [line.split("=", 1) for line in file if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def play(connection, guard, name, join):
    """Joins and plays until the connection ends. Yields after each INFO whether we are in, and what it says."""

    def send(*words):
        connection.sendall((" ".join(words) + "\n").encode())

    is_in, kind, moves, players, number, increment = False, "chess", [], [], 0, 0.0
    send(*join)
    # Without `with`, the garbage collector closes it, and swallows a Ctrl-C that comes meanwhile.
    with connection.makefile(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            message, *fields = line.split() or [""]
            if message == "INFO":
                last = " ".join(fields)
                is_in = is_in or last.startswith("You joined")
                if is_in and not last.startswith("Game over: "):  # GAME_OVER follows
                    print(last, flush=True)
                yield is_in, last
            elif message.startswith("HTTP/"):
                yield False, "this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)"
            elif message == "GAME_PAIRED":
                increment = float(fields[4])
                send("ACK", fields[0])
            elif message == "VARIANT":
                kind = fields[1]
            elif message == "GAME_STARTED":
                number, players = 0, fields[1:3]
                print(f"Game of {kind}: {players[0]} (first) against {players[1]}", flush=True)
            elif message == "LEGAL_MOVES":
                moves = fields[1:]
            elif message == "YOUR_MOVE":  # game first second first's-seconds second's-seconds position
                number += 1
                own, opponent = (float(seconds) for seconds in (fields[3:5] if fields[1] == name else fields[4:2:-1]))
                move, problem = guard.choose(kind, " ".join(fields[5:]), own, opponent, increment, moves)
                send("MOVE", fields[0], move)
                if problem:
                    print(f"Move {number}: {problem}; played {move} instead", flush=True)
                    guard.restart()
                else:
                    print(f"Move {number}: {move}", flush=True)
            elif message == "GAME_OVER":  # game result reason
                print(outcome(name, players, fields[1]) + ": " + " ".join(fields[2:]), flush=True)
            elif message == "GAME_ABORTED":
                print("The game was aborted: " + " ".join(fields), flush=True)


def outcome(name, players, result):
    """Returns how a game has ended for the player of this name."""
    opponent = players[players[0] == name]
    ended = "drew" if result == "0.5-0.5" else "won" if (result == "1-0") == (players[0] == name) else "lost"
    return f"{name} {ended} against {opponent}"


if __name__ == "__main__":
    run(main)
