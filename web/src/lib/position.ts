// Texts of positions and moves of every game, in the board's terms.

import type { Key, Orig, Role } from 'chessgroundx/types';
import type { Color } from './types';

export interface Size {
  width: number;
  height: number;
}

export const sizeOf = (kind: string): Size => {
  if (kind.startsWith('minichess')) return { width: 5, height: 6 };
  if (kind === 'gardner') return { width: 5, height: 5 };
  return kind === 'tuc' ? { width: 5, height: 7 } : { width: 8, height: 8 };
};

/** The part of a position that the board draws: empty squares as numbers, a pocket in brackets. */
export const boardFen = (fen: string): string =>
  (fen.split(' ')[0] ?? '').replace(/\.+/g, (empty) => String(empty.length));

export const hasPocket = (kind: string) => kind === 'crazyhouse';

/** Pieces in hand, by their letters. */
export function pocketOf(fen: string, color: Color): Map<string, number> {
  const inside = /\[([^\]]*)\]/.exec(fen)?.[1] ?? '';
  const counts = new Map<string, number>();
  for (const letter of inside) {
    const isWhite = letter === letter.toUpperCase();
    if (isWhite === (color === 'white')) {
      const piece = letter.toLowerCase();
      counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
  }
  return counts;
}

const FIGURES: Record<string, string> = { p: '♟\ufe0e', n: '♞', b: '♝', r: '♜', q: '♛' };

/** Pieces in hand, as short as beside a small board: `♟2♞`. */
const handText = (fen: string, color: Color): string =>
  [...pocketOf(fen, color)].map(([letter, count]) => (FIGURES[letter] ?? letter) + (count > 1 ? count : '')).join('');

/** The side to move; servers write `w`, `W` or nothing that we know. */
export function turnOf(fen: string, startFen: string, ply: number): Color {
  const side = fen.split(' ')[1]?.toLowerCase();
  if (side === 'w') return 'white';
  if (side === 'b') return 'black';
  const first = startFen.split(' ')[1]?.toLowerCase() === 'b' ? 1 : 0;
  return (ply + first) % 2 === 0 ? 'white' : 'black';
}

/** Points of TUC-Chess, checks given in three-check, pieces in hand: what the position says beside the board. */
export function countsOf(kind: string, fen: string): { white: string; black: string } | null {
  if (kind === 'tuc') {
    const [white, black] = fen.split(' ')[2]?.split('-') ?? [];
    const points = (text: string | undefined) => String(Number(text ?? 0) / 100);
    return { white: points(white), black: points(black) };
  }
  if (hasPocket(kind)) return { white: handText(fen, 'white'), black: handText(fen, 'black') };
  if (kind === 'three-check') {
    const left = /(?:^| )(\d)\+(\d)(?: |$)/.exec(fen);
    if (left) return { white: '+'.repeat(3 - Number(left[1])), black: '+'.repeat(3 - Number(left[2])) };
  }
  return null;
}

const rowAndColumn = (row: string, column: string) =>
  ('abcde'.charAt(Number(column)) + String(7 - Number(row))) as Key;

/** Games that end in their own way: there, the mark of a mate need not mean a check. */
const OWN_ENDS = ['antichess', 'king-of-the-hill', 'racing-kings'];

/** Whether a move gives check, by its notation. */
export const givesCheck = (kind: string, san: string | null | undefined): boolean =>
  (OWN_ENDS.includes(kind) ? /\+$/ : /[+#]$/).test(san ?? '');

/** The squares of a move: two, or one with the letter of what is dropped. TUC-Chess writes rows and columns. */
export function squaresOf(uci: string): [Orig, Key] | null {
  if (/^\d{4}/.test(uci)) return [rowAndColumn(uci[0]!, uci[1]!), rowAndColumn(uci[2]!, uci[3]!)];
  if (/^[A-Za-z]@[a-h][1-8]$/.test(uci)) return [`${uci[0]!.toUpperCase()}@` as Orig, uci.slice(2) as Key];
  if (/^[a-h][1-8][a-h][1-8]/.test(uci)) return [uci.slice(0, 2) as Key, uci.slice(2, 4) as Key];
  return null;
}

export const isDrop = (orig: Orig) => orig[1] === '@';

/** What a pawn becomes, if the move says so. */
export const promotionOf = (uci: string) => (/^[a-h][1-8][a-h][1-8][a-z]$/.test(uci) ? uci[4]! : null);

export const roleOf = (letter: string) => `${letter}-piece` as Role;

/** Pieces with their squares, for those who hear the board. */
export function piecesOf(fen: string, size: Size): { letter: string; square: string }[] {
  const found = [];
  const rows = boardFen(fen).replace(/\[.*/, '').split('/').slice(0, size.height);
  for (const [row, text] of rows.entries()) {
    let column = 0;
    for (const letter of text) {
      if (/\d/.test(letter)) column += Number(letter);
      else if (/[a-zA-Z]/.test(letter)) {
        found.push({ letter, square: 'abcdefgh'.charAt(column) + String(size.height - row) });
        column += 1;
      } else if (letter === '*') column += 1;
    }
  }
  return found;
}
