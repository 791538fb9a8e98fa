// What the server is, and whether this tab may organise.

import { forgetToken, get, hasToken, setToken } from './api';
import type { Status } from './types';

export const status = $state({ value: null as Status | null });

export async function loadStatus(): Promise<void> {
  status.value = await get<Status>('status').catch(() => null);
  // A token of an earlier arena would count as a guess with each request.
  if (hasToken() && status.value && !status.value.organiser) forgetToken();
}

export const isOrganiser = () => status.value?.organiser ?? false;

/** Takes a token, unless it is wrong. */
export async function signIn(token: string): Promise<boolean> {
  setToken(token);
  await loadStatus();
  return isOrganiser();
}

export async function signOut(): Promise<void> {
  forgetToken();
  await loadStatus();
}
