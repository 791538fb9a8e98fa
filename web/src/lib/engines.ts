// Players that the arena provides, asked for once.

import { get } from './api';
import type { Engine } from './types';

let asked: Promise<Engine[]> | null = null;

/** All of them; none if the server cannot be reached now. */
export function engines(): Promise<Engine[]> {
  asked ??= get<{ engines: Engine[] }>('engines').then(
    (told) => told.engines,
    () => {
      asked = null;
      return [];
    },
  );
  return asked;
}
