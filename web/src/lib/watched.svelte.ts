// One game as it is watched: whole at first, then by its moves; and the position that is shown of it.

import { get, Refused } from './api';
import { scoreOf } from './format';
import { again, watch } from './live.svelte';
import { turnOf } from './position';
import type { Clocks, Color, Game, Message, Thought } from './types';

export class WatchedGame {
  game = $state.raw<Game | null>(null);
  /** The moment of the clocks. */
  at = $state(0);
  /** What the side to move thinks now. */
  thinking = $state.raw<Thought | null>(null);
  isMissing = $state(false);
  #stop: () => void;

  constructor(readonly id: string) {
    this.#stop = watch({ game: id }, (message) => this.#received(message));
    get<Game>(`games/${encodeURIComponent(id)}`).then(
      (game) => this.game ?? this.#set(game),
      (error) => (this.isMissing = error instanceof Refused && error.status === 404),
    );
  }

  stop(): void {
    this.#stop();
  }

  #set(game: Game): void {
    this.game = game;
    this.at = performance.now();
    this.isMissing = false;
  }

  /** A thought about a move that was played meanwhile belongs to that move. */
  #attach(game: Game, ply: number, thought: Thought): void {
    const plies = game.plies.with(ply, { ...game.plies[ply]!, thought });
    this.game = { ...game, plies };
  }

  #received(message: Message): void {
    if (message.type === 'game') {
      if (message.game.id !== this.id) return;
      if (message.game.plies.length !== this.game?.plies.length) this.thinking = null;
      this.#set(message.game);
      return;
    }
    const game = this.game;
    if (!game || !('id' in message) || message.id !== this.id) return;
    switch (message.type) {
      case 'move':
        if (message.ply > game.plies.length + 1) again({ game: this.id });
        else if (message.ply === game.plies.length + 1) {
          const { fen, uci, san } = message.move;
          const plies = [...game.plies, message.move];
          this.#set({ ...game, plies, fen, last_move: uci, last_san: san, ply: message.ply, ...clocksOr(message.clocks) });
          this.thinking = null;
        }
        break;
      case 'thought':
        if (message.ply === game.plies.length) this.thinking = message.thought;
        else if (message.ply < game.plies.length) this.#attach(game, message.ply, message.thought);
        break;
      case 'end': {
        const { result, reason, clocks } = message;
        this.#set({ ...game, state: 'ended', result, reason, ...clocksOr(clocks) });
        this.thinking = null;
      }
    }
  }
}

const clocksOr = (clocks: Clocks | null) => (clocks ? { clocks } : {});

/** The part of a game that is shown: it follows the game unless somebody steps back. */
export class Shown {
  /** `null`: the last position, also when moves come. */
  #chosen = $state<number | null>(null);

  constructor(private readonly game: () => Game | null) {}

  get last(): number {
    return this.game()?.plies.length ?? 0;
  }

  get ply(): number {
    return Math.min(this.#chosen ?? this.last, this.last);
  }

  get isLast(): boolean {
    return this.ply === this.last;
  }

  select = (ply: number): void => {
    this.#chosen = ply >= this.last ? null : Math.max(0, ply);
  };

  get move() {
    return this.game()?.plies[this.ply - 1] ?? null;
  }

  get fen(): string {
    return this.move?.fen ?? this.game()?.start_fen ?? '';
  }

  get turn(): Color {
    return turnOf(this.fen, this.game()?.start_fen ?? '', this.ply);
  }

  /** What was thought in the position shown: by the side to move there, before its move. */
  thought(thinking: Thought | null): Thought | null {
    return this.isLast ? thinking : (this.game()?.plies[this.ply]?.thought ?? null);
  }

  /** The last thought with a score up to here. */
  lastThought(): Thought | null {
    const plies = this.game()?.plies ?? [];
    for (let ply = this.ply; ply > 0; ply -= 1) {
      const thought = plies[ply - 1]?.thought;
      if (thought && scoreOf(thought)) return thought;
    }
    return null;
  }
}
