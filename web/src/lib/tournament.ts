// What follows from a tournament's pairings and refusals: its rounds, the cross table, the games of each player.

import type { Color, Pairing, Refusal, Tournament, TournamentSummary } from './types';

/** Points of White and Black; `null` while there is no result. */
export function pointsOf(result: string | null): [number, number] | null {
  const side = (text: string | undefined) => (text === '1/2' ? 0.5 : text === '1' ? 1 : text === '0' ? 0 : null);
  const [white, black] = (result ?? '').split('-').map(side);
  return typeof white === 'number' && typeof black === 'number' ? [white, black] : null;
}

/** Whether there is more to say of it than its result. */
export const hasNote = ({ note, result }: Pairing) => note !== null && result !== null;

/** Whether pairings stand in rounds; elsewhere games are numbered. */
export const hasRounds = ({ numbering, pairing }: TournamentSummary): boolean =>
  numbering ? numbering === 'rounds' : pairing === 'swiss' || pairing === 'knockout';

/** Rounds in their order, each with its pairings. */
export function roundsOf({ pairings }: Tournament): Map<number, Pairing[]> {
  const rounds = new Map<number, Pairing[]>();
  for (const pairing of pairings) {
    const known = rounds.get(pairing.round);
    if (known) known.push(pairing);
    else rounds.set(pairing.round, [pairing]);
  }
  return new Map([...rounds].sort(([a], [b]) => a - b));
}

/** The last round, where there are rounds. */
export const lastRound = (tournament: Tournament): number | null =>
  hasRounds(tournament) && tournament.pairings.length > 0
    ? Math.max(...tournament.pairings.map(({ round }) => round))
    : null;

/** Games that are shown at once, where there are no rounds. */
const PART = 20;

/** A part of the pairings that is shown at once: a round, or some games. */
export interface Part {
  first: number;
  last: number;
  pairings: Pairing[];
}

export function partsOf(tournament: Tournament): Part[] {
  const rounds = [...roundsOf(tournament)];
  if (hasRounds(tournament)) return rounds.map(([first, pairings]) => ({ first, last: first, pairings }));
  const pairings = rounds.flatMap(([, pairings]) => pairings);
  const parts = Array.from({ length: Math.ceil(pairings.length / PART) }, (_, nth) =>
    pairings.slice(nth * PART, (nth + 1) * PART),
  );
  return parts.map((part) => ({ first: part[0]!.round, last: part.at(-1)!.round, pairings: part.toReversed() }));
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

/** A player's part in one pairing. */
export interface Played {
  pairing: Pairing;
  color: Color;
  /** Nothing: a bye. */
  against: string | null;
  points: number | null;
}

/** What each player had in each round, by name and round; the last pairing of a round counts. */
export function gamesByRound({ pairings }: Tournament): Map<string, Map<number, Played>> {
  const table = new Map<string, Map<number, Played>>();
  const add = (player: string, played: Played) => {
    const row = table.get(player) ?? new Map<number, Played>();
    table.set(player, row.set(played.pairing.round, played));
  };
  for (const pairing of pairings) {
    const { white, black, result } = pairing;
    const [whites, blacks] = pointsOf(result) ?? [null, null];
    add(white, { pairing, color: 'white', against: black, points: whites });
    if (black) add(black, { pairing, color: 'black', against: white, points: blacks });
  }
  return table;
}

/** Refusals by the names of players, the latest first; those of nobody in the table have the key `null`. */
export function refusalsByName({ players, refusals }: Tournament): Map<string | null, Refusal[]> {
  const names = new Set(players.map(({ name }) => name));
  const table = new Map<string | null, Refusal[]>();
  for (const refusal of refusals.toReversed()) {
    const name = names.has(refusal.name) ? refusal.name : null;
    table.set(name, [...(table.get(name) ?? []), refusal]);
  }
  return table;
}

export const tieBreaksOf = ({ players }: Pick<Tournament, 'players'>): string[] =>
  players[0]?.tie_breaks.map(({ name }) => name) ?? [];
