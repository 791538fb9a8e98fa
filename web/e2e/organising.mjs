// Cases of the organiser.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Arena, TOKEN, TOURNAMENT, until } from './arena.mjs';
import { visit } from './browser.mjs';

const TCP = ['alice', 'bob'];
const WEBSOCKET = ['carol', 'dave'];
const LICHESS = ['erin', 'frank'];
const ALL = [...TCP, ...WEBSOCKET, ...LICHESS];
const ROUNDS = 3;
const NOTE = 'the wrong side was entered';

const asOrganiser = (browser, arena, path, options = {}) => visit(browser, `${arena.url}${path}#token=${TOKEN}`, options);
const row = (page, name) => page.locator('.standings tbody tr', { has: page.locator('.name', { hasText: name }) });
const tournament = (arena) => arena.api(`tournaments/${TOURNAMENT}`);
const points = ({ players }) => new Map(players.map(({ name, score }) => [name, score]));
const state = (page, name) => page.locator('.head .state', { hasText: name }).waitFor();

/** Fills in the form for a tournament, except its name, and sends it. */
async function create(page, fill) {
  await page.getByRole('button', { name: 'New tournament' }).click();
  await page.getByLabel('Name', { exact: true }).fill(TOURNAMENT);
  await fill(page.locator('form'));
  await page.getByRole('button', { name: 'Create the tournament' }).click();
  await page.waitForURL(`**/tournament/${TOURNAMENT}`);
}

/** Chooses a round, and returns its pairings. */
async function round(page, number) {
  await page.getByLabel('Part shown').selectOption({ label: `Round ${number}` });
  return page.locator('.rounds li');
}

