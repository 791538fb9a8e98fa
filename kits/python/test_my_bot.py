"""Asks my_bot.py for its move in each position of positions.txt: python3 test_my_bot.py. Add positions of your own there."""

import os
import sys

from guard import FOLDER, Guard, run

SECONDS = 10.0  # on the clock; a move may take half of it


def read_positions():
    with open(os.path.join(FOLDER, "positions.txt"), encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [[field.strip() for field in line.split("|")] for line in lines if line and not line.startswith("#")]


def main():
    guard, failed = Guard(), 0
    try:
        for name, fen, good, legal in read_positions():
            move, problem = guard.choose("chess", fen, SECONDS, SECONDS, 0.0, legal.split())
            if problem:
                problem += f"; would play {move} instead"
                guard.restart()
            elif move not in good.split():
                problem = f"my_bot.py plays {move}; good: {good}"
            failed += problem is not None
            print(f"FAIL  {name}: {problem}" if problem else f"ok    {name}: {move}", flush=True)
    finally:
        guard.stop()
    sys.exit(f"{failed} failed" if failed else None)


if __name__ == "__main__":
    run(main)
