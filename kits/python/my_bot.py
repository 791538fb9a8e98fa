"""Your bot. Only this file is yours to change; README.md explains the others.

Try it: python3 test_my_bot.py, then python3 play_local.py, then python3 client.py NAME.
"""

import random

VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}


def choose_move(board, clock):
    """Returns a move: a chess.Move, or text such as "e2e4" or "Nf3".

    board: a chess.Board (https://python-chess.readthedocs.io/en/stable/core.html). In games that python-chess does not know:
        an object with board.kind (the name of the game), board.fen (the position as text) and board.moves (the legal moves as
        text).
    clock: seconds. clock.own and clock.opponent are left for the game, clock.increment is added after each move. After
        clock.limit a random move is played instead of yours.
    """
    if not hasattr(board, "legal_moves"):
        return random.choice(board.moves)
    best_move, best_score = None, None
    for move in board.legal_moves:
        score = score_after(board, move) + random.random() / 10
        if best_score is None or score > best_score:
            best_move, best_score = move, score
    return best_move


def score_after(board, move):
    """Returns the material after a move and the opponent's best reply to it, from our side."""
    board.push(move)
    outcome = board.outcome()
    if outcome is None:
        score = min(material_after(board, reply) for reply in board.legal_moves)
    elif outcome.winner is None:
        score = 0
    else:
        score = -1000 if outcome.winner == board.turn else 1000
    board.pop()
    return score


def material_after(board, reply):
    """Returns our pieces less the opponent's after this reply of the opponent."""
    board.push(reply)
    score = -1000 if board.is_checkmate() else material(board)
    board.pop()
    return score


def material(board):
    """Returns the value of the pieces of the side to move, less that of the other side."""
    score = 0
    for piece in board.piece_map().values():
        value = VALUES[piece.symbol().lower()]
        score += value if piece.color == board.turn else -value
    return score