/** Six of our bots by TCP, by WebSocket and as accounts of Lichess; a correction, a kill. */
export async function aSwissOfSixBotsIsMadeAndFinished({ browser }) {
  const arena = await Arena.open({ names: [], accounts: LICHESS, share: 0.5 });
  const page = await asOrganiser(browser, arena, '/tournaments', { expected: /ERR_|WebSocket|Failed to load/ });
  await create(page, async (form) => {
    await form.locator('[name=time]').selectOption('other');
    await form.locator('[name=seconds]').fill('0.5');
    await form.locator('[name=increment]').fill('0.02');
    await form.locator('[name=pairing]').selectOption('swiss');
    await form.locator('[name=rounds]').fill(String(ROUNDS));
    await form.getByText('Tie-breaks, pause').click();
    await form.getByLabel('Tie-break 1').selectOption('Buchholz cut 1');
    await form.getByLabel('Tie-break 2').selectOption('Games won');
    await form.locator('[name=pause]').fill('0');
  });
  // The pairings wait for nobody, and the games for all.
  const patience = { pairing_interval: '50ms', ack_timeout: '300s' };
  assert.equal((await arena.change('PATCH', `tournaments/${TOURNAMENT}`, patience)).status, 200);
  arena.startBots(TCP, 'tcp');
  arena.startBots(WEBSOCKET, 'websocket');
  arena.startAccounts();
  for (const name of ALL) await row(page, name).waitFor();
  // However slow the browser is, the first round is not over before it has shown all pairings and has been paused.
  arena.hold('alice');
  await page.getByRole('button', { name: 'Start with 6 players' }).click();
  await state(page, 'running');

  await until('all are paired', async () => (await page.locator('.rounds li').count()) === ALL.length / 2);
  const begun = async () => (await tournament(arena)).pairings.filter(({ game }) => game !== null);
  await until('all others have begun', async () => (await begun()).length === ALL.length / 2 - 1);
  await page.getByRole('button', { name: 'Pause' }).click();
  await state(page, 'paused');
  arena.letGo('alice');
  await until('all others are over', async () => (await begun()).every(({ result }) => result !== null));

  // A result is corrected while the others wait.
  const before = await tournament(arena);
  const { white, black, result, game } = before.pairings.findLast(({ result }) => result !== null);
  await page.getByRole('button', { name: `Correct the result of ${white} against ${black}` }).click();
  await page.locator('dialog [name=result]').selectOption(result === '1-0' ? '0-1' : '1-0');
  await page.locator('dialog [name=note]').fill(NOTE);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.rounds .note', { hasText: NOTE }).waitFor();
  const gain = result === '1-0' ? -1 : result === '0-1' ? 1 : 0.5;
  const corrected = await until('the points follow', async () => {
    const now = await tournament(arena);
    return points(now).get(white) - points(before).get(white) === gain && now;
  });

  // Killed and started again, everything is as it was.
  await arena.kill();
  await page.getByText('Connection lost').waitFor();
  await arena.start();
  await page.getByText('Connected again').waitFor();
  await state(page, 'paused');
  assert.deepEqual(points(await tournament(arena)), points(corrected));
  await page.locator('.rounds .note', { hasText: NOTE }).waitFor();
  for (const name of ALL) await until(`${name} is back`, async () => !(await row(page, name).textContent()).includes('not connected'));
  await page.getByRole('button', { name: 'Resume' }).click();

  await state(page, 'complete');
  for (let number = 1; number <= ROUNDS; number += 1) {
    const rows = await (await round(page, number)).allTextContents();
    assert.equal(rows.length, ALL.length / 2, rows.join('\n'));
    for (const text of rows) assert.match(text, /1–0|0–1|½–½/);
  }
  const { players } = await tournament(arena);
  const sum = players.reduce((sum, { score }) => sum + score, 0);
  assert.equal(sum, (ROUNDS * ALL.length) / 2);
  assert.deepEqual(await page.locator('.standings tbody .name').allTextContents(), players.map(({ name }) => name));
  assert.deepEqual(players[0].tie_breaks.map(({ name }) => name), ['Buchholz cut 1', 'Games won']);
  for (const { name } of players[0].tie_breaks) await page.locator('.standings th', { hasText: name }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Cross table' }).locator('tbody a').count(), ROUNDS * ALL.length);
  const files = await Promise.all(['pgn', 'csv', 'json', 'trf'].map((file) => arena.text(`tournaments/${TOURNAMENT}/results.${file}`)));
  assert.ok(files[0].includes(NOTE), files[0]);
  for (const file of files) for (const name of ALL) assert.ok(file.includes(name), file);
  await page.goto(`${arena.url}/game/${game}`);
  await page.locator('.decided', { hasText: `at the board: ${NOTE}` }).waitFor();
  await page.leave();
  await arena.kill();
}

/** A program that says what it is told to say. */
async function say(arena, line) {
  const socket = connect(arena.tcp, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.write(`${line}\n`);
  return socket;
}

/** A game is forfeited and its result corrected; who comes late is let in and is to meet alice next. */
async function decide(page, arena, lateOnes) {
  // Nobody acknowledges a game here.
  assert.equal((await arena.change('PATCH', `tournaments/${TOURNAMENT}`, { ack_timeout: '100s' })).status, 200);
  await page.getByRole('button', { name: 'Start with 2 players' }).click();
  const game = (text) => page.locator('.rounds li', { hasText: text });
  await game('not started').waitFor();

  await page.getByRole('button', { name: 'Actions for alice' }).click();
  await page.locator('dialog [name=note]').fill('came late');
  await page.getByRole('button', { name: 'Forfeit the current game' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await game('forfeit: came late').getByRole('button', { name: 'Correct the result' }).click();
  await page.locator('dialog [name=result]').selectOption('1/2-1/2');
  await page.locator('dialog [name=note]').fill('the train was late');
  await page.getByRole('button', { name: 'Save' }).click();
  await game('½–½').filter({ hasText: 'forfeit: the train was late' }).waitFor();

  await page.getByRole('button', { name: 'Allow late entries' }).click();
  await page.getByRole('button', { name: 'Close entries' }).waitFor();
  await lateOnes();
  await row(page, 'carol').waitFor();
  const form = page.locator('details', { hasText: 'Pair by hand' });
  await form.locator('summary').click();
  const side = (text) => form.locator('label', { hasText: text }).locator('select');
  await side('White').selectOption('carol');
  await side('Black').selectOption('alice');
  await form.getByRole('button', { name: 'Pair', exact: true }).click();
  await until('the form is empty again', async () => (await side('White').inputValue()) === '');
}

export async function keysAdmitAndPlayersAreRemoved({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments', { expected: /40[09]|422/ });
  await create(page, async (form) => {
    await form.locator('[name=access][value=keys]').check();
    await form.locator('[name=keys]').fill('alice\nbob\ncarol');
    // What the server refuses stands at the form, which keeps what was filled in.
    await form.locator('[name=name]').fill('..');
    await form.getByRole('button', { name: 'Create the tournament' }).click();
    await form.locator('.error', { hasText: 'name' }).waitFor();
    await form.locator('[name=name]').fill(TOURNAMENT);
  });
  const keys = page.getByRole('region', { name: 'Keys' });
  const line = (name) => keys.locator('code', { hasText: `JOIN ${TOURNAMENT} ${name} ` });
  await line('alice').waitFor();
  const sockets = [await say(arena, await line('alice').textContent()), await say(arena, await line('bob').textContent())];
  await row(page, 'alice').waitFor();
  await row(page, 'bob').waitFor();

  // Refused: one with a wrong key, and one in no tournament.
  sockets.push(await say(arena, `JOIN ${TOURNAMENT} mallory guessed`), await say(arena, 'JOIN clas dora'));
  await page.locator('.strangers', { hasText: 'mallory' }).waitFor();

  // Its settings can be changed until it begins.
  await page.getByRole('button', { name: 'Change the settings' }).click();
  await page.locator('[name=time]').selectOption('60+0.5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.facts', { hasText: '1 min + 0.5 s' }).waitFor();

  await decide(page, arena, async () => sockets.push(await say(arena, await line('carol').textContent())));

  await page.getByRole('button', { name: 'Actions for bob' }).click();
  await page.locator('dialog [name=note]').fill('plays under a false name');
  await page.getByRole('button', { name: 'Remove from the tournament' }).click();
  await page.getByRole('button', { name: 'Yes, remove bob' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await until('bob is out', async () => {
    const bob = (await tournament(arena)).players.find(({ name }) => name === 'bob');
    return bob.withdrawn;
  });
  await page.locator('.rounds li', { hasText: /carol.*–.*alice.*not started/s }).waitFor();
  await page.getByRole('link', { name: 'Tournaments' }).click();
  await page.locator('.box', { hasText: 'dora' }).waitFor();
  for (const socket of sockets) socket.destroy();
  await page.leave();
  await arena.kill();
}

/** The second click finds the button to pause in the place of the one to start. */
export async function aDoubleClickStartsAndDoesNotPause({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments');
  await create(page, async (form) => {
    for (const name of ['random', 'greedy']) await form.locator(`[name=engines][value=${name}]`).check();
    await form.locator('[name=games]').fill('100');
  });
  const orders = [];
  page.on('request', (request) => request.method() === 'POST' && orders.push(request.url().split('/').at(-1)));
  const second = page.evaluate(
    () =>
      new Promise((done) => {
        const look = () => {
          const pause = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Pause');
          if (!pause) return requestAnimationFrame(look);
          pause.click();
          done();
        };
        look();
      }),
  );
  await page.getByRole('button', { name: 'Start with 2 players' }).click();
  await second;
  await page.waitForTimeout(100);
  assert.deepEqual(orders, ['start']);
  await page.getByRole('button', { name: 'Pause' }).click();
  await state(page, 'paused');
  await page.leave();
  await arena.kill();
}

/** A refused value is told below its field, which has the focus, without the key of the API and a place in its JSON. */
export async function aRefusalStandsAtItsField({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments', { expected: /422/ });
  await page.getByRole('button', { name: 'New tournament' }).click();
  await page.locator('[name=name]').fill(TOURNAMENT);
  await page.locator('[name=time]').selectOption('other');
  await page.locator('[name=seconds]').fill('1000000000');
  await page.getByRole('button', { name: 'Create the tournament' }).click();
  await page.locator('form .error:not(:empty)').waitFor();
  const texts = await page.locator('form .error').allTextContents();
  assert.ok(texts.length === 2 && !/time_control|at line/.test(texts.join()), texts.join('\n'));
  assert.equal(await page.evaluate(() => document.activeElement.name), 'seconds');
  await page.leave();
  await arena.kill();
}

export async function enginesAreOfferedForTheirGames({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments');
  const engines = [
    { name: 'random', rating: 300, built_in: true, games: ['chess', 'chess960', 'gardner'] },
    { name: 'files', rating: null, built_in: false, games: ['minichess-2023'] },
    { name: 'stockfish', rating: null, built_in: false, games: ['chess'] },
  ];
  await page.route('**/api/engines', (route) => route.fulfill({ json: { engines } }));
  await page.getByRole('button', { name: 'New tournament' }).click();
  const form = page.locator('form');
  const offered = () => form.locator('[name=engines]').evaluateAll((boxes) => boxes.map(({ value }) => value).join());
  const offers = (names) => until(`it offers ${names}`, async () => (await offered()) === names, 10_000);
  await offers('random,stockfish');
  await form.locator('[name=engines][value=stockfish]').check();
  await form.locator('[name=chess960]').check();
  await offers('random');
  await form.locator('[name=game]').selectOption('minichess-2023');
  await offers('files');
  // One that was chosen for another game is not sent.
  await form.locator('[name=name]').fill(TOURNAMENT);
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await form.getByRole('button', { name: 'Create the tournament' }).click();
  assert.deepEqual((await sent).postDataJSON().engines, []);
  await page.waitForURL(`**/tournament/${TOURNAMENT}`);
  await page.leave();
  await arena.kill();
}

export async function aTournamentIsDeletedBeforeItBegins({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments');
  await create(page, async () => {});
  const watching = await visit(browser, `${arena.url}/tournament/${TOURNAMENT}`);
  await watching.locator('.head').waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: `Yes, delete ${TOURNAMENT}` }).click();
  await page.waitForURL('**/tournaments');
  await watching.locator('.notice').waitFor();
  assert.deepEqual((await arena.api('tournaments')).tournaments, []);
  await watching.leave();
  await page.leave();
  await arena.kill();
}

/** All that the document of the API says to change something, except what everybody may. */
const EVERYBODYS = /^\/api\/(tables|analysis)$/;

async function changes(arena) {
  const { paths } = await arena.api('');
  const all = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => [method, path]));
  return all.filter(([method, path]) => method !== 'get' && !EVERYBODYS.test(path));
}

export async function nobodyElseChangesAnything({ arena, browser }) {
  const path = `/tournament/${TOURNAMENT}`;
  const page = await visit(browser, arena.url + path, { expected: /40[14]/ });
  await page.locator('.standings').waitFor();
  const before = await page.locator('main').getByRole('button').allTextContents();
  assert.ok(before.every((text) => /Copy|‹|›/.test(text)), before.join());
  const found = await changes(arena);
  assert.ok(found.length >= 10, String(found));
  const tries = await page.evaluate(
    ([found, name]) =>
      Promise.all(
        found.map(async ([method, path]) => {
          const way = path.replace('{name}', name).replace(/\{\w+\}/, 'alice');
          const headers = { 'Content-Type': 'application/json' };
          const { status } = await fetch(way, { method: method.toUpperCase(), body: '{}', headers });
          return [method, path, status];
        }),
      ),
    [found, TOURNAMENT],
  );
  for (const [method, path, status] of tries) assert.equal(status, 401, `${method} ${path}`);
  await page.goto(`${arena.url}/tournaments`);
  await page.locator('li.box').first().waitFor();
  assert.equal(await page.locator('main').getByRole('button').count(), 0);

  // A wrong token changes nothing; the right one, entered by hand, shows the buttons until it is forgotten.
  await page.goto(arena.url + path);
  const settings = page.locator('header summary');
  await settings.click();
  await page.getByRole('button', { name: 'Enter the organiser’s token' }).click();
  for (const [token, shown] of [['guessed', page.getByText('This is not the organiser’s token.')], [TOKEN, page.getByRole('button', { name: 'Forget the organiser’s token' })]]) {
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shown.waitFor();
  }
  await page.getByRole('button', { name: 'Forget the organiser’s token' }).click();
  await page.getByRole('button', { name: 'Enter the organiser’s token' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Organise' }).count(), 0);
  await page.leave();

  // The address does not keep it.
  const organiser = await asOrganiser(browser, arena, path);
  await organiser.locator('.standings').waitFor();
  assert.equal(organiser.url(), arena.url + path);
  await organiser.leave();
}
