// Plays on an arena with chooseMove of my_bot.js: node client.js NAME [KEY]. No need to change this file.
//
// The protocol is text, one message a line; docs/arena.md of Zeitnot describes it.

import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { FOLDER, Guard, report } from './guard.js';

const RETRY = 2; // seconds until the next try to reach the arena
const PATIENCE = 10; // seconds until a try fails

/** Reads settings.txt: lines `key = value`. */
function readSettings() {
  if (!existsSync(FOLDER + 'settings.txt')) {
    fail(`settings.txt is missing; it belongs in ${FOLDER}`);
  }
  const lines = readFileSync(FOLDER + 'settings.txt', 'utf8').matchAll(/^([^#=\n]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, key, value]) => [key.trim(), value.trim()]));
}

/** Joins and plays until the connection ends. Returns whether we were in, the last INFO, and an error of the network. */
async function play(host, port, guard, name, join) {
  const session = { isIn: false, last: '', error: null };
  let [kind, moves, players, number, increment] = ['chess', [], [], 0, 0];
  // With keep-alive a connection that died silently ends, too.
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 20_000 };
  const connection = connect({ host, port: Number(port), ...options }, () => {
    connection.setTimeout(0);
    send(join);
  });
  connection.setTimeout(PATIENCE * 1000, () => connection.destroy(new Error(`no answer within ${PATIENCE} s`)));
  connection.on('error', (error) => (session.error = error));
  const send = (line) => connection.write(line + '\n');
  const lines = createInterface({ input: connection });
  connection.on('close', () => lines.close()); // the loop below ends then
  try {
    for await (const line of lines) {
      const [message, ...fields] = line.split(' ');
      if (message === 'INFO') {
        session.last = fields.join(' ');
        session.isIn ||= session.last.startsWith('You joined');
        if (session.isIn && !session.last.startsWith('Game over: ')) { // GAME_OVER follows
          console.log(session.last);
        }
      } else if (message.startsWith('HTTP/')) {
        session.last = 'this is its WebSocket or web port; settings.txt needs its TCP port (8000 by default)';
      } else if (message === 'GAME_PAIRED') { // game first second seconds increment
        increment = Number(fields[4]);
        send(`ACK ${fields[0]}`);
      } else if (message === 'VARIANT') {
        kind = fields[1];
      } else if (message === 'GAME_STARTED') {
        [number, players] = [0, fields.slice(1, 3)];
        console.log(`Game of ${kind}: ${players[0]} (first) against ${players[1]}`);
      } else if (message === 'LEGAL_MOVES') {
        moves = fields.slice(1);
      } else if (message === 'YOUR_MOVE') { // game first second first's-seconds second's-seconds position
        const clocks = [Number(fields[3]), Number(fields[4])];
        const [own, opponent] = fields[1] === name ? clocks : clocks.reverse();
        const [move, problem] = await guard.choose(kind, fields.slice(5).join(' '), own, opponent, increment, moves);
        send(`MOVE ${fields[0]} ${move}`);
        console.log(`Move ${++number}: ${report(move, problem)}`);
        if (problem) {
          guard.restart();
        }
      } else if (message === 'GAME_OVER') { // game result reason
        console.log(`${outcome(name, players, fields[1])}: ${fields.slice(2).join(' ')}`);
      } else if (message === 'GAME_ABORTED') {
        console.log(`The game was aborted: ${fields.join(' ')}`);
      }
    }
  } catch (error) {
    if (error !== session.error && !error.syscall) {
      throw error;
    }
  }
  return session;
}

/** Returns how a game has ended for the player of this name. */
function outcome(name, [first, second], result) {
  const ended = result === '0.5-0.5' ? 'drew' : (result === '1-0') === (first === name) ? 'won' : 'lost';
  return `${name} ${ended} against ${first === name ? second : first}`;
}

async function main() {
  const settings = readSettings();
  const [name = settings.name, key = settings.key] = process.argv.slice(2);
  if (!/^\S+$/.test(name ?? '') || process.argv.length > 4) {
    fail('under which name? node client.js NAME [KEY], or `name = ...` in settings.txt; a name has no spaces');
  }
  const { arena: given = '', tournament = '' } = settings;
  const join = ['JOIN', tournament, name, key, '+moves', '+protocol=1'].filter(Boolean).join(' ');
  const [arena, host, port] = /([^/]+):(\d+)$/.exec(given) ?? []; // tcp://HOST:PORT, too
  if (!arena || port > 65535 || !/^\S+$/.test(tournament)) {
    const needed = 'settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`';
    fail(`${needed}; it has \`arena = ${given}\` and \`tournament = ${tournament}\``);
  }
  const guard = new Guard();
  for (let wasIn = false; ; await sleep(RETRY * 1000)) {
    const { isIn, last, error } = await play(host, port, guard, name, join);
    wasIn ||= isIn;
    const why = error?.message || error?.code;
    const problem = error ? `Cannot reach the arena at ${arena}: ${why}. Is it running, and is settings.txt right?`
      : 'The arena has closed the connection.' + (last ? '' : ` Is ${arena} its TCP port (8000 by default)?`);
    const isOver = last.endsWith('is over');
    const mayRetry = last.includes('try again') || (wasIn && last.includes('already taken'));
    if (last && !isIn) {
      if (!isOver && !mayRetry) {
        fail(`The arena does not let ${name} in: ${last}`);
      }
      console.log(last);
    }
    if (isOver) {
      process.exit();
    }
    console.log(problem);
    console.log(`Trying again in ${RETRY} s; Ctrl-C stops.`);
  }
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

main();
