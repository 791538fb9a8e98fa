// What follows from a tournament's pairings: its rounds, and the cross table.

import type { Pairing, Tournament } from './types';

/** Points of White and Black; `null` while there is no result. */
export function pointsOf(result: string | null): [number, number] | null {
  const side = (text: string | undefined) => (text === '1/2' ? 0.5 : text === '1' ? 1 : text === '0' ? 0 : null);
  const [white, black] = (result ?? '').split('-').map(side);
  return typeof white === 'number' && typeof black === 'number' ? [white, black] : null;
}

/** Rounds, the last one first. */
export function roundsOf(tournament: Tournament): { round: number; pairings: Pairing[] }[] {
  const rounds = new Map<number, Pairing[]>();
  for (const pairing of tournament.pairings) {
    const pairings = rounds.get(pairing.round) ?? [];
    rounds.set(pairing.round, [...pairings, pairing]);
  }
  return [...rounds].sort(([a], [b]) => b - a).map(([round, pairings]) => ({ round, pairings }));
}

/** Points of each player against each other, by both names. */
export function crossTable({ pairings }: Tournament): Map<string, Map<string, number>> {
  const table = new Map<string, Map<string, number>>();
  const add = (player: string, against: string, points: number) => {
    const row = table.get(player) ?? new Map<string, number>();
    row.set(against, (row.get(against) ?? 0) + points);
    table.set(player, row);
  };
  for (const { white, black, result } of pairings) {
    const points = pointsOf(result);
    if (!points || !black) continue;
    add(white, black, points[0]);
    add(black, white, points[1]);
  }
  return table;
}

export const tieBreaksOf = ({ players }: Pick<Tournament, 'players'>): string[] =>
  players[0]?.tie_breaks.map(({ name }) => name) ?? [];
