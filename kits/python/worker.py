"""Calls choose_move of my_bot.py: one line in, one line out. No need to change this file.

client.py and play_local.py start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields separated
by tabs: game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and optionally
the Unix time in milliseconds at which to give up. A line out is a move, or `error: ` and the reason why there is none.
"""

import collections
import faulthandler
import importlib
import inspect
import os
import signal
import sys
import time
import traceback

from names import FILE, FUNCTION

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the client, which ends this

try:
    import chess.variant
except ImportError:
    chess = None

FOLDER = os.path.dirname(os.path.abspath(__file__))
MEMORY_MIB = 1024  # of the worker, where the system can limit it; raise it for large libraries such as PyTorch

Clock = collections.namedtuple("Clock", "own opponent increment limit")
Position = collections.namedtuple("Position", "kind fen moves")  # of a game that python-chess does not know


def main():
    requests, answers = take_over_pipes()
    faulthandler.enable(answers)  # a crash of the interpreter, such as a stack overflow, names its line
    limit_memory()
    module, problem = load()
    if "--check" in sys.argv:
        sys.exit(problem)
    for line in requests:
        answer = "error: " + problem if problem else answer_to(line.rstrip("\r\n"), module.choose_move, answers)
        print(answer, file=answers, flush=True)


def take_over_pipes():
    """Returns the client's pipes. What the bot prints goes to stderr instead, and it has no input."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return requests, answers


def limit_memory():
    try:
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MIB << 20, MEMORY_MIB << 20))
    except (ImportError, OSError, ValueError):
        pass


def load():
    """Returns the module my_bot, and why it cannot be used."""
    if chess is None:
        return None, "python-chess is not installed: python3 -m pip install chess"
    try:
        module = importlib.import_module("my_bot")
        try:
            inspect.signature(getattr(module, "choose_move", None)).bind("board", "clock")
        except TypeError:
            return None, f"{FILE} has no function {FUNCTION}(board, clock)"
        return module, None
    except ModuleNotFoundError as error:
        return None, f"no module named {error.name}{where(error)}: is it misspelt, or not installed?"
    except SyntaxError as error:
        return None, f"{FILE} cannot be read: {error.msg}, line {error.lineno} of {os.path.basename(error.filename or '')}"
    except SystemExit as error:
        return None, error.code if isinstance(error.code, str) else f"{FILE} ended: {error}"
    except BaseException as error:
        return None, f"{FILE} cannot be loaded: " + explain(error)


def answer_to(line, choose_move, answers):
    kind, fen, own, opponent, increment, moves, *more = line.split("\t")
    moves = moves.split(" ")
    own, opponent, increment = (int(ms) / 1000 for ms in (own, opponent, increment))
    # A worker that was just started may have begun late.
    limit = max(int(more[0]) / 1000 - time.time(), 0.01) if more else own
    board = boards.at(kind, fen, moves)
    try:
        if more:  # writes where the bot is, and ends the worker
            faulthandler.dump_traceback_later(limit, exit=True, file=answers)
        try:
            choice = choose_move(board.copy() if hasattr(board, "copy") else board, Clock(own, opponent, increment, limit))
        finally:
            faulthandler.cancel_dump_traceback_later()
    except MemoryError as error:
        return f"error: {FUNCTION} needed more than the {MEMORY_MIB} MiB that it may use" + where(error)
    except BaseException as error:
        return f"error: {FUNCTION} raised " + explain(error)
    text = text_of(choice, board, moves)
    if text is None:
        return f"error: {FUNCTION} returned {describe(choice)}; legal moves: {' '.join(moves)}"
    boards.played(text)
    return text


class Boards:
    """Boards of python-chess. A game's moves so far are on the board, so that it sees repetitions."""

    def __init__(self):
        self.board = None  # after the bot's last move

    def at(self, kind, fen, moves):
        try:
            board = parse(kind, fen)
        except ValueError:
            self.board = None
            return Position(kind, fen, moves)
        self.board = self.before(board) or board
        return self.board

    def before(self, board):
        """Returns the last board with the opponent's move, if that leads here."""
        last = self.board if type(self.board) is type(board) else type(board)()
        fen = board.fen()
        for move in list(last.legal_moves):
            last.push(move)
            if last.fen() == fen:
                return last
            last.pop()
        return None

    def played(self, text):
        if self.board is not None:
            self.board.push_uci(text)


boards = Boards()


def parse(kind, fen):
    """Returns the board of a game that python-chess knows, else raises ValueError."""
    if kind == "chess960":
        return chess.Board(fen, chess960=True)
    return chess.variant.find_variant(kind.replace("-", " "))(fen)


def text_of(choice, board, moves):
    """Returns the legal move that choose_move meant, or None."""
    if isinstance(choice, str) and choice in moves:
        return choice
    if isinstance(board, Position):
        return None
    try:
        move = board.parse_san(choice) if isinstance(choice, str) else choice
    except ValueError:
        return None
    return next((text for text in moves if board.parse_uci(text) == move), None)


def describe(choice):
    if choice is None:
        return "None: does every path end with `return`?"
    if getattr(choice, "resigned", False):
        return "a resignation, which is ignored"
    name = type(choice).__name__
    shown = choice if isinstance(choice, str) else str(choice) if name == "Move" else repr(choice)
    shown = " ".join(shown.split())[:60]
    return f"{shown!r}, which is not legal here" if name in ("str", "Move") else f"{shown} ({name}), which is not a move"


def explain(error):
    """Returns an exception on one line, and prints the bot's part of its traceback."""
    frames = own_frames(error)
    lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
    print("Traceback (your files only):\n" + "".join(lines), end="", file=sys.stderr, flush=True)
    text = " ".join(str(error).split())[:200]
    return type(error).__name__ + (": " + text if text else "") + where(error)


def where(error):
    frames = own_frames(error)
    if not frames:
        return ""
    return f", line {frames[-1].lineno} of {os.path.basename(frames[-1].filename)} (in {frames[-1].name})"


def own_frames(error):
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if is_own(frame.filename)]


def is_own(file):
    """Returns whether this file is the student's."""
    return file.startswith(FOLDER) and file != os.path.abspath(__file__) and "site-packages" not in file


if __name__ == "__main__":
    main()
