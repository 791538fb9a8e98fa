// Numbers of a search, as text.

import type { Score, Thought } from './types';

/** The score of a thought; a move that was known without a search has none. */
export const scoreOf = (thought: Thought | null | undefined): Score | null =>
  thought && thought.depth > 0 ? thought.score : null;

const MINUS = '−';

export function scoreText(score: Score): string {
  if ('mate' in score) return `${score.mate < 0 ? MINUS : ''}#${Math.abs(score.mate)}`;
  const pawns = Math.abs(score.cp) / 100;
  const sign = score.cp > 0 ? '+' : score.cp < 0 ? MINUS : '';
  return sign + pawns.toFixed(pawns < 99.95 ? 2 : 0);
}

/** White's share of the evaluation bar, from 0 to 1. */
export function share(score: Score): number {
  if ('mate' in score) return score.mate > 0 ? 1 : 0;
  return 1 / (1 + Math.exp(-0.0037 * score.cp));
}

/** Pawns for the graph: what decides the game is at its edge. */
export function pawns(score: Score, edge: number): number {
  if ('mate' in score) return score.mate > 0 ? edge : -edge;
  return Math.max(-edge, Math.min(edge, score.cp / 100));
}

/** `1,234`, `56.7 k`, `8.9 M`. */
export function countText(count: number, language: string): string {
  const write = (value: number, unit: string) =>
    `${value.toLocaleString(language, { maximumFractionDigits: value < 100 ? 1 : 0 })} ${unit}`;
  if (count < 10_000) return count.toLocaleString(language);
  return count < 1_000_000 ? write(count / 1000, 'k') : write(count / 1_000_000, 'M');
}

const QUARTERS = ['', '¼', '½', '¾'];

/** A score of a tournament, or a tie-break: halves as ½, quarters as ¼. */
export function pointsText(points: number): string {
  const whole = Math.floor(points);
  const part = QUARTERS[(points - whole) * 4];
  if (part === undefined) return points.toFixed(2);
  return whole || !part ? `${whole}${part}` : part;
}

export const resultText = (result: string) => result.replaceAll('1/2', '½').replace('-', '–');
