// Asks worker.js for moves, and plays a legal move where it has none in time. No need to change this file.

import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const LOADING = 30; // seconds for my_bot.js and what it imports
const SHORT = 1; // seconds of the clock; with less, a worker that replaces another gets no move
const MARGIN = 0.4; // seconds of the clock: half to wait for the worker's reason, half for the way to the arena

/** Returns the seconds that a move may take: half of the clock is left if chooseMove never returns. */
function timeLimit(own, increment) {
  return Math.max(own / 2, Math.min(own / 2 + increment, own - MARGIN));
}

/** A worker. One that is late, fails or ends is to be replaced by a new one. */
export class Guard {
  constructor() {
    const options = { cwd: FOLDER, stdio: ['ignore', 2, 2], timeout: LOADING * 1000 };
    const checked = spawnSync(process.execPath, ['worker.js', '--check'], options);
    if (checked.error) {
      console.error(`my_bot.js was not loaded after ${LOADING} s. Does it wait or loop outside of functions?`);
    }
    if (checked.status !== 0) {
      process.exit(1); // worker.js has said where the mistake is
    }
    this.isReplacement = false; // of a worker that failed, and not asked yet
    this.start();
  }

  start() {
    const worker = spawn(process.execPath, ['--max-old-space-size=1024', 'worker.js'], {
      cwd: FOLDER,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.worker = worker;
    worker.stdin.on('error', () => {}); // the worker has ended, and so do its answers
    const lines = createInterface({ input: worker.stdout });
    lines.on('line', (line) => this.worker === worker && this.onAnswer?.(line));
    worker.on('close', () => this.worker === worker && this.onAnswer?.(ended(worker)));
  }

  stop() {
    const worker = this.worker;
    this.worker = null;
    worker.kill('SIGKILL');
  }

  /** Replaces a worker that was late or failed by a new one. */
  restart() {
    if (!this.isReplacement) {
      this.stop();
      this.start();
      this.isReplacement = true;
    }
  }

  /**
   * Returns one of these legal moves, and why it is not that of chooseMove, or null. Times are in seconds. After a problem,
   * restart() must follow.
   */
  async choose(kind, fen, own, opponent, increment, moves) {
    const random = moves[Math.floor(Math.random() * moves.length)];
    if (this.isReplacement && own < SHORT) {
      return [random, `less than ${SHORT} s is left after a mistake`];
    }
    this.isReplacement = false;
    const limit = timeLimit(own, increment);
    const times = [own, opponent, increment].map((seconds) => Math.trunc(seconds * 1000));
    const end = Math.trunc(Date.now() + limit * 1000);
    this.worker.stdin.write([kind, fen, ...times, moves.join(' '), end].join('\t') + '\n');
    // The worker needs a little to find out where the bot is.
    const answer = await this.answer(limit * 1000 + Math.min(500, (own - limit) * 500));
    if (moves.includes(answer)) {
      return [answer, null];
    }
    const problem = answer?.startsWith('error: ') ? answer.slice('error: '.length) : answer;
    return [random, problem ?? `chooseMove took longer than ${limit.toFixed(1)} s`];
  }

  /** Returns the worker's answer, or null if there is none in time. */
  async answer(milliseconds) {
    const answer = await new Promise((resolve) => {
      this.onAnswer = resolve;
      this.timer = setTimeout(resolve, milliseconds, null);
      if (this.worker.exitCode !== null || this.worker.signalCode !== null) {
        resolve(ended(this.worker)); // since its last answer
      }
    });
    clearTimeout(this.timer);
    return answer;
  }
}

function ended({ exitCode, signalCode }) {
  return `the program that runs chooseMove ended ${signalCode ? `by signal ${signalCode}` : `with code ${exitCode}`}`;
}

export function report(move, problem) {
  return problem ? `${problem}; played ${move} instead` : move;
}
