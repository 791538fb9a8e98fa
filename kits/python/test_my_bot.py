"""Asks my_bot.py for its move in each position of positions.txt: python3 test_my_bot.py. Add positions of your own there."""

import os
import sys

from guard import FOLDER, Guard, run

SECONDS = 10.0  # on the clock; a move may take half of it


def read_positions():
    """Returns the lines of positions.txt: name, position, moves that pass, and legal moves."""
    import chess  # the guard has seen that it is installed

    with open(os.path.join(FOLDER, "positions.txt"), encoding="utf-8") as file:
        lines = [(f"positions.txt, line {number}", line) for number, line in enumerate(file, 1)]
    positions = []
    for place, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        try:
            name, fen, good = [field.strip() for field in line.split("|")][:3]
            legal = [move.uci() for move in chess.Board(fen).legal_moves if good]
        except ValueError:
            legal = []
        if not legal:
            sys.exit(f"{place}: expected `name | FEN | moves that pass`")
        for move in good.split():
            if move not in legal:
                sys.exit(f"{place}: '{move}' is not legal there; write moves such as e2e4")
        positions.append((name, fen, good, legal))
    return positions


def main():
    guard, failed = Guard(), 0
    try:
        for name, fen, good, legal in read_positions():
            move, problem = guard.choose("chess", fen, SECONDS, SECONDS, 0.0, legal)
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
