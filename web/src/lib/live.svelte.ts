// The one connection to the live feed: who watches what, and the games that everybody shares.

import { SvelteMap } from 'svelte/reactivity';
import { connect } from './reconnect.svelte';
import type { Clocks, GameSummary, Message, Watch } from './types';

/** A game of the list, with the moment its clocks were told. */
export interface Listed {
  summary: GameSummary;
  at: number;
}

interface Watcher {
  watch: Watch;
  received: (message: Message) => void;
}

const watchers = new Set<Watcher>();
export const games = new SvelteMap<string, Listed>();
export const feed = $state({ isLoaded: false, error: null as string | null });

const line = connect<Message>('/api/live', everything, received);

/** What the connection is like. */
export const lineStatus = () => line.status;

function everything(): void {
  const asked = new Map([...watchers].map(({ watch }) => [JSON.stringify(watch), watch]));
  for (const watch of asked.values()) line.send({ watch });
}

function received(message: Message): void {
  feed.error = message.type === 'error' ? message.error : feed.error;
  for (const watcher of [...watchers]) watcher.received(message);
}

/** Watches until the returned function is called. */
export function watch(subject: Watch, received: (message: Message) => void): () => void {
  const watcher = { watch: subject, received };
  watchers.add(watcher);
  line.send({ watch: subject });
  return () => {
    watchers.delete(watcher);
    const key = JSON.stringify(subject);
    if (![...watchers].some((other) => JSON.stringify(other.watch) === key)) line.send({ unwatch: subject });
  };
}

/** Asks for the whole state again, after a gap. */
export const again = (subject: Watch) => line.send({ watch: subject });

const SHOWN = 250;

/** Keeps the list of games. */
export const watchGames = () =>
  watch('games', (message) => {
    switch (message.type) {
      case 'games': {
        const at = performance.now();
        const told = new Set(message.games.map((game) => game.id));
        for (const id of [...games.keys()]) if (!told.has(id)) games.delete(id);
        for (const summary of message.games) games.set(summary.id, { summary, at });
        feed.isLoaded = true;
        break;
      }
      case 'begin':
        games.set(message.game.id, { summary: message.game, at: performance.now() });
        forgetOldest();
        break;
      case 'move':
        update(message.id, message.clocks, {
          fen: message.move.fen,
          last_move: message.move.uci,
          last_san: message.move.san,
          ply: message.ply,
        });
        break;
      case 'end':
        update(message.id, message.clocks, {
          state: 'ended',
          result: message.result,
          reason: message.reason,
        });
    }
  });

function update(id: string, clocks: Clocks | null, changed: Partial<GameSummary>): void {
  const known = games.get(id);
  if (!known) return;
  games.set(id, {
    summary: { ...known.summary, ...changed, clocks: clocks ?? known.summary.clocks },
    at: performance.now(),
  });
}

function forgetOldest(): void {
  for (const [id, { summary }] of games) {
    if (games.size <= SHOWN) return;
    if (summary.state === 'ended') games.delete(id);
  }
}
