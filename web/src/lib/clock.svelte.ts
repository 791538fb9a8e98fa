// Time: one ticker for all clocks, and how times are written.

import { timeParts } from './time';
import type { Clocks, Color } from './types';

const TICK_MS = 100;
export const ticker = $state({ now: performance.now() });
setInterval(() => {
  if (!document.hidden) ticker.now = performance.now();
}, TICK_MS);

/** Milliseconds left to a side, counted on from the moment its clocks were told. */
export function left(clocks: Clocks, color: Color, at: number): number {
  const told = color === 'white' ? clocks.white_ms : clocks.black_ms;
  return clocks.running === color ? Math.max(0, told - Math.max(0, ticker.now - at)) : told;
}

const LOW_MS = 10_000;
const LOW_SHARE = 0.2;

/** What counts as little time, in milliseconds: a fifth of a short game's clock. */
export const lowMs = (control: string | null): number =>
  Math.min(LOW_MS, LOW_SHARE * 1000 * (timeParts(control)?.[0] ?? Infinity));

/** `1:02:03`, `4:05`, and tenths below 20 seconds. */
export function clockText(ms: number): string {
  if (ms < 20_000) {
    const tenths = Math.floor(ms / 100);
    return `0:${String(Math.floor(tenths / 10)).padStart(2, '0')}.${tenths % 10}`;
  }
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Time used for a move. */
export function spentText(ms: number): string {
  if (ms < 950) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  return clockText(ms);
}
