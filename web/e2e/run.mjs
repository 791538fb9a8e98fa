// Runs the page's cases against a real arena, some at a time in one browser: `node e2e/run.mjs [WORD…]` runs those
// whose name has one of the words. ZEITNOT names the program, CHROMIUM the browser, DATABASES the URLs of databases, if
// they are not to be files; PICTURES is a folder for pictures of the pages, which are taken if it is set.

import { Arena } from './arena.mjs';
import { launch } from './browser.mjs';
import * as games from './games.mjs';
import * as looks from './looks.mjs';
import { pictures } from './pictures.mjs';
import * as organising from './organising.mjs';
import * as playing from './playing.mjs';
import * as watching from './watching.mjs';

const words = process.argv.slice(2);
const isWanted = (name) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()));
let failed = 0;

// The children end with this process, which ends in any case.
const LIMIT_MS = 290_000;
setTimeout(() => {
  console.log(`FAILED: not done after ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS).unref();

// All at once, each would get a share of the machine that is too small for its waiting times.
const AT_ONCE = 4;

async function runCase(name, test, context) {
  const start = performance.now();
  try {
    await test(context);
    console.log(`ok ${name} ${Math.round(performance.now() - start)} ms`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}

async function run(cases, context) {
  const waiting = Object.entries(cases).filter(([name]) => isWanted(name));
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await runCase(...next, context);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const [arena, browser] = await Promise.all([Arena.open(), launch()]);
// The longest first.
await run({ ...organising, ...games, ...watching, ...playing, ...looks }, { arena, browser });
if (process.env.PICTURES) await run({ pictures }, { browser });
await browser.close();
if (failed > 0) console.log(arena.told);
process.exit(failed > 0 ? 1 : 0);
