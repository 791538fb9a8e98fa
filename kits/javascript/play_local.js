// Plays a game against my_bot.js without an arena: node play_local.js [greedy|random|me]. No need to change this file.
//
// greedy (the default) takes the most valuable piece, random plays any move, and `me` asks you: e2e4 or Nf3.

import { createInterface } from 'node:readline/promises';

import { Guard, report } from './guard.js';

const [CLOCK, INCREMENT] = [60, 0.5]; // seconds
let input; // the keyboard

function greedy(board) {
  const gain = (move) => '.pnbrqk'.indexOf(move.captured ?? '.') + Math.random() / 2;
  return board.moves({ verbose: true }).map((move) => [gain(move), move]).sort((one, other) => other[0] - one[0])[0][1];
}

function anything(board) {
  const moves = board.moves();
  return moves[Math.floor(Math.random() * moves.length)];
}

async function person(board) {
  input ??= createInterface({ input: process.stdin, output: process.stdout }).on('close', () => {
    console.log('\nStopped.');
    process.exit();
  });
  for (;;) {
    const text = await input.question('Your move: ');
    try {
      return new Chess(board.fen()).move(text.trim());
    } catch {
      console.log(`Not a legal move. Legal: ${board.moves().join(' ')}`);
    }
  }
}

const opponent = { greedy, random: anything, me: person }[process.argv[2] ?? 'greedy'];
if (!opponent) {
  console.error('against whom? node play_local.js greedy, random or me; the game is chess');
  process.exit(1);
}
const guard = new Guard();
const { Chess } = await import('chess.js'); // the guard has seen that it is installed
const [board, bot] = [new Chess(), Math.random() < 0.5 ? 'w' : 'b'];
console.log(`my_bot.js is ${bot === 'w' ? 'white (capital letters)' : 'black (small letters)'}`);
for (let own = CLOCK; !board.isGameOver(); ) {
  const number = `${board.moveNumber()}. ${board.turn() === 'w' ? '' : '... '}`;
  let move;
  if (board.turn() === bot) {
    const began = performance.now();
    const legal = board.moves({ verbose: true }).map(({ lan }) => lan);
    const [text, problem] = await guard.choose('chess', board.fen(), own, CLOCK, INCREMENT, legal);
    own += INCREMENT - (performance.now() - began) / 1000;
    move = text;
    if (problem) {
      console.log(`Move ${board.moveNumber()}: ${report(text, problem)}`);
      guard.restart();
    }
  } else {
    move = await opponent(board);
  }
  console.log(`\n${number}${board.move(move).san}\n${board.ascii()}`);
}
guard.stop();
const winner = !board.isCheckmate() ? 'a draw' : board.turn() === bot ? 'my_bot.js loses' : 'my_bot.js wins';
const reasons = {
  checkmate: board.isCheckmate(),
  stalemate: board.isStalemate(),
  'insufficient material': board.isInsufficientMaterial(),
  'threefold repetition': board.isThreefoldRepetition(),
};
console.log(`\n${winner}: ${Object.keys(reasons).find((reason) => reasons[reason]) ?? 'fifty moves'}`);
process.exit(); // without waiting for the keyboard
