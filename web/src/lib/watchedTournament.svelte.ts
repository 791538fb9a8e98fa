// One tournament as it is watched.

import { get, Refused, segment } from './api';
import { watch } from './live.svelte';
import type { Tournament } from './types';

export class WatchedTournament {
  value = $state.raw<Tournament | null>(null);
  isMissing = $state(false);
  stop: () => void;

  constructor(readonly name: string) {
    this.stop = watch({ tournament: name }, (message) => {
      if (message.type === 'tournament' && message.tournament.name === name) this.value = message.tournament;
      if (message.type === 'deleted' && message.tournament === name) {
        this.value = null;
        this.isMissing = true;
      }
    });
    get<Tournament>(`tournaments/${segment(name)}`).then(
      (tournament) => (this.value ??= tournament),
      (error) => (this.isMissing = error instanceof Refused && error.status === 404),
    );
  }
}
