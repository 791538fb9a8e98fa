// Time controls: the server writes seconds, people read minutes.

const PATTERN = /^(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)$/;

/** `5 min + 3 s`; what is no time control of a game stays as it is. */
export function timeText(control: string | null): string {
  const parts = PATTERN.exec(control ?? '');
  if (!parts) return control ?? '';
  const [initial, increment] = [Number(parts[1]), Number(parts[2])];
  const time = initial >= 60 && initial % 30 === 0 ? `${initial / 60} min` : `${initial} s`;
  return increment ? `${time} + ${increment} s` : time;
}

export const timeControl = (minutes: number, increment: number): string =>
  `${Math.round(minutes * 60)}+${increment}`;
