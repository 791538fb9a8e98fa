// The texts in the language that is set: `t().live.title`.

import { settings } from '../lib/settings.svelte';
import { de } from './de';
import { en, type Texts } from './en';
import type { GameSummary } from '../lib/types';

export const languages = { en, de };

export const t = (): Texts => languages[settings.language] ?? en;

/** Why a game is over: a known reason in the language of the page, by its game where that says more; others as the server
 * says them. */
export const reasonText = ({ kind, reason }: Pick<GameSummary, 'kind' | 'reason'>): string =>
  reason ? (t().reasonsOf[kind]?.[reason] ?? t().reasons[reason] ?? reason) : '';

/** What the position counts for a side: points of TUC-Chess, checks given. */
export const countText = (kind: string, count: string | undefined): string =>
  kind === 'tuc' && count ? t().board.points(count) : (count ?? '');

export const kindText = (kind: string): string => t().kinds[kind] ?? kind;

/** What is played in a game or in a tournament. */
export const playedText = ({ kind, chess960 }: Pick<GameSummary, 'kind' | 'chess960'>): string =>
  kindText(chess960 ? 'chess960' : kind);

export const sideText = (side: 'white' | 'black'): string => (side === 'white' ? t().white : t().black);
