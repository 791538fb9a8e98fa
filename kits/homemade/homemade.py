"""An example: takes the most valuable piece that it can. Copy your own homemade.py over this file."""

import random

from chess.engine import PlayResult

from lib.engine_wrapper import MinimalEngine

VALUES = [0, 1, 3, 3, 5, 9, 0]


class Greedy(MinimalEngine):
    """Takes the most valuable piece, else plays any move."""

    def search(self, board, *args):
        def gain(move):
            return VALUES[board.piece_type_at(move.to_square) or 0] + random.random() / 2

        return PlayResult(max(board.legal_moves, key=gain), None)
