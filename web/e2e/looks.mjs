// What all pages have in common: accessible in both colour schemes, of every width, and small.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { TOURNAMENT, until } from './arena.mjs';
import { visit } from './browser.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MAX_KIB = 300;

/** Pages by name, with what must be there before they are looked at. */
async function pages(arena) {
  const games = await until('a game', async () => (await arena.api('games')).games.at(-1));
  return {
    live: ['/', '.cards article'],
    game: [`/game/${games.id}`, '.moves button'],
    play: ['/play', 'select[name=kind] option:nth-child(2)'],
    tournaments: ['/tournaments', 'li.box'],
    tournament: [`/tournament/${TOURNAMENT}`, '.standings tbody th'],
    projector: [`/tournament/${TOURNAMENT}/projector`, '.standings tbody th'],
  };
}

export async function pagesAreAccessible({ arena, browser }) {
  const faults = [];
  const page = await visit(browser, arena.url, { reducedMotion: 'reduce' });
  for (const [name, [path, ready]] of Object.entries(await pages(arena))) {
    await page.goto(arena.url + path);
    await page.locator(ready).first().waitFor({ state: 'attached' });
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

export async function pagesFitAPhoneAndAreSmall({ arena, browser }) {
  const page = await visit(browser, arena.url, { viewport: { width: 390, height: 844 } });
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  for (const [name, [path, ready]] of Object.entries(await pages(arena))) {
    await page.goto(arena.url + path);
    await page.locator(ready).first().waitFor({ state: 'attached' });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px too wide for a phone`);
  }
  assert.ok(bytes < MAX_KIB * 1024, `${bytes} bytes for all pages`);
  await page.leave();
}
