// Pages of one headless Chromium, which must not complain of anything, and hands for its boards.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { LONG_MS } from './arena.mjs';

export const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const launch = () => chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', ...(process.env.DIST ? ['--disable-features=LocalNetworkAccessChecks'] : [])] });

/** A browser of its own: no memory of others. What its console complains of is a fault, unless it is expected. */
export async function visit(browser, url, { expected = null, ...options } = {}) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(LONG_MS);
  if (process.env.DIST) await context.route('**', fromFolder);
  const page = await context.newPage();
  const complaints = [];
  const complain = (text) => {
    if (!expected?.test(text)) complaints.push(text);
  };
  page.on('pageerror', (error) => complain(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(message.text());
  });
  await page.goto(url);
  return Object.assign(page, {
    async leave() {
      await context.close();
      assert.deepEqual(complaints, [], 'complaints of the page');
    },
  });
}

/** With DIST the page's files come from that folder, not from the program: it need not be built anew for each try. */
function fromFolder(route) {
  const { pathname } = new URL(route.request().url());
  if (pathname.startsWith('/api')) return route.continue();
  const file = join(process.env.DIST, pathname);
  return route.fulfill({ path: pathname !== '/' && existsSync(file) ? file : join(process.env.DIST, 'index.html') });
}

/** The middle of a square of the large board. */
async function middle(page, square) {
  const board = page.locator('.stage cg-board');
  const { x, y, width, height } = await board.boundingBox();
  const [columns, rows] = (await page.locator('.stage .board').getAttribute('class'))
    .match(/board-(\d)x(\d)/)
    .slice(1)
    .map(Number);
  let [column, row] = [square.charCodeAt(0) - 97, Number(square[1]) - 1];
  if ((await page.locator('.stage .orientation-black').count()) > 0) {
    column = columns - 1 - column;
    row = rows - 1 - row;
  }
  return [x + ((column + 0.5) * width) / columns, y + ((rows - row - 0.5) * height) / rows];
}

/** Plays a move by two clicks. */
export async function click(page, from, to) {
  await page.locator('.stage cg-board piece').first().waitFor();
  await clickSquare(page, from);
  await clickSquare(page, to);
}

/** Clicks a square; where a piece has been chosen, once the board shows where it may go. */
export async function clickSquare(page, square) {
  if ((await page.locator('.stage square.selected, .hand .chosen').count()) > 0) {
    await page.locator('square.move-dest').first().waitFor();
  }
  await page.mouse.click(...(await middle(page, square)));
}

/** Plays a move by dragging. */
export async function drag(page, from, to) {
  await page.locator('.stage cg-board piece').first().waitFor();
  await page.mouse.move(...(await middle(page, from)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(page, to)), { steps: 4 });
  await page.mouse.up();
}

/** The moves of the list, as they are written. */
export const moves = (page) => page.locator('.moves .san').allTextContents();

/** Fills the form and starts; returns when the board is there. */
export async function begin(page, { opponent = 'bot', color = 'white', kind = 'chess', time = '', fen = '' }) {
  await page.locator(`input[name=opponent][value=${opponent}]`).check();
  await page.locator(`input[name=color][value=${color}]`).check();
  await page.locator('select[name=kind]').selectOption(kind);
  if (/^[\d.]+\+\d+$/.test(time)) {
    const [minutes, increment] = time.split('+');
    await page.locator('select[name=time]').selectOption('other');
    await page.getByLabel('Minutes').fill(minutes);
    await page.getByLabel('Increment in seconds').fill(increment);
  } else await page.locator('select[name=time]').selectOption(time);
  if (fen) {
    await page.getByText('Start position (FEN)').first().click();
    await page.locator('input[name=fen]').fill(fen);
  }
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL(/\/table\//);
  await page.locator('.stage cg-board piece').first().waitFor();
}
