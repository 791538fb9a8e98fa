// Cases of tournaments in other games than chess, and of the players that the arena provides.

import assert from 'node:assert/strict';
import { Arena, TOKEN, until } from './arena.mjs';
import { moves, visit } from './browser.mjs';

const asOrganiser = (browser, arena, path, options = {}) => visit(browser, `${arena.url}${path}#token=${TOKEN}`, options);
const PLAYERS = ['random', 'greedy'];
const row = (page, name) => page.locator('.standings tbody tr', { has: page.locator('.name', { hasText: name }) });

/** Opens the form and fills in what all tournaments here have. */
async function fill(page, name, game) {
  await page.getByRole('button', { name: 'New tournament' }).click();
  const form = page.locator('form');
  await form.locator('[name=name]').fill(name);
  await form.locator('[name=game]').selectOption(game);
  await form.locator('[name=games]').fill('1');
  for (const player of PLAYERS) await form.locator(`[name=engines][value=${player}]`).check();
  return form;
}

const create = (page) => page.getByRole('button', { name: 'Create the tournament' }).click();

/** Starts the tournament of two players, and opens its only game once it is over. */
async function play(page, game) {
  await page.getByRole('button', { name: 'Start with 2 players' }).click();
  await page.locator('.head .state', { hasText: 'complete' }).waitFor();
  await page.locator('.rounds li a').first().click();
  await page.waitForURL(/\/game\//);
  await page.locator('.panel .event', { hasText: game }).waitFor();
  await page.locator('.over').waitFor();
}

export async function anAtomicTournamentOfTheArenasPlayers({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments');
  await fill(page, 'atoms', 'atomic');
  await create(page);
  await page.waitForURL('**/tournament/atoms');
  await page.locator('.facts', { hasText: 'Atomic' }).waitFor();
  // The arena provides them, so they are there; their ratings are for chess.
  const { engines } = await arena.api('engines');
  for (const name of PLAYERS) {
    const { rating } = engines.find((engine) => engine.name === name);
    await row(page, name).filter({ hasText: 'played by the arena' }).waitFor();
    assert.ok(!(await row(page, name).textContent()).includes(String(rating)));
  }
  await play(page, 'Atomic');
  const id = page.url().split('/').at(-1);
  const told = await arena.api(`games/${id}`);
  assert.equal(told.kind, 'atomic');
  assert.deepEqual(await moves(page), told.plies.map(({ san }) => san));
  assert.doesNotMatch(await page.locator('.over').textContent(), /variant/);
  const pgn = await arena.text('tournaments/atoms/results.pgn');
  assert.match(pgn, /\[Variant "Atomic"\]/);
  const results = JSON.parse(await arena.text('tournaments/atoms/results.json'));
  assert.ok(JSON.stringify(results).includes('random'));
  await page.leave();
  await arena.kill();
}

const OPENINGS = [
  'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1',
  'rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -',
];

export async function openingsArePastedAndMistakesAreShownAtTheirFields({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments', { expected: /40[09]|422/ });
  const form = await fill(page, 'gambits', 'chess');
  await form.getByText('Openings, if').click();
  const openings = form.locator('[name=openings]');
  await openings.fill(`# two positions\n${OPENINGS[0]}\nnonsense\n`);
  await create(page);
  await form.locator('.at-field', { hasText: 'line 3' }).waitFor();
  // The field has the focus, and the wrong line is selected.
  const selected = await openings.evaluate((field) => [document.activeElement === field, field.value.slice(field.selectionStart, field.selectionEnd)]);
  assert.deepEqual(selected, [true, 'nonsense']);
  await form.locator('input[type=file]').setInputFiles({ name: 'two.epd', mimeType: 'text/plain', buffer: Buffer.from(OPENINGS.join('\n')) });
  await form.getByText('2 positions').waitFor();
  await create(page);
  await page.waitForURL('**/tournament/gambits');
  await page.locator('.facts', { hasText: 'Chess · with openings' }).waitFor();

  // The form shows them again, and what is saved is what is played.
  await page.getByRole('button', { name: 'Change the settings' }).click();
  assert.deepEqual(await openings.inputValue(), OPENINGS.join('\n'));
  await form.locator('[name=engines][value=greedy]').uncheck();
  await form.locator('[name=engines][value=level-1]').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await row(page, 'level-1').waitFor();
  await row(page, 'greedy').waitFor({ state: 'detached' });
  await play(page, 'Chess');
  const told = await arena.api(`games/${page.url().split('/').at(-1)}`);
  assert.ok(OPENINGS.some((fen) => told.start_fen.startsWith(fen)), told.start_fen);

  // A name that is taken.
  await page.goto(`${arena.url}/tournaments`);
  await fill(page, 'gambits', 'chess');
  await create(page);
  await form.locator('.at-field', { hasText: 'already exists' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.name), 'name');

  // Chess960 has openings of its own.
  await form.locator('[name=name]').fill('fischer');
  await form.locator('[name=chess960]').check();
  assert.equal(await openings.count(), 0);
  await create(page);
  await page.waitForURL('**/tournament/fischer');
  await page.locator('.facts', { hasText: 'Chess960' }).waitFor();
  await play(page, 'Chess960');
  const path = `games/${page.url().split('/').at(-1)}`;
  const { kind, chess960 } = await arena.api(path);
  assert.deepEqual([kind, chess960], ['chess', true]);
  const fischer = await arena.text(`${path}/pgn`);
  assert.match(fischer, /\[Variant "Chess960"\]/);
  await page.leave();
  await arena.kill();
}

/** Games with their boards, and what else is drawn of them. */
const BOARDS = {
  gardner: ['Gardner’s minichess', '5x5', 20, null],
  'minichess-2026': ['MiniChess (2026)', '5x6', 20, null],
  tuc: ['TUC-Chess', '5x7', 20, 'piece._-piece'],
  crazyhouse: ['Crazyhouse', '8x8', 32, '.hand'],
  'three-check': ['Three-check', '8x8', 32, null],
};

export async function gamesOnEachBoardAreWatched({ browser }) {
  const arena = await Arena.open({ names: [] });
  const page = await asOrganiser(browser, arena, '/tournaments');
  for (const [game, [title, size, pieces, more]] of Object.entries(BOARDS)) {
    const settings = { name: game, game, time_control: '20+0', games_per_pair: 1, engines: PLAYERS, pairing_interval: '20ms', pause: '0s' };
    assert.equal((await arena.change('POST', 'tournaments', settings)).status, 201, game);
    await page.goto(`${arena.url}/tournament/${game}`);
    await page.locator('.facts', { hasText: title }).waitFor();
    await play(page, title);
    await page.locator(`.stage .board-${size}`).waitFor();
    const told = await arena.api(`games/${page.url().split('/').at(-1)}`);
    assert.deepEqual(await moves(page), told.plies.map(({ san }) => san));
    // The last move is marked, and the start has all pieces.
    await until('the last move', async () => (await page.locator('.stage square.last-move').count()) >= 1);
    await page.keyboard.press('Home');
    const drawn = page.locator('.stage cg-board piece:not(._-piece):not(.fading)');
    await until(`the pieces of ${game}`, async () => (await drawn.count()) === pieces);
    if (more) await page.locator(`.stage ${more}`).first().waitFor();
  }
  await page.leave();
  await arena.kill();
}
