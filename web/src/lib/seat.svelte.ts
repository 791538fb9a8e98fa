// A seat at a table: the state that the server tells, and what a player can say.

import { get } from './api';
import { connect, type Line } from './reconnect.svelte';
import { go } from './route.svelte';
import { moveSound, sound } from './sound';
import type { Offer, TableMessage, TableState } from './types';

/** A server that is there, but not this seat: two attempts show it. */
const ATTEMPTS = 2;
const INVITATION = 'zeitnot-invitation-';

/** Keeps the opponent's link, so that it is there after a reload. */
export const keepInvitation = (seat: string, invitation: string) =>
  sessionStorage.setItem(INVITATION + seat, invitation);

export class Seat {
  state = $state.raw<TableState | null>(null);
  at = $state(0);
  error = $state('');
  /** Counts refusals, so that the board shows the server's position again. */
  refusals = $state(0);
  /** The server knows no such seat, or no more. */
  isGone = $state(false);
  readonly invitation: string | null;
  #line: Line;
  #failures = 0;

  constructor(readonly token: string) {
    this.invitation = sessionStorage.getItem(INVITATION + token);
    this.#line = connect<TableMessage>(
      `/api/tables/${encodeURIComponent(token)}`,
      () => (this.#failures = 0),
      (message) => this.#received(message),
      () => void this.#failed(),
    );
  }

  get status() {
    return this.isGone ? null : this.#line.status;
  }

  get lag() {
    return this.#line.lag;
  }

  stop(): void {
    this.#line.close();
  }

  async #failed(): Promise<void> {
    const isThere = await get('status').then(
      () => true,
      () => false,
    );
    this.#failures = isThere ? this.#failures + 1 : 0;
    if (this.#failures < ATTEMPTS) return;
    this.isGone = true;
    this.stop();
  }

  #received(message: TableMessage): void {
    if (message.type === 'error') {
      this.error = message.error;
      this.refusals += 1;
    } else if (message.type === 'rematch') go(`/table/${encodeURIComponent(message.seat)}`);
    else if (message.type === 'state') this.#set(message);
  }

  #set(state: TableState): void {
    const before = this.state?.game;
    this.state = state;
    this.at = performance.now();
    this.error = '';
    const move = state.game.plies.at(-1);
    if (before && move && state.game.plies.length > before.plies.length) moveSound(move.san);
    if (before?.state === 'running' && state.game.state === 'ended') sound('end');
  }

  move(uci: string): void {
    this.#line.send({ move: uci, ply: this.state?.game.plies.length ?? 0 });
  }

  resign = (): void => this.#line.send({ resign: true });
  draw = (offer: Offer): void => this.#line.send({ draw: offer });
  takeback = (offer: Offer): void => this.#line.send({ takeback: offer });

  rematch = (): void => this.#line.send({ rematch: true });
}
