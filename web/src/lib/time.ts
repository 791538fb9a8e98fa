// Time controls: the server writes seconds, people read minutes.

const PATTERN = /^(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)$/;

/** Seconds of a game and of a move. */
export function timeParts(control: string | null): [number, number] | null {
  const parts = PATTERN.exec(control ?? '');
  return parts && [Number(parts[1]), Number(parts[2])];
}

/** `5 min + 3 s`, without a line break in it; what is no time control of a game stays as it is. */
export function timeText(control: string | null): string {
  const parts = timeParts(control);
  if (!parts) return control ?? '';
  const [initial, increment] = parts;
  const time = initial >= 60 && initial % 30 === 0 ? `${initial / 60} min` : `${initial} s`;
  return (increment ? `${time} + ${increment} s` : time).replaceAll(' ', '\u00a0');
}

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds of a duration as the server writes it: `1m 30s`. */
export const secondsOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)\s*(ms|s|m|h)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (UNITS[unit!] ?? 0), 0);

export const duration = (seconds: number): string => `${Math.round(seconds * 1000)}ms`;

export const timeControl = (minutes: number, increment: number): string =>
  `${Math.round(minutes * 60)}+${increment}`;
