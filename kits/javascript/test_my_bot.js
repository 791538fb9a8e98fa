// Asks my_bot.js for its move in each position of positions.txt: node test_my_bot.js. Add positions of your own there.

import { readFileSync } from 'node:fs';

import { FOLDER, Guard, report } from './guard.js';

const SECONDS = 10; // on the clock; a move may take half of it

const guard = new Guard();
let failed = 0;
for (const line of readFileSync(FOLDER + 'positions.txt', 'utf8').split(/\r?\n/)) {
  if (!line || line.startsWith('#')) {
    continue;
  }
  const [name, fen, good, legal] = line.split('|').map((field) => field.trim());
  const [move, problem] = await guard.choose('chess', fen, SECONDS, SECONDS, 0, legal.split(' '));
  const passed = !problem && good.split(' ').includes(move);
  failed += passed ? 0 : 1;
  console.log(`${passed ? 'ok    ' : 'FAIL  '}${name}: ${report(move, problem)}${passed || problem ? '' : `; good: ${good}`}`);
  if (problem) {
    guard.restart();
  }
}
guard.stop();
if (failed > 0) {
  console.error(`${failed} failed`);
  process.exitCode = 1;
}
