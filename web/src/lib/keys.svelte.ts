// Keys that have just been drawn, by tournament: the arena tells them once, and this tab keeps them until it is closed.

import { change, segment } from './api';
import type { DrawnKey } from './types';

const drawn = $state<Record<string, DrawnKey[]>>({});

export const drawnKeys = (tournament: string): DrawnKey[] => drawn[tournament] ?? [];

export async function drawKeys(tournament: string, names: string[]): Promise<void> {
  const { keys } = await change<{ keys: DrawnKey[] }>('POST', `tournaments/${segment(tournament)}/keys`, { names });
  const isOld = ({ name }: DrawnKey) => !keys.some((key) => key.name === name);
  drawn[tournament] = [...drawnKeys(tournament).filter(isOld), ...keys];
}
