#!/usr/bin/env python3
"""Plays two UCI engines against each other: openings in pairs with colours reversed, real clocks.

    pip install chess
    scripts/match.py --engine "target/release/zeitnot uci" \\
        --engine "gnuchess --uci" --option2 OwnBook=false --games 100 --tc 2+0.02 --openings tests/data/openings.epd

A stand-in until `zeitnot match` exists: one process, games side by side with --concurrency. A clock
runs from the moment `go` is written to the moment `bestmove` is read; a flag that falls loses.
"""
import argparse, asyncio, math, random, shlex, sys, time
import chess, chess.engine, chess.pgn


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--engine", action="append", required=True, help="command line, twice")
    p.add_argument("--option1", action="append", default=[], help="NAME=VALUE for the first engine")
    p.add_argument("--option2", action="append", default=[], help="NAME=VALUE for the second engine")
    p.add_argument("--games", type=int, default=100)
    p.add_argument("--tc", default="2+0.02", help="seconds+increment")
    p.add_argument("--nodes", type=int, help="nodes a move in place of the clock")
    p.add_argument("--openings", required=True, help="file of FEN or EPD lines")
    p.add_argument("--concurrency", type=int, default=1)
    p.add_argument("--pgn")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


async def open_engine(command, options):
    _, engine = await chess.engine.popen_uci(shlex.split(command))
    await engine.configure(dict(o.split("=", 1) for o in options))
    return engine


class Clock:
    def __init__(self, tc):
        initial, self.increment = (float(x) for x in tc.split("+"))
        self.left = [initial, initial]  # white, black


async def play(engines, fen, args):
    """engines: white, black. Returns result and reason."""
    board = chess.Board(fen)
    clock = Clock(args.tc)
    game = object()
    while True:
        outcome = board.outcome(claim_draw=True)
        if outcome:
            return board, outcome.result(), outcome.termination.name.lower()
        side = 0 if board.turn else 1
        if args.nodes:
            limit = chess.engine.Limit(nodes=args.nodes)
        else:
            limit = chess.engine.Limit(white_clock=clock.left[0], black_clock=clock.left[1],
                                       white_inc=clock.increment, black_inc=clock.increment)
        lost = "0-1" if side == 0 else "1-0"
        began = time.perf_counter()
        try:
            reply = await asyncio.wait_for(engines[side].play(board, limit, game=game), clock.left[side] + 20)
        except asyncio.TimeoutError:
            return board, lost, "hung"
        except chess.engine.EngineTerminatedError:
            return board, lost, "crash"
        except chess.engine.EngineError as error:
            return board, lost, f"illegal move or protocol error: {error}"
        if not args.nodes:
            clock.left[side] -= time.perf_counter() - began
            if clock.left[side] < 0:
                return board, lost, "time forfeit"
            clock.left[side] += clock.increment
        if reply.move is None or reply.move not in board.legal_moves:
            return board, lost, "illegal move"
        board.push(reply.move)


def elo(score):
    return -400 * math.log10(1 / score - 1) if 0 < score < 1 else math.copysign(float("inf"), score - 0.5)


class Tally:
    def __init__(self):
        self.points, self.ends, self.pairs = [], {}, {}

    def add(self, number, points, reason, loser):
        self.points.append(points)
        if reason in ("time forfeit", "hung", "crash") or "illegal" in reason:
            self.ends[f"{reason} of {loser}"] = self.ends.get(f"{reason} of {loser}", 0) + 1
        self.pairs.setdefault(number // 2, []).append(points)

    def __str__(self):
        n = len(self.points)
        win, draw = self.points.count(1), self.points.count(0.5)
        mean = sum(self.points) / n
        pairs = [sum(p) / 2 for p in self.pairs.values() if len(p) == 2]
        text = f"{n} games: +{win} ={draw} -{n - win - draw}, {100 * mean:.1f} %, Elo {elo(mean):+.0f}"
        if len(pairs) > 1 and 0 < mean < 1:
            m = sum(pairs) / len(pairs)
            error = 1.96 * math.sqrt(sum((p - m) ** 2 for p in pairs) / (len(pairs) - 1) / len(pairs))
            slope = 400 / math.log(10) / (mean * (1 - mean))
            text += f" ± {slope * error:.0f} (95 %, by pairs)"
        return text + "".join(f"; {v} {k}" for k, v in self.ends.items())


async def worker(args, jobs, tally, pgn):
    async def open_both():
        return [await open_engine(args.engine[0], args.option1), await open_engine(args.engine[1], args.option2)]

    engines = await open_both()
    while jobs:
        number, fen = jobs.pop(0)
        first_is_white = number % 2 == 0
        seats = engines if first_is_white else engines[::-1]
        board, result, reason = await play(seats, fen, args)
        if reason == "crash":
            await asyncio.gather(*(engine.quit() for engine in engines), return_exceptions=True)
            engines = await open_both()
        white = {"1-0": 1, "0-1": 0}.get(result, 0.5)
        points = white if first_is_white else 1 - white
        tally.add(number, points, reason, "first" if points == 0 else "second")
        print(f"game {number + 1}: {result} {reason}; {tally}", flush=True)
        if pgn:
            game = chess.pgn.Game.from_board(board)
            game.headers.update(White=args.engine[0 if first_is_white else 1], Black=args.engine[1 if first_is_white else 0],
                                Result=result, Termination=reason)
            print(game, end="\n\n", file=pgn, flush=True)
    for engine in engines:
        await engine.quit()


async def main():
    args = arguments()
    if len(args.engine) != 2:
        sys.exit("give --engine twice")
    lines = [line.strip() for line in open(args.openings) if line.strip()]
    random.Random(args.seed).shuffle(lines)
    fens = [" ".join(line.split(";")[0].split()[:6]) for line in lines]
    jobs = [(n, fens[n // 2 % len(fens)]) for n in range(args.games)]
    tally = Tally()
    pgn = open(args.pgn, "a") if args.pgn else None
    await asyncio.gather(*(worker(args, jobs, tally, pgn) for _ in range(args.concurrency)))
    print(tally)


asyncio.run(main())
