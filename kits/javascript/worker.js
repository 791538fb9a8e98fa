// Calls chooseMove of my_bot.js: one line in, one line out. No need to change this file.
//
// The other programs start it. So can anything that speaks the `lines` protocol of Zeitnot. A line in has fields separated by
// tabs: game, position, own milliseconds, the opponent's, own increment, the legal moves separated by spaces, and optionally the
// Unix time in ms at which to give up. A line out is a move, or `error: ` and the reason why there is none.

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createInterface } from 'node:readline';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';

const MEMORY_MIB = 512; // of the worker; raise it if you need more
const FOLDER = new URL('.', import.meta.url).href;

/** Loads the bot, or says on one line why it cannot be used. */
async function check() {
  let problem = 'chess.js is not installed: npm install';
  try {
    await import('chess.js');
    problem = 'my_bot.js exports no function chooseMove(board, clock)';
    const { chooseMove } = await import('./my_bot.js');
    problem = typeof chooseMove === 'function' ? null : problem;
  } catch (error) {
    problem = problem.startsWith('chess.js') ? problem : loadingProblem(error);
  }
  if (problem) {
    console.error(problem);
  }
  process.exit(problem ? 1 : 0);
}

function loadingProblem(error) {
  const message = String(error?.message ?? error).split('\n')[0];
  const [, module, importer] = /^Cannot find (?:package|module) '(?:.*[/\\])?(.+)' imported from (.+)/.exec(message) ?? [];
  if (module) {
    const line = readFileSync(importer, 'utf8').split('\n').findIndex((text) => text.includes(module)) + 1;
    return `no module named ${module}, line ${line} of ${importer.split(/[/\\]/).pop()}: is it misspelt, or not installed?`;
  }
  if (error instanceof SyntaxError) {
    return `my_bot.js cannot be read: ${message.split('. ')[0]}${place(error) || syntaxPlace(error)}`;
  }
  return `my_bot.js cannot be loaded: ${error?.name ?? 'threw'}: ${message}${place(error)}`;
}

/** Returns the place of a syntax error. Its exception names it only if an import is wrong. */
function syntaxPlace(error) {
  const folder = new URL(FOLDER);
  const texts = [() => error.stack];
  for (const name of ['my_bot.js', ...readdirSync(folder).filter((name) => name.endsWith('.js'))]) {
    texts.push(() => spawnSync(process.execPath, ['--check', name], { cwd: folder, encoding: 'utf8' }).stderr);
  }
  for (const text of texts) {
    const [, file, line] = /^.*[/\\](.+):(\d+)\r?\n/.exec(text()) ?? [];
    if (file) {
      return `, line ${line} of ${file}`;
    }
  }
  return '';
}

async function main() {
  process.stdout.write = process.stderr.write.bind(process.stderr); // what the bot prints is not an answer
  process.on('SIGINT', () => {}); // Ctrl-C ends the client, which ends this
  const watchdog = new Worker(new URL(import.meta.url));
  await new Promise((resolve) => watchdog.once('message', resolve));
  let bot = null;
  for await (const line of createInterface({ input: process.stdin })) {
    let reply;
    try {
      bot ??= [(await import('./my_bot.js')).chooseMove, (await import('chess.js')).Chess];
      reply = await answerTo(line.split('\t'), ...bot, watchdog);
    } catch (error) {
      console.error(ownStack(error));
      const text = String(error).replace(/\s+/g, ' ').slice(0, 200);
      reply = `error: ${bot ? 'chooseMove threw' : 'my_bot.js cannot be loaded:'} ${text}${place(error)}`;
    }
    say(reply);
  }
  process.exit();
}

function say(line) {
  try {
    writeSync(1, line + '\n');
  } catch {
    process.kill(process.pid, 'SIGKILL'); // the client has ended; exit() would end only the watchdog's thread
  }
}

async function answerTo([kind, fen, own, opponent, increment, legal, end], chooseMove, Chess, watchdog) {
  const moves = legal.split(' ');
  const board = kind === 'chess' ? new Chess(fen) : { kind, fen, moves };
  const limit = end === undefined ? own : Math.max(end - Date.now(), 1);
  const clock = { own: own / 1000, opponent: opponent / 1000, increment: increment / 1000, limit: limit / 1000 };
  watchdog.postMessage(end === undefined ? null : clock.limit);
  const choice = await chooseMove(board, clock);
  watchdog.postMessage(null);
  const move = toText(choice, kind === 'chess' ? new Chess(fen) : null);
  return moves.includes(move) ? move : `error: chooseMove returned ${shown(choice)}; legal moves: ${legal}`;
}

/** Returns the move that chooseMove meant. */
function toText(choice, board) {
  try {
    return board ? board.move(choice).lan : choice;
  } catch {
    return null;
  }
}

/** Describes what is not a legal move. */
function shown(choice) {
  if (choice === undefined) {
    return 'undefined: does every path end with `return`?';
  }
  const text = typeof choice === 'string' ? `'${choice}'` : choice?.lan ?? String(JSON.stringify(choice));
  return `${text.replace(/\s+/g, ' ').slice(0, 60)}, which is not legal here`;
}

/** Keeps the lines of the stack that are in the bot's files. */
function ownStack(error) {
  const lines = String(error?.stack ?? error).split('\n');
  return lines.filter((line, at) => at === 0 || isOwn(line)).slice(0, 10).join('\n');
}

function place(error) {
  const [, name, file, line] = /at (?:(?:async )?([\w.<>]+) \()?.*\/([^/]+):(\d+):\d+/.exec(ownStack(error)) ?? [];
  return file ? `, line ${line} of ${file}${name ? ` (in ${name})` : ''}` : '';
}

function isOwn(text) {
  return text.includes(FOLDER) && !text.includes('/worker.js') && !text.includes('/node_modules/');
}

/** Ends the program when its time or memory is used up, and answers where it was. */
function watch() {
  let timer;
  parentPort.on('message', (seconds) => {
    clearTimeout(timer);
    timer = seconds === null ? null : setTimeout(giveUp, seconds * 1000, `took longer than ${seconds.toFixed(1)} s`);
  });
  setInterval(() => {
    if (process.memoryUsage.rss() > MEMORY_MIB * 2 ** 20) {
      giveUp(`needed more than the ${MEMORY_MIB} MiB that it may use`);
    }
  }, 20);
  parentPort.postMessage('ready');
}

function giveUp(reason) {
  const files = new Map();
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    const own = params.callFrames.find(({ location }) => isOwn(files.get(location.scriptId)));
    const file = own && files.get(own.location.scriptId).split('/').pop();
    say(`error: chooseMove ${reason}${own ? `, at line ${own.location.lineNumber + 1} of ${file} (in ${own.functionName})` : ''}`);
    process.kill(process.pid, 'SIGKILL');
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

if (!isMainThread) {
  watch();
} else if (process.argv.includes('--check')) {
  check();
} else {
  main();
}
