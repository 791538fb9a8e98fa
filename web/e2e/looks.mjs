// What all pages have in common: accessible in both colour schemes, of every width, and small.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Arena, TOKEN, TOURNAMENT, until } from './arena.mjs';
import { visit } from './browser.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MAX_KIB = 300;
const MAX_SHIFT = 0.05;

const OPEN = 'open';

async function openForm(page) {
  await page.locator('main header button').click();
  await page.locator('[name=pairing]').selectOption('swiss');
  await page.locator('[name=access][value=password]').check();
  await page.locator('form [name=engines]').first().waitFor();
  for (const summary of await page.locator('form details > summary').all()) await summary.click();
}

/** Pages by name, with what must be there before they are looked at; the last ones are the organiser's. */
async function pages(arena) {
  await arena.change('POST', 'tournaments', { name: OPEN, time_control: '60+0.5', access: { keys: ['alice'] } });
  const games = await until('a game', async () => (await arena.api('games')).games.at(-1));
  return {
    live: ['/', '.cards article'],
    game: [`/game/${games.id}`, '.moves button'],
    play: ['/play', 'select[name=kind] option:nth-child(2)'],
    tournaments: ['/tournaments', 'li.box'],
    tournament: [`/tournament/${TOURNAMENT}`, '.standings tbody th'],
    projector: [`/tournament/${TOURNAMENT}/projector`, '.standings tbody th'],
    organiser: [`/tournament/${OPEN}#token=${TOKEN}`, 'input[name=keys]'],
    form: ['/tournaments', 'main header button', openForm],
  };
}

export async function pagesAreAccessible({ arena, browser }) {
  const faults = [];
  const page = await visit(browser, arena.url, { reducedMotion: 'reduce' });
  for (const [name, [path, ready, prepare]] of Object.entries(await pages(arena))) {
    await page.goto(arena.url + path);
    await page.locator(ready).first().waitFor({ state: 'attached' });
    await prepare?.(page);
    await page.evaluate(AXE);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
      for (const { id, impact, nodes } of violations) {
        if (['serious', 'critical'].includes(impact)) faults.push(`${name}, ${colorScheme}: ${id}: ${nodes[0].html}`);
      }
    }
  }
  assert.deepEqual(faults, []);
  await page.leave();
}

/** A slow line and a slow phone: 1.6 Mbit/s, 150 ms away, a quarter of this processor. */
export async function theFirstPaintComesSoon({ arena, browser }) {
  const page = await visit(browser, 'about:blank', { viewport: { width: 390, height: 844 } });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const line = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 };
  await session.send('Network.emulateNetworkConditions', line);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(() => {
    globalThis.shift = 0;
    const add = (list) => list.getEntries().forEach((entry) => (globalThis.shift += entry.value));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
  });
  // A page whose content no game changes.
  await page.goto(`${arena.url}/play`);
  await page.locator('h1').waitFor();
  const [paint, shift] = await page.evaluate(() => [
    performance.getEntriesByName('first-contentful-paint')[0].startTime,
    globalThis.shift,
  ]);
  assert.ok(shift < MAX_SHIFT, `the layout jumps by ${shift}`);
  // A busy machine paints late: the figure is for those who look.
  console.log(`first paint after ${Math.round(paint)} ms`);
  await page.leave();
}

/** One line a game, and nothing is broken that belongs together. */
export async function aTournamentOnAPhoneBreaksNoLine({ browser }) {
  const arena = await Arena.open({ names: [] });
  const settings = { name: TOURNAMENT, time_control: '60+0.5', engines: ['random', 'greedy'], games_per_pair: 1 };
  await arena.change('POST', 'tournaments', { ...settings, start: 'full', players: 2 });
  await until('the game is over', async () => (await arena.api(`tournaments/${TOURNAMENT}`)).state === 'complete');
  for (const [locale, label] of [['en-GB', 'Game 1'], ['de-DE', 'Partie 1']]) {
    const page = await visit(browser, `${arena.url}/tournament/${TOURNAMENT}`, { viewport: { width: 390, height: 844 }, locale });
    const game = page.locator('.rounds li');
    await game.getByRole('link').waitFor();
    const [link, player] = [await game.getByRole('link').boundingBox(), await game.locator('.white').boundingBox()];
    assert.ok(Math.abs(link.y - player.y) < player.height / 2, `${link.y} ${player.y}`);
    assert.ok(link.x + link.width <= 390, `${link.x} ${link.width}`);
    assert.equal(await page.locator('.choice option').textContent(), label);
    // Points, games and victories are seen without scrolling.
    for (const nth of [2, 3, 4]) {
      const { x, width } = await page.locator('.standings thead th').nth(nth).boundingBox();
      const region = await page.locator('.scroll').first().boundingBox();
      assert.ok(x + width <= region.x + region.width, `${locale}: column ${nth}`);
    }
    for (const path of [null, '/tournaments']) {
      if (path) await page.goto(arena.url + path);
      await page.locator('.facts').waitFor();
      // A fact that is broken has a box on each of its lines.
      const lines = await page.locator('.fact').evaluateAll((facts) => facts.map((fact) => fact.getClientRects().length));
      assert.deepEqual(lines, lines.map(() => 1));
      assert.ok(lines.length >= 3, lines.join());
    }
    await page.leave();
  }
  await arena.kill();
}

export async function pagesFitAPhoneAndAreSmall({ arena, browser }) {
  // German words are longer.
  const page = await visit(browser, arena.url, { viewport: { width: 390, height: 844 }, locale: 'de-DE' });
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  for (const [name, [path, ready, prepare]] of Object.entries(await pages(arena))) {
    await page.goto(arena.url + path);
    await page.locator(ready).first().waitFor({ state: 'attached' });
    await prepare?.(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px too wide for a phone`);
  }
  await page.getByRole('heading', { name: 'Neues Turnier' }).waitFor();
  assert.ok(bytes < MAX_KIB * 1024, `${bytes} bytes for all pages`);
  await page.leave();
}
