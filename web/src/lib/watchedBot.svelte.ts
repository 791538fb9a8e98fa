// The bot as it is watched. Its owner sees more: that comes by requests, as the token goes with no socket.

import { get } from './api';
import { watch } from './live.svelte';
import { isOrganiser } from './status.svelte';
import type { Bot } from './types';

export class WatchedBot {
  value = $state.raw<Bot | null>(null);
  isMissing = $state(false);
  stop: () => void;
  /** Numbers of the views, so that a late answer does not displace a newer one. */
  #asked = 0;
  #shown = 0;

  constructor() {
    this.stop = watch('bot', (message) => {
      if (message.type !== 'bot') return;
      if (isOrganiser()) void this.load();
      else this.#show(message.bot, ++this.#asked);
    });
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      this.#show(await get<Bot>('bot'), asked);
    } catch {
      this.isMissing = this.value === null;
    }
  }

  #show(bot: Bot, asked: number): void {
    if (asked < this.#shown) return;
    this.#shown = asked;
    this.value = bot;
  }
}
