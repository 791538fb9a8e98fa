// Your bot. Only this file is yours to change; README.md explains the others.
//
// Try it: node test_my_bot.js, then node play_local.js, then node client.js NAME.

import { Chess } from 'chess.js';

const VALUES = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };

/**
 * Returns a move: text such as "e2e4" or "Nf3", or a Move of chess.js.
 *
 * board: a Chess of chess.js (https://jhlywa.github.io/chess.js). In other games than chess: an object with board.kind (the name
 *     of the game), board.fen (the position as text) and board.moves (the legal moves as text).
 * clock: seconds. clock.own and clock.opponent are left for the game, clock.increment is added after each move. After
 *     clock.limit a random move is played instead of yours.
 */
export function chooseMove(board, clock) {
  if (!(board instanceof Chess)) {
    return board.moves[Math.floor(Math.random() * board.moves.length)];
  }
  let bestMove = null;
  let bestScore = -Infinity;
  for (const move of board.moves()) {
    board.move(move);
    const score = -bestReply(board) + Math.random() / 10; // chance decides between equal moves
    board.undo();
    if (score > bestScore) {
      bestMove = move;
      bestScore = score;
    }
  }
  return bestMove;
}

/** Returns the value of the position for the side to move after its best move. */
function bestReply(board) {
  const moves = board.moves();
  if (moves.length === 0) {
    return board.inCheck() ? -1000 : 0; // checkmate or stalemate
  }
  let best = -1000;
  for (const move of moves) {
    board.move(move);
    best = Math.max(best, move.endsWith('#') ? 1000 : -material(board));
    board.undo();
  }
  return best;
}

/** Returns the pieces of the side to move, less those of the other side. */
function material(board) {
  let sum = 0;
  for (const piece of board.board().flat()) {
    if (piece) {
      sum += piece.color === board.turn() ? VALUES[piece.type] : -VALUES[piece.type];
    }
  }
  return sum;
}
