// The real arena and its bots, as processes of their own.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAM = process.env.ZEITNOT ?? new URL('../../target/debug/zeitnot', import.meta.url).pathname;
const LOOK_MS = 25;
const LONG_MS = 30_000;
export const TOKEN = 'organiser-of-the-tests';
export const TOURNAMENT = 'class';

const children = new Set();
const folders = new Set();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** A port that nobody listens on now: the arena needs the same one after its restart. */
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export async function until(what, holds, limit = LONG_MS) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await holds().catch(() => null);
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(LOOK_MS);
  }
}

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'zeitnot-page-'));
  folders.add(folder);
  return folder;
}

function run(folder, words) {
  const env = { ...process.env, ZEITNOT_ORGANISER_TOKEN: TOKEN };
  const child = spawn(PROGRAM, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const told = [];
  for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (text) => told.push(text));
  children.add(child);
  const ended = new Promise((done) => child.on('exit', done)).then(() => children.delete(child));
  return { child, told, ended };
}

function start(folder, name, command, config) {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, config);
  return run(folder, [command, '--config', file]);
}

/** An arena with one tournament, whose players have yet to come. */
export class Arena {
  static async open({ names = ['alice', 'bob', 'carol'], time = '2+0', share = 1 } = {}) {
    const folder = newFolder();
    const [port, tcp] = [await freePort(), await freePort()];
    const arena = Object.assign(new Arena(), { folder, port, tcp, names, time, share, url: `http://127.0.0.1:${port}` });
    await arena.start();
    return arena;
  }

  async start() {
    const config = `
[arena]
tcp = "127.0.0.1:${this.tcp}"
games = "games"
[arena.web]
listen = "127.0.0.1:${this.port}"
[[arena.tournament]]
name = "${TOURNAMENT}"
time = "${this.time}"
players = ${this.names.length}
games_per_pair = 1
pairing_interval = "50ms"
pause = "300ms"
`;
    this.process = start(this.folder, 'arena', 'arena', config);
    await until('the arena answers', () => this.api('status'));
  }

  /** They use up their clocks, so that a game takes some seconds on every machine. */
  startBots() {
    for (const name of this.names) {
      const config = `
[engine]
hash_mib = 1
[bot]
time_share = ${this.share.toFixed(2)}
[cache]
memory_mib = 0
[[server]]
protocol = "contest"
address = "tcp://127.0.0.1:${this.tcp}"
tournament = "${TOURNAMENT}"
player = "${name}"
`;
      start(this.folder, name, 'play', config);
    }
  }

  /** As at a power cut. */
  async kill() {
    this.process.child.kill('SIGKILL');
    await this.process.ended;
  }

  async api(path) {
    const response = await fetch(`${this.url}/api/${path}`);
    return response.ok ? response.json() : null;
  }

  get told() {
    return this.process.told.join('');
  }
}
