// Short sounds, made here: nothing is loaded, and nothing is heard before somebody has touched the page.

import { settings } from './settings.svelte';

let context: AudioContext | null = null;

const SOUNDS = {
  move: [[190, 0.06]],
  capture: [[140, 0.05], [230, 0.06]],
  check: [[440, 0.07], [330, 0.09]],
  end: [[392, 0.14], [494, 0.14], [587, 0.22]],
  alarm: [[880, 0.06], [880, 0.06]],
} satisfies Record<string, [number, number][]>;

export function sound(name: keyof typeof SOUNDS): void {
  if (!settings.sound || navigator.userActivation?.hasBeenActive === false) return;
  context ??= new AudioContext();
  let at = context.currentTime;
  for (const [frequency, seconds] of SOUNDS[name] as [number, number][]) {
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    tone.type = 'triangle';
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.25, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + seconds);
    at += seconds;
  }
}

/** The sound of a move, by its notation. */
export const moveSound = (san: string): void => sound(/[+#]/.test(san) ? 'check' : san.includes('x') ? 'capture' : 'move');
