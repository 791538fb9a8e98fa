// Asks my_bot.js for its move in each position of positions.txt: node test_my_bot.js. Add positions of your own there.

import { readFileSync } from 'node:fs';

import { FOLDER, Guard } from './guard.js';

const SECONDS = 10; // on the clock; a move may take half of it

const guard = new Guard();
const { Chess } = await import('chess.js'); // the guard has seen that it is installed
const lines = readFileSync(FOLDER + 'positions.txt', 'utf8').split('\n');
const positions = lines.flatMap((line, at) => (!line.trim() || line.startsWith('#') ? [] : [readPosition(line, at + 1)]));
let failed = 0;
for (const { name, fen, good, legal } of positions) {
  let [move, problem] = await guard.choose('chess', fen, SECONDS, SECONDS, 0, legal);
  if (problem) {
    problem += `; would play ${move} instead`;
    guard.restart();
  } else if (!good.includes(move)) {
    problem = `my_bot.js plays ${move}; good: ${good.join(' ')}`;
  }
  failed += problem ? 1 : 0;
  console.log(problem ? `FAIL  ${name}: ${problem}` : `ok    ${name}: ${move}`);
}
guard.stop();
if (failed > 0) {
  console.error(`${failed} failed`);
  process.exitCode = 1;
}

function readPosition(line, number) {
  const [name, fen, good] = line.split('|').map((field) => field.trim());
  let legal;
  try {
    legal = new Chess(fen).moves({ verbose: true }).map(({ lan }) => lan);
  } catch {
    // Not a position: reported below.
  }
  if (!legal?.length || !good) {
    fail(`positions.txt, line ${number}: expected \`name | FEN | moves that pass\``);
  }
  const wrong = good.split(/\s+/).find((move) => !legal.includes(move));
  if (wrong) {
    fail(`positions.txt, line ${number}: '${wrong}' is not legal there; write moves such as e2e4`);
  }
  return { name, fen, good: good.split(/\s+/), legal };
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}
