// The texts in the language that is set: `t().live.title`.

import { settings } from '../lib/settings.svelte';
import { de } from './de';
import { en, type Texts } from './en';

export const languages = { en, de };

export const t = (): Texts => languages[settings.language] ?? en;

/** A known reason in the language of the page; others as the server says them. */
export const reasonText = (reason: string | null): string => (reason ? (t().reasons[reason] ?? reason) : '');

export const kindText = (kind: string): string => t().kinds[kind] ?? kind;

export const sideText = (side: 'white' | 'black'): string => (side === 'white' ? t().white : t().black);
