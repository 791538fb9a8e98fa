// Pictures of the pages for the documentation: at two widths, light and dark.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Arena, TOKEN, TOURNAMENT, until } from './arena.mjs';
import { begin, moves, visit } from './browser.mjs';

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const NAMES = 'ada boole curry dijkstra euler fermat gauss hopper ising jacobi kepler lovelace minsky noether'.split(' ');
const QUALITY = 0.7;
const PLIES = 24;
const PATIENCE_MS = 120_000;

/** The browser itself encodes WebP. */
const toWebP = (page, png) =>
  page.evaluate(
    async ([base64, quality]) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext('2d').drawImage(bitmap, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality });
      return Array.from(new Uint8Array(await blob.arrayBuffer()));
    },
    [png.toString('base64'), QUALITY],
  );

async function take(page, folder, name) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(() => scrollTo(0, 0));
      await page.waitForTimeout(300);
      const webp = await toWebP(page, await page.screenshot());
      writeFileSync(join(folder, `${name}-${size}-${colorScheme}.webp`), Buffer.from(webp));
    }
  }
}

/** The live page, the tournament in its third round or so, for everybody and for its organiser, and one of its games. */
async function pictureTournament(browser, folder) {
  const settings = { pairing: 'swiss', rounds: 5 };
  const arena = await Arena.open({ names: NAMES, time: '10+0.1', share: 0.3, settings });
  const [first, ...others] = NAMES;
  const bot = await arena.startBotWithPage(first);
  arena.startBots(others);
  const running = async () => (await arena.api('games')).games.filter(({ state }) => state === 'running');
  const leader = async () => (await arena.api(`tournaments/${TOURNAMENT}`)).players[0].score;
  await until('results', async () => (await leader()) >= 2, PATIENCE_MS);
  await until('games', async () => (await running()).filter(({ ply }) => ply >= PLIES).length >= NAMES.length / 4, PATIENCE_MS);
  // A game that is over may be forgotten while its card is still there.
  const page = await visit(browser, arena.url, { expected: /404/ });
  await page.locator('.card').first().waitFor();
  await take(page, folder, 'live');
  await page.goto(`${arena.url}/tournament/${TOURNAMENT}`);
  await page.locator('.card').first().waitFor();
  await take(page, folder, 'tournament');
  await page.locator('.card a').first().click();
  await page.locator('.uplot').first().waitFor();
  await take(page, folder, 'game');
  await page.goto(`${arena.url}/tournament/${TOURNAMENT}#token=${TOKEN}`);
  await page.getByRole('region', { name: 'Organise' }).waitFor();
  await take(page, folder, 'organiser');
  await page.goto(`${bot}/bot#token=${TOKEN}`);
  await page.locator('.uplot').waitFor();
  await take(page, folder, 'bot');
  await page.leave();
  await arena.kill();
}

async function picturePlay(browser, folder) {
  const arena = await Arena.open();
  const page = await visit(browser, `${arena.url}/play`);
  await begin(page, { time: '5+3' });
  for (const [nth, move] of ['e4', 'd4', 'Nc3'].entries()) {
    await page.getByLabel('Move, such as').fill(move);
    await page.keyboard.press('Enter');
    await until('an answer', async () => (await moves(page)).length >= 2 * nth + 2);
  }
  await page.locator('.stage .board').hover();
  await take(page, folder, 'play');
  await page.leave();
}

export async function pictures({ browser }) {
  const folder = process.env.PICTURES;
  mkdirSync(folder, { recursive: true });
  await pictureTournament(browser, folder);
  await picturePlay(browser, folder);
}
