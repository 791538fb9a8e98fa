"""Asks worker.py for moves, and plays a legal move where it has none in time. No need to change this file."""

import os
import queue
import random
import re
import subprocess
import sys
import threading
import time

from names import FILE, FUNCTION

FOLDER = os.path.dirname(os.path.abspath(__file__))
COMMAND = [sys.executable, os.path.join(FOLDER, "worker.py")]
MARGIN = 0.4  # seconds of the clock: half to wait for the worker's reason, half for the way to the arena
SHORT = 1  # seconds of the clock; with less, a worker that replaces another gets no move
LOADING = 30  # seconds for my_bot.py and what it imports


def run(main):
    """Runs a program. Ctrl-C ends it without a traceback."""
    try:
        main()
    except KeyboardInterrupt:
        print("\nStopped.")


def time_limit(own, increment):
    """Returns the seconds that a move may take: half of the clock is left if choose_move never returns."""
    return max(own / 2, min(own / 2 + increment, own - MARGIN))


class Guard:
    """A worker. One that is late, fails or ends is to be replaced by a new one."""

    def __init__(self):
        try:
            checked = subprocess.run(COMMAND + ["--check"], cwd=FOLDER, stdin=subprocess.DEVNULL, timeout=LOADING)
        except subprocess.TimeoutExpired:
            sys.exit(f"{FILE} was not loaded after {LOADING} s. Does it wait or loop outside of functions?")
        if checked.returncode != 0:
            sys.exit(1)
        self.is_replacement = False  # of a worker that failed, and not asked yet
        self.start()

    def start(self):
        pipe = subprocess.PIPE
        self.worker = subprocess.Popen(COMMAND, cwd=FOLDER, stdin=pipe, stdout=pipe, encoding="utf-8", errors="replace")
        self.answers = queue.Queue()
        threading.Thread(target=pump, args=(self.worker.stdout, self.answers), daemon=True).start()

    def stop(self):
        self.worker.kill()
        try:
            self.worker.stdin.close()  # see play() of client.py
        except OSError:
            pass
        self.worker.wait()

    def restart(self):
        """Replaces a worker that was late or failed by a new one."""
        if not self.is_replacement:
            self.stop()
            self.start()
            self.is_replacement = True

    def choose(self, kind, fen, own, opponent, increment, moves):
        """Returns one of these legal moves, and why it is not that of choose_move, or None. Times are in seconds.

        After a problem, restart() must follow.
        """
        if self.is_replacement and own < SHORT:
            return random.choice(moves), f"less than {SHORT} s is left after a mistake"
        self.is_replacement = False
        limit = time_limit(own, increment)
        own_ms, opponent_ms, increment_ms, until = (int(s * 1000) for s in (own, opponent, increment, time.time() + limit))
        fields = [kind, fen, own_ms, opponent_ms, increment_ms, " ".join(moves), until]
        try:
            print(*fields, sep="\t", file=self.worker.stdin, flush=True)
            answer = self.answers.get(timeout=limit + min(0.5, (own - limit) / 2))
        except queue.Empty:
            answer = "no answer"
        except OSError:
            answer = None
        if answer in moves:
            return answer, None
        return random.choice(moves), self.problem(answer, limit)

    def problem(self, answer, limit):
        """Returns why this answer of the worker is no move."""
        late = f"{FUNCTION} took longer than {limit:.1f} s"
        if answer == "no answer":
            return late
        if answer and answer.startswith("error: "):
            return answer[len("error: "):]
        # The worker ends, and says where it was if it can.
        lines = self.rest(answer)
        frames = re.findall(r'File "(.*)", line (\d+) in (\S+)', "\n".join(lines))
        places = [f", at line {line} of {os.path.basename(file)} (in {name})" for file, line, name in frames if is_own(file)]
        place = places[0] if places else ""
        if lines and lines[0].startswith("Timeout"):
            return late + place
        try:
            code = self.worker.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return f"the program that runs {FUNCTION} answered {answer!r:.60}"
        return f"the program that runs {FUNCTION} ended " + (f"by signal {-code}" if code < 0 else f"with code {code}") + place

    def rest(self, line):
        """Returns this line and those that follow it at once."""
        lines = []
        try:
            while line is not None:
                lines.append(line)
                line = self.answers.get(timeout=0.2)
        except queue.Empty:
            pass
        return lines


def is_own(file):
    """Returns whether this file is the student's."""
    return file.startswith(FOLDER) and os.path.basename(file) != "worker.py" and "site-packages" not in file


def pump(stream, lines):
    """Passes lines on, and None at their end."""
    with stream:
        for line in stream:
            lines.put(line.rstrip("\n"))
    lines.put(None)
