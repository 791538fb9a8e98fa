"""Stands for the modules of lichess-bot that a homemade.py imports. No need to change this file.

Written from lichess-bot's interface: a homemade.py finds the names that it imports, and its engine the calls that it gets there.
"""

import logging
import sys
import types


class Configuration(dict):
    """Keys of a configuration as attributes. A key that is missing is None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.get(name)
        return Configuration(value) if isinstance(value, dict) else value

    def lookup(self, name):
        return getattr(self, name)


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
        """Hears of each call of a method of `self.engine`."""


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
    logger = logging.getLogger("lichess-bot")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Annotation,), {})


def install():
    """Makes the modules importable, by their names of today and of earlier versions, and shows what they log."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")  # on stderr
    parts = ["engine_wrapper", "lichess_types", "types", "config", "model", "timer", "conversation", "lichess"]
    for name in ["lib", "engine_wrapper"] + ["lib." + part for part in parts]:
        sys.modules[name] = Module(name)
    for part in parts:
        setattr(sys.modules["lib"], part, sys.modules["lib." + part])
