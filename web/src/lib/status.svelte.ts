// What the server is, and whether this tab may organise.

import { get } from './api';
import type { Status } from './types';

export const status = $state({ value: null as Status | null });

export async function loadStatus(): Promise<void> {
  status.value = await get<Status>('status').catch(() => null);
}

export const isOrganiser = () => status.value?.organiser ?? false;
