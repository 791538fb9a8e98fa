"""Plays a game against my_bot.py without an arena: python3 play_local.py [greedy|random|me]. No need to change this file.

greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4 or Nf3.
"""

import random
import sys
import threading
import time

try:
    import chess
except ImportError:
    sys.exit("play_local.py needs python-chess, which is not installed: python3 -m pip install chess")

from guard import Guard, run, time_limit
from names import FILE, FUNCTION

CLOCK, INCREMENT = 60.0, 0.5  # seconds
PATIENCE = 5  # seconds until it says that the bot is still thinking
VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


def greedy(board):
    def gain(move):
        if board.is_en_passant(move):
            return 1
        return VALUES.get(board.piece_type_at(move.to_square), 0) + VALUES.get(move.promotion, 0) + random.random() / 2

    return max(board.legal_moves, key=gain)


def anything(board):
    return random.choice(list(board.legal_moves))


def person(board):
    while True:
        text = input("Your move: ").strip()
        for read in (board.parse_san, board.parse_uci):
            try:
                return read(text)
            except ValueError:
                pass
        print("Not a legal move. Legal:", " ".join(board.san(move) for move in board.legal_moves))


OPPONENTS = {"greedy": greedy, "random": anything, "me": person}


def main():
    opponent = OPPONENTS.get((sys.argv[1:] + ["greedy"])[0])
    if opponent is None:
        sys.exit("against whom? python3 play_local.py greedy, random or me; the game is chess")
    board, clock, guard = chess.Board(), CLOCK, Guard()
    bot_is = random.choice([chess.WHITE, chess.BLACK])
    print(FILE, "is", chess.COLOR_NAMES[bot_is], "(capital letters)" if bot_is else "(small letters)")
    try:
        while board.outcome(claim_draw=True) is None:
            if board.turn == bot_is:
                began, moves = time.monotonic(), [move.uci() for move in board.legal_moves]
                waiting = f"{FUNCTION} is still thinking; after {time_limit(clock, INCREMENT):.1f} s a random move is played"
                timer = threading.Timer(PATIENCE, print, [waiting])
                timer.daemon = True
                timer.start()
                text, problem = guard.choose("chess", board.fen(), clock, CLOCK, INCREMENT, moves)
                timer.cancel()
                clock += INCREMENT - (time.monotonic() - began)
                move = board.parse_uci(text)
                if problem:
                    print(f"Move {board.fullmove_number}: {problem}; played {text} instead")
                    guard.restart()
            else:
                move = opponent(board)
            print(f"\n{board.fullmove_number}. {'' if board.turn else '... '}{board.san(move)}")
            board.push(move)
            print(board, flush=True)
        outcome = board.outcome(claim_draw=True)
        winner = {None: "a draw", bot_is: f"{FILE} wins"}.get(outcome.winner, f"{FILE} loses")
        print(f"\n{winner}: {outcome.termination.name.lower().replace('_', ' ')}")
    except EOFError:  # at the question for your move
        print("\nStopped.")
    finally:
        guard.stop()


if __name__ == "__main__":
    run(main)
