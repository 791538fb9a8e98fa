// The real arena and its bots, as processes of their own.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAM = process.env.ZEITNOT ?? new URL('../../target/debug/zeitnot', import.meta.url).pathname;
// URLs of empty databases of a PostgreSQL server, one for each arena; without them each has a file.
const databases = process.env.DATABASES?.split(' ');
const LOOK_MS = 25;
// Far more than any step takes, even on a busy machine; the script has a limit of its own.
export const LONG_MS = 100_000;
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

const tokenOf = (name) => `lip_${name}`;

/** Keys of a table in a configuration. */
const lines = (keys) =>
  Object.entries(keys)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n');

function start(folder, name, command, config) {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, config);
  return run(folder, [command, '--config', file]);
}

const TIMES = { pairing_interval: '50ms', pause: '300ms' };

/** An arena with one tournament, whose players have yet to come, or with none; some players use the Lichess API. */
export class Arena {
  #bots = new Map();

  static async open({ names = ['alice', 'bob', 'carol'], time = '2+0', share = 1, settings = {}, accounts = [], inClass = true } = {}) {
    const folder = newFolder();
    const [port, tcp, websocket, lichess] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const url = `http://127.0.0.1:${port}`;
    const database = databases ? `database = "${databases.shift()}"` : '';
    const known = { folder, database, port, tcp, websocket, lichess, names, time, share, settings, accounts, inClass, url };
    const arena = Object.assign(new Arena(), known);
    await arena.start();
    return arena;
  }

  async start() {
    const keys = { time: this.time, players: this.names.length, games_per_pair: 1, ...TIMES, ...this.settings };
    const tournament = `
[[arena.tournament]]
name = "${TOURNAMENT}"
${lines(keys)}`;
    const inClass = this.inClass ? { class: TOURNAMENT } : {};
    const accounts = this.accounts.map((name) => lines({ name, token: tokenOf(name), title: 'BOT', ...inClass }));
    const lichess = `
[arena.lichess]
listen = "127.0.0.1:${this.lichess}"
${accounts.map((account) => `[[arena.lichess.account]]\n${account}`).join('\n')}`;
    const config = `
[arena]
tcp = "127.0.0.1:${this.tcp}"
websocket = "127.0.0.1:${this.websocket}"
games = "games"
${this.database}
[arena.web]
listen = "127.0.0.1:${this.port}"
${this.names.length > 0 ? tournament : ''}
${this.accounts.length > 0 ? lichess : ''}`;
    this.process = start(this.folder, 'arena', 'arena', config);
    await until('the arena answers', () => this.api('status'));
  }

  /** They use up their clocks, so that a game takes some seconds on every machine. */
  startBots(names = this.names, transport = 'tcp') {
    const address = transport === 'tcp' ? `tcp://127.0.0.1:${this.tcp}` : `ws://127.0.0.1:${this.websocket}`;
    for (const player of names) this.#startBot(player, [{ protocol: 'contest', address, tournament: TOURNAMENT, player }]);
  }

  /** Bots that think they are on Lichess. */
  startAccounts(names = this.accounts) {
    for (const name of names) this.#startBot(name, [this.#account(name)]);
  }

  #account(name) {
    return { protocol: 'lichess', url: `http://127.0.0.1:${this.lichess}`, token: tokenOf(name) };
  }

  /** A bot with a page of its own, if need be with an account as well; returns its address. */
  async startBotWithPage(player, account = null) {
    const listen = `127.0.0.1:${await freePort()}`;
    const address = `tcp://127.0.0.1:${this.tcp}`;
    const servers = [{ protocol: 'contest', address, tournament: TOURNAMENT, player }];
    if (account) servers.push(this.#account(account));
    this.#startBot(player, servers, `[web]\nlisten = "${listen}"`);
    const url = `http://${listen}`;
    await until('the page of the bot answers', async () => (await fetch(`${url}/api/status`)).ok);
    return url;
  }

  #startBot(name, servers, page = '') {
    const config = `
${page}
[engine]
hash_mib = 1
[bot]
time_share = ${this.share.toFixed(2)}
[cache]
memory_mib = 0
${servers.map((server) => `[[server]]\n${lines(server)}`).join('\n')}`;
    this.#bots.set(name, start(this.folder, name, 'play', config).child);
  }

  /** A bot that is held answers nothing. */
  hold(name) {
    this.#bots.get(name).kill('SIGSTOP');
  }

  letGo(name) {
    this.#bots.get(name).kill('SIGCONT');
  }

  /** As at a power cut. */
  async kill() {
    this.process.child.kill('SIGKILL');
    await this.process.ended;
  }

  async api(path) {
    const response = await fetch(`${this.url}/api${path && `/${path}`}`);
    return response.ok ? response.json() : null;
  }

  /** As the organiser. */
  async change(method, path, body) {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    return fetch(`${this.url}/api/${path}`, { method, headers, body: JSON.stringify(body) });
  }

  async text(path) {
    return (await fetch(`${this.url}/api/${path}`)).text();
  }

  get told() {
    return this.process.told.join('');
  }
}
