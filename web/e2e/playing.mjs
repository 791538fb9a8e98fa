// Cases of those who play.

import assert from 'node:assert/strict';
import { until } from './arena.mjs';
import { begin, click, clickSquare, drag, moves, visit } from './browser.mjs';

export async function aMateIsClicked({ arena, browser }) {
  const page = await visit(browser, `${arena.url}/play`, { expected: /503/ });
  await begin(page, { fen: '6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1' });
  await click(page, 'a1', 'a8');
  await page.locator('.over', { hasText: '1–0' }).waitFor();
  assert.deepEqual(await moves(page), ['Ra8#']);
  // A busy server is asked again.
  await page.route('**/api/analysis', (route) => route.fulfill({ status: 503, json: { error: 'busy' } }), { times: 1 });
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
  await page.getByLabel('Move, such as').fill('b2b3');
  await page.keyboard.press('Enter');
  await until('a typed move is played', async () => (await moves(page)).length >= 3);
  await page.getByRole('button', { name: 'Resign' }).click();
  await page.getByRole('button', { name: 'Yes' }).click();
  await page.locator('.over', { hasText: '0–1' }).waitFor();
  await page.leave();
}

export async function aPieceIsDroppedFromTheHand({ arena, browser }) {
  const white = await visit(browser, `${arena.url}/play`);
  // The knight in hand mates on f7: the king is hemmed in by its own pieces.
  await begin(white, { opponent: 'human', kind: 'crazyhouse', fen: '6rk/6pp/8/8/8/8/8/K7[Nn] w - - 0 1' });
  const black = await visit(browser, await white.locator('.invitation code').textContent());
  await black.locator('.stage .orientation-black').waitFor();
  const hand = (page, side) => page.getByRole('group', { name: `Pieces in hand, ${side}` });
  // Others may see what is in a hand, but not take from it.
  await hand(black, 'White').getByRole('img', { name: 'knight: 1' }).click();
  assert.equal(await black.locator('square.move-dest').count(), 0);
  await hand(white, 'White').getByRole('img', { name: 'knight: 1' }).click();
  await white.locator('.hand .chosen').waitFor();
  await clickSquare(white, 'f7');
  for (const page of [white, black]) {
    await page.locator('.over', { hasText: '1–0' }).waitFor();
    assert.deepEqual(await moves(page), ['N@f7#']);
    await hand(page, 'White').getByRole('img', { name: 'knight: 0' }).waitFor();
    await hand(page, 'Black').getByRole('img', { name: 'knight: 1' }).waitFor();
  }
  await white.leave();
  await black.leave();
}
