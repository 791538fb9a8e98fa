// Legal moves as the server lists them: for the board, for a choice of promotion, for typed text.

import type { Dests, Key, Orig } from 'chessgroundx/types';
import { squaresOf } from './position';
import type { LegalMove } from './types';

export function destsOf(legal: LegalMove[]): Dests {
  const dests: Dests = new Map();
  for (const { uci } of legal) {
    const squares = squaresOf(uci);
    if (squares) dests.set(squares[0], [...(dests.get(squares[0]) ?? []), squares[1]]);
  }
  return dests;
}

/** The moves between two squares: several for a promotion. */
export const between = (legal: LegalMove[], orig: Orig, dest: Key): LegalMove[] =>
  legal.filter(({ uci }) => {
    const squares = squaresOf(uci);
    return squares !== null && squares[0] === orig && squares[1] === dest;
  });

const GERMAN: Record<string, string> = { D: 'Q', T: 'R', L: 'B', S: 'N' };

/** Compares without marks: `exd8=Q+` is `ed8q`. */
const plain = (text: string) => text.replace(/[-x=+#!?\s]/g, '');

/** A typed move: coordinates, or notation with English or German letters; marks may be missing. */
export function typed(legal: LegalMove[], text: string): LegalMove | null {
  const castling = text.trim().replace(/0/g, 'O').toUpperCase();
  const german = text.replace(/^[DTLS]|(?<==?)[DTLS]$/g, (letter) => GERMAN[letter] ?? letter);
  const unique = (found: LegalMove[]) => (found.length === 1 ? found[0]! : null);
  const exact = (wanted: string) => legal.filter(({ uci, san }) => uci === wanted || plain(san) === plain(wanted));
  return (
    legal.find(({ san }) => /^O-O/.test(san) && san.replace(/[+#]/, '') === castling) ??
    unique(exact(text.trim())) ??
    unique(exact(german.trim())) ??
    unique(legal.filter(({ uci, san }) => [uci, plain(san)].some((one) => one.toLowerCase() === plain(text).toLowerCase())))
  );
}
