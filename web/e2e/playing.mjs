// Cases of those who play.

import assert from 'node:assert/strict';
import { until } from './arena.mjs';
import { begin, click, drag, moves, visit } from './browser.mjs';

export async function aMateIsClicked({ arena, browser }) {
  const page = await visit(browser, `${arena.url}/play`);
  await begin(page, { fen: '6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1' });
  await click(page, 'a1', 'a8');
  await page.locator('.over', { hasText: '1–0' }).waitFor();
  assert.deepEqual(await moves(page), ['Ra8#']);
  await page.getByRole('button', { name: 'Analyse' }).click();
  await page.keyboard.press('Home');
  await page.locator('.thinking strong', { hasText: '#1' }).waitFor();
  await page.leave();
}

export async function twoPlayAPromotionAndAFlagFalls({ arena, browser }) {
  const white = await visit(browser, `${arena.url}/play`);
  await begin(white, { opponent: 'human', time: '0.05+0', fen: '7k/P7/8/8/8/8/p7/K7 w - - 0 1' });
  const link = await white.locator('.invitation code').textContent();
  const black = await visit(browser, link);
  await black.locator('.stage .orientation-black').waitFor();
  await click(white, 'a7', 'a8');
  await white.getByRole('dialog').getByRole('button', { name: 'queen' }).click();
  await until('Black sees the queen', async () => (await moves(black)).includes('a8=Q+'));
  await click(black, 'h8', 'g7');
  // White does nothing more, and the clock of the server runs out.
  for (const page of [white, black]) {
    await page.locator('.over', { hasText: '0–1' }).waitFor();
    assert.match(await page.locator('.over').textContent(), /Out of time/);
  }
  await white.leave();
  await black.leave();
}

export async function miniChessIsPlayedOnItsBoard({ arena, browser }) {
  const page = await visit(browser, `${arena.url}/play`);
  await begin(page, { kind: 'minichess-2023' });
  await page.locator('.stage .board-5x6').waitFor();
  await drag(page, 'a2', 'a3');
  await until('the program answers', async () => (await moves(page)).length >= 2);
  await page.getByLabel('Move, as').fill('b2b3');
  await page.keyboard.press('Enter');
  await until('a typed move is played', async () => (await moves(page)).length >= 3);
  await page.getByRole('button', { name: 'Resign' }).click();
  await page.getByRole('button', { name: 'Yes' }).click();
  await page.locator('.over', { hasText: '0–1' }).waitFor();
  await page.leave();
}
