"""Stands for the modules of lichess-bot that a homemade.py imports. No need to change this file.

Written from lichess-bot's interface: a homemade.py finds the names that it imports, and its engine the calls that it gets there.
"""

import datetime
import importlib.util
import logging
import os
import sys
import types

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Speeds of Lichess, by the expected seconds of a game for each player.
SPEEDS = [(30, "ultraBullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid"), (float("inf"), "classical")]
PARTS = "blocklist config conversation engine_wrapper lichess lichess_bot lichess_types matchmaking model strategies timer types"
OLD_NAMES = "config conversation lichess matchmaking model strategies timer"  # of the parts, before there was lib
FOLDERS = ["lib", "engines", "test_bot"]


class Configuration(dict):
    """Keys of a configuration as attributes. A key that is missing is None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.get(name)
        return Configuration(value) if isinstance(value, dict) else value

    def lookup(self, name):
        return getattr(self, name)


def seconds(count):
    return datetime.timedelta(seconds=count)


class Game(Configuration):
    """The game that an engine plays, as far as it is known. The opponent is a bot that has no rated games."""

    def __init__(self, board, clock, username):
        white, usual = board.turn, type(board).starting_fen
        start = board.root().fen()
        variant = "Chess960" if board.chess960 else "Standard" if start == usual else "From Position"
        if type(board).uci_variant != "chess":
            variant = type(board).aliases[0]
        speed = next(speed for limit, speed in SPEEDS if clock.own + 40 * clock.increment < limit)
        me, opponent = (
            Configuration(name=name, title="BOT", is_bot=True, rating=1500, provisional=True) for name in (username, "opponent")
        )
        super().__init__(
            id="arena",
            username=username,
            base_url="",
            speed=speed,
            perf_name=speed[0].upper() + speed[1:],
            variant_name=variant,
            mode="casual",
            initial_fen="startpos" if start == usual else start,
            clock_initial=seconds(round(clock.own) or clock.own),  # which runs already
            clock_increment=seconds(clock.increment),
            is_white=white,
            my_color="white" if white else "black",
            opponent_color="black" if white else "white",
            me=me,
            opponent=opponent,
            white=me if white else opponent,
            black=opponent if white else me,
            game_start=datetime.datetime.now(datetime.timezone.utc),
        )

    def update(self, board, clock):
        """Stores the moves and the clocks."""
        own, opponent, increment = (round(1000 * left) for left in (clock.own, clock.opponent, clock.increment))
        white, black = (own, opponent) if self.is_white else (opponent, own)
        moves = " ".join(move.uci() for move in board.move_stack)
        self["state"] = dict(moves=moves, wtime=white, btime=black, winc=increment, binc=increment, status="started")

    def url(self):
        return self.id

    short_url = url

    def time_control(self):
        return f"{self.clock_initial.total_seconds():.0f}+{self.clock_increment.total_seconds():.0f}"

    def my_remaining_time(self):
        return seconds(self.state.wtime / 1000 if self.is_white else self.state.btime / 1000)

    def is_abortable(self):
        return " " not in self.state.moves


class EngineWrapper:
    """Base class of engines."""

    def __init__(self, options=None, draw_or_resign=None):
        self.scores = []
        self.draw_or_resign = draw_or_resign or Configuration()
        self.go_commands = Configuration((options or {}).pop("go_commands", None) or {})
        self.move_commentary = []
        self.comment_start_index = -1

    def name(self):
        return self.engine.id["name"]

    def get_pid(self):
        return "?"

    def ping(self):
        self.engine.ping()

    def quit(self):
        self.engine.quit()


class MinimalEngine(EngineWrapper):
    """Base class of homemade engines."""

    def __init__(self, commands=None, options=None, stderr=None, draw_or_resign=None, game=None, debug=False, **popen_args):
        super().__init__(options, draw_or_resign)
        self.engine_name = type(self).__name__
        self.engine = FillerEngine(self, self.engine_name)

    def search(self, board, time_limit, ponder, draw_offered, root_moves):
        raise NotImplementedError("the class has no search(self, board, ...)")

    def notify(self, method_name, *args, **kwargs):
        """Called for each call of a method of `self.engine`."""


class FillerEngine:
    """`self.engine` of a homemade engine."""

    def __init__(self, main_engine, name=""):
        self.id = {"name": name}
        self.name = name
        self.main_engine = main_engine

    def __getattr__(self, method_name):
        return lambda *args, **kwargs: self.main_engine.notify(method_name, *args, **kwargs)


class Annotation:
    """A type of lichess-bot, for annotations."""

    def __class_getitem__(cls, _):
        return cls


class Module(types.ModuleType):
    """A module of lichess-bot. Names that it lacks are types for annotations."""

    __path__ = []
    Configuration = Configuration
    EngineWrapper = EngineWrapper
    MinimalEngine = MinimalEngine
    FillerEngine = FillerEngine
    Game = Game
    seconds = staticmethod(seconds)
    msec = staticmethod(lambda count: seconds(count / 1000))
    to_seconds = staticmethod(lambda duration: duration.total_seconds())
    to_msec = staticmethod(lambda duration: duration.total_seconds() * 1000)
    logger = logging.getLogger("lichess-bot")

    def __getattr__(self, name):
        # A name that lib lacks may be a module in it.
        if name.startswith("__") or self.__name__ == "lib":
            raise AttributeError(name)
        return type(name, (Annotation,), {})


def install():
    """Makes the modules importable, by their names of today and of earlier versions, and shows what they log."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")  # on stderr
    for name in ["lib", "engine_wrapper"] + ["lib." + part for part in PARTS.split()]:
        sys.modules[name] = Module(name)
    # The student's own modules in lib are found, too.
    sys.modules["lib"].__path__ = [os.path.join(FOLDER, "lib")]
    for part in PARTS.split():
        setattr(sys.modules["lib"], part, sys.modules["lib." + part])
    # The student may have other modules of these names.
    for name in OLD_NAMES.split():
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = Module(name)


def missing(name):
    """Returns what to do about a missing module that may be in lichess-bot's folder, or None."""
    if name.split(".")[0] not in FOLDERS:
        return None
    file = name.replace(".", "/")
    return f"homemade.py needs {name}, which is not here: copy {file} or {file}.py from the folder of your lichess-bot"
