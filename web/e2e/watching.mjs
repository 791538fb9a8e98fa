// Cases of those who watch.

import assert from 'node:assert/strict';
import { Arena, TOKEN, TOURNAMENT, until } from './arena.mjs';
import { moves, visit } from './browser.mjs';

const plies = (page) => page.locator('.moves button').count();

export async function aGameIsWatchedToItsEnd({ arena, browser }) {
  const page = await visit(browser, arena.url);
  await page.getByText('No game is running').waitFor();
  arena.startBots();
  await page.locator('.card:not(.ended) a').first().click();
  await page.waitForURL(/\/game\//);
  await until('a dozen plies', async () => (await plies(page)) >= 12);

  // Back and forth, while the game goes on.
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  const shown = () => page.locator('.moves [aria-current]').getAttribute('data-ply');
  assert.equal(await shown(), '1');
  const start = await page.locator('.stage .board').getAttribute('aria-label');
  const before = await plies(page);
  await until('the game goes on', async () => (await plies(page)) > before || (await page.locator('.over').count()) > 0);
  assert.equal(await shown(), '1', 'the position shown stays');
  assert.equal(await page.locator('.stage .board').getAttribute('aria-label'), start);
  await page.keyboard.press('f');
  await page.locator('.stage .orientation-black').waitFor();

  // A reload in the middle loses nothing.
  const known = await moves(page);
  await page.reload();
  await until('all moves are back', async () => (await plies(page)) >= known.length);
  assert.deepEqual((await moves(page)).slice(0, known.length), known);

  await page.locator('.over').waitFor();
  assert.match(await page.locator('.over').textContent(), /(1–0|0–1|½–½) \S/);
  const told = await arena.api(`games/${page.url().split('/').at(-1)}`);
  assert.deepEqual(await moves(page), told.plies.map(({ san }) => san));
  await page.leave();
}

export async function standingsComeLive({ arena, browser }) {
  const page = await visit(browser, `${arena.url}/tournament/${TOURNAMENT}`);
  const row = (name) => page.locator('.standings tbody tr', { hasText: name });
  for (const name of ['alice', 'bob', 'carol']) await row(name).waitFor();
  await page.locator('.state', { hasText: 'complete' }).waitFor();
  const { players } = await arena.api(`tournaments/${TOURNAMENT}`);
  const texts = await page.locator('.standings tbody tr').allTextContents();
  for (const [place, { name }] of players.entries()) assert.ok(texts[place].includes(name), texts.join('\n'));
  assert.ok((await page.locator('.rounds li').count()) > 0);
  await page.locator('.rounds a[href^="/game/"]').first().click();
  await page.locator('.moves button').first().waitFor();
  const current = () => page.locator('.top nav [aria-current]').allTextContents();
  assert.deepEqual(await current(), ['Tournaments'], 'a game belongs to the page where it was opened');
  await page.reload();
  await page.locator('.moves button').first().waitFor();
  assert.deepEqual(await current(), ['Tournaments']);
  await page.goBack();
  await page.getByRole('link', { name: 'Projector' }).click();
  await page.locator('.projector .standings').waitFor();
  await page.leave();
}

/** With an arena and bots of its own: the kill would disturb the other cases. */
export async function thePageComesBackAfterAKill({ browser }) {
  const arena = await Arena.open({ time: '2+0' });
  const page = await visit(browser, `${arena.url}/tournament/${TOURNAMENT}`, { expected: /ERR_|WebSocket|Failed to load/ });
  await page.locator('.standings').waitFor();
  arena.startBots();
  // Points of those who have some, by their names.
  const points = async () => {
    const rows = await page.locator('.standings tbody tr').evaluateAll((rows) =>
      rows.map((row) => ['.name', '.score'].map((part) => row.querySelector(part)?.textContent?.trim() ?? '')),
    );
    const number = (text) => (parseInt(text, 10) || 0) + (text.endsWith('½') ? 0.5 : 0);
    return new Map(rows.map(([name, score]) => [name, number(score)]).filter(([, score]) => score > 0));
  };
  // Paused in its first game, it is not over before a slow machine has shown a result.
  const path = `tournaments/${TOURNAMENT}`;
  const plays = async () => (await arena.api('games')).games.some(({ state }) => state === 'running');
  await until('a game', plays);
  assert.equal((await arena.change('POST', `${path}/pause`)).status, 204);
  await until('its points', async () => (await points()).size > 0);
  const [[name, shown]] = await points();
  assert.equal((await arena.change('POST', `${path}/resume`)).status, 204);
  await until('the next game', plays);
  await arena.kill();
  await page.getByText('Connection lost').waitFor();
  await arena.start();
  await page.getByText('Connected again').waitFor();
  // What has been shown is not lost, and the tournament goes on to its end.
  await until('no fewer points', async () => (await points()).get(name) >= shown);
  await page.locator('.state', { hasText: 'complete' }).waitFor();
  const { players } = await arena.api(path);
  const sum = players.reduce((sum, { score }) => sum + score, 0);
  assert.equal(sum, (players.length * (players.length - 1)) / 2, 'each pair has played one game');
  await page.leave();
}

export async function aBotShowsItsOwnGames({ browser }) {
  // A game that is still running when it is stopped; and two accounts that play beside the tournament.
  const accounts = { accounts: ['erin', 'frank'], inClass: false };
  const arena = await Arena.open({ names: ['alice', 'bob'], time: '60+0', ...accounts });
  const url = await arena.startBotWithPage('alice', 'erin');
  const page = await visit(browser, `${url}/bot`, { expected: /401/ });
  await page.getByRole('heading', { name: 'Bot' }).waitFor();
  // Nobody else stops it.
  const stop = page.getByRole('button', { name: 'Stop after the running games' });
  assert.equal(await stop.count(), 0);
  assert.equal(await page.evaluate(async () => (await fetch('/api/bot/stop', { method: 'POST' })).status), 401);
  arena.startBots(['bob']);
  await page.locator('.card', { hasText: 'bob' }).first().waitFor();
  await page.locator('.uplot').waitFor();
  await page.goto(`${url}/bot#token=${TOKEN}`);
  await page.reload();

  // It challenges and blocks whom its owner names.
  arena.startAccounts(['frank']);
  await page.getByText('Challenge a player').click();
  await page.getByLabel('Opponent').fill('frank');
  await page.getByRole('button', { name: 'Challenge', exact: true }).click();
  await page.locator('.card', { hasText: 'frank' }).waitFor();
  await page.locator('.box', { hasText: 'Challenges of the bot' }).getByText('accepted').waitFor();
  await page.getByText('Block a player').click();
  await page.getByLabel('Player', { exact: true }).fill('mallory');
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  await page.getByRole('button', { name: 'Unblock mallory' }).waitFor();
  // Nobody else hears whom.
  const visitor = await page.evaluate(async () => (await fetch('/api/bot')).json());
  assert.deepEqual([visitor.blocked, visitor.errors], [null, null]);
  await stop.click();
  await page.getByText('Stops after the running games.').waitFor();
  await page.leave();
  await arena.kill();
}
