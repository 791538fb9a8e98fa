// The engine's opinion of the position shown, once a game is over: asked for one position at a time.

import { change, Refused } from './api';
import type { Analysis, Game } from './types';

const PAUSE_MS = 250;
/** Answers of a server that has no time just now: too many requests, and no service. */
const BUSY = [429, 503];
const BUSY_PAUSE_MS = 1_000;

export class Analyser {
  isOn = $state(false);
  isBusy = $state(false);
  error = $state('');
  #known = $state.raw(new Map<number, Analysis>());
  #timer: number | undefined;
  /** The ply last asked for. */
  #wanted: number | null = null;

  /** What is known of the position after so many plies. */
  at(ply: number): Analysis | null {
    return this.isOn ? (this.#known.get(ply) ?? null) : null;
  }

  /** Asks for it, unless it is known; somebody who steps on quickly asks for the last one only. */
  ask(game: Game, ply: number): void {
    this.stop();
    if (!this.isOn || this.#known.has(ply) || (ply === game.plies.length && game.reason === 'Checkmate')) return;
    this.#wanted = ply;
    this.#fetchAfter(PAUSE_MS, game, ply);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#wanted = null;
  }

  #fetchAfter(pause: number, game: Game, ply: number): void {
    this.#timer = window.setTimeout(() => this.#fetch(game, ply), pause);
  }

  async #fetch(game: Game, ply: number): Promise<void> {
    const moves = game.plies.slice(0, ply).map(({ uci }) => uci);
    const position = { kind: game.kind, chess960: game.chess960, fen: game.start_fen, moves };
    this.isBusy = true;
    try {
      const analysis = await change<Analysis>('POST', 'analysis', position);
      this.#known = new Map(this.#known).set(ply, analysis);
      this.error = '';
    } catch (refused) {
      this.error = (refused as Error).message;
      const isBusy = refused instanceof Refused && BUSY.includes(refused.status);
      if (isBusy && this.#wanted === ply) this.#fetchAfter(BUSY_PAUSE_MS, game, ply);
    } finally {
      this.isBusy = false;
    }
  }
}
