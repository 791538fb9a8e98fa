"""Runs the class in homemade.py that has a method `search`. No need to change this file.

If there are several, a line `class = NAME` in settings.txt chooses one, or `python3 worker.py NAME`.
"""

import inspect
import sys

import chess.engine

import lichess_bot

lichess_bot.install()

try:
    import homemade  # it imports the modules that were just installed
except ModuleNotFoundError as error:
    problem = lichess_bot.missing(error.name or "")
    if problem is None:
        raise
    sys.exit(problem)
from client import read_settings  # noqa: E402


def engine_class():
    """Returns the class to run."""
    classes = {
        name: member
        for name, member in vars(homemade).items()
        if inspect.isclass(member) and issubclass(member, lichess_bot.MinimalEngine)
        if member.search is not lichess_bot.MinimalEngine.search
    }
    named = [name for name in sys.argv[1:] if not name.startswith("-")] or [read_settings().get("class")]
    if named[0]:
        chosen = getattr(homemade, named[0], None)
        if inspect.isclass(chosen) and callable(getattr(chosen, "search", None)):
            return chosen
        sys.exit(f"homemade.py has no class {named[0]} with a method search; it has {', '.join(classes) or 'none'}")
    # Its own, rather than those that it imports.
    classes = {name: member for name, member in classes.items() if member.__module__ == "homemade"} or classes
    if len(classes) != 1:
        found = f"the classes {', '.join(classes)}" if classes else "no class with a method search"
        sys.exit(f"homemade.py has {found}: name one by a line `class = NAME` in settings.txt")
    return next(iter(classes.values()))


def call(function, arguments):
    """Calls a function with as many of these arguments as it takes: lichess-bot's interface has grown."""
    for count in range(len(arguments), 0, -1):
        try:
            inspect.signature(function).bind(*arguments[:count])
        except TypeError:
            continue
        return function(*arguments[:count])
    return function()


ENGINE = engine_class()
engine = game = None


def choose_move(board, clock):
    global engine, game
    if not isinstance(board, chess.Board):
        raise ValueError(f"homemade.py plays only games of python-chess, not {board.kind}")
    if engine is None or len(board.move_stack) < 2:  # a new game
        if engine is not None:
            engine.quit()
        config = lichess_bot.Configuration()
        game = lichess_bot.Game(board, clock, read_settings().get("name") or "me")
        game.update(board, clock)
        engine = call(ENGINE, [["homemade.py"], {}, None, config, game, False])
    game.update(board, clock)
    own, opponent = (clock.own, clock.opponent) if board.turn == chess.WHITE else (clock.opponent, clock.own)
    limit = chess.engine.Limit(white_clock=own, black_clock=opponent, white_inc=clock.increment, black_inc=clock.increment)
    result = call(engine.search, [board, limit, False, False, chess.engine.PlayResult(None, None)])
    move = getattr(result, "move", result)
    return result if move is None else move  # which may say that it resigns
