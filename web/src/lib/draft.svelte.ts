// A tournament as the organiser fills it in: the fields of the form, and the settings that follow from them.

import { duration, secondsOf, timeParts } from './time';
import type { Engine, Start, System, TournamentSettings } from './types';

export const TIMES = ['3+0.05', '10+0.1', '60+0.5', '180+2', '300+3', '600+5'];
export const SYSTEMS: System[] = ['round-robin', 'swiss', 'gauntlet', 'knockout'];
const OF_ALL = ['sonneborn-berger', 'direct-encounter', 'wins'];
/** Those that mean something there: the points of a knockout tell how far each came. */
const TIE_BREAKS: Record<System, string[]> = {
  'round-robin': OF_ALL,
  swiss: ['buchholz-cut-1', 'buchholz', ...OF_ALL],
  gauntlet: OF_ALL,
  knockout: [],
};

/** What a teacher gets who only fills in a name. */
const USUAL: TournamentSettings = {
  name: '',
  game: 'chess',
  chess960: false,
  openings: null,
  engines: [],
  time_control: '10+0.1',
  pairing: 'round-robin',
  rounds: 5,
  acceleration: null,
  gauntlet: [],
  games_per_pair: 2,
  players: null,
  start: 'organiser',
  late_entries: false,
  tie_breaks: [],
  pause: '5s',
  max_illegal_moves: 100,
  access: 'open',
};

/** Lines as they were written, so that their numbers stay; the empty ones at the end say nothing. */
const linesOf = (text: string): string[] | null =>
  text.trim() ? text.trimEnd().split('\n').map((line) => line.trim()) : null;

/** Lines that have a position. */
export const positionsOf = (text: string): string[] =>
  linesOf(text)?.filter((line) => line && !line.startsWith('#')) ?? [];

export const namesOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];

type Access = 'open' | 'password' | 'keys';
const accessOf = ({ access }: TournamentSettings): Access =>
  typeof access === 'string' ? access : 'keys' in access ? 'keys' : 'password';

export class Draft {
  name = $state('');
  game = $state('chess');
  isChess960 = $state(false);
  openings = $state('');
  engines = $state<string[]>([]);
  /** All players that the arena provides. */
  provided = $state.raw<Engine[]>([]);
  time = $state('');
  seconds = $state(0);
  increment = $state(0);
  pairing = $state<System>('round-robin');
  rounds = $state<number | null>(null);
  isAccelerated = $state(false);
  gauntlet = $state('');
  gamesPerPair = $state(2);
  players = $state<number | null>(null);
  start = $state<Start>('organiser');
  lateEntries = $state(false);
  tieBreaks = $state<string[]>([]);
  pause = $state(0);
  maxIllegalMoves = $state(0);
  access = $state<Access>('open');
  password = $state('');
  keyNames = $state('');

  /** Settings to change; without any, the usual ones. */
  constructor(readonly known: TournamentSettings | null) {
    const settings = known ?? USUAL;
    this.name = settings.name;
    this.game = settings.game;
    this.isChess960 = settings.chess960;
    this.openings = settings.openings?.join('\n') ?? '';
    this.engines = [...settings.engines];
    this.time = TIMES.includes(settings.time_control) ? settings.time_control : 'other';
    [this.seconds, this.increment] = timeParts(settings.time_control) ?? [10, 0.1];
    this.pairing = settings.pairing;
    this.rounds = settings.rounds ?? USUAL.rounds;
    this.isAccelerated = settings.acceleration !== null;
    this.gauntlet = settings.gauntlet.join('\n');
    this.gamesPerPair = settings.games_per_pair;
    this.players = settings.players;
    this.start = settings.start;
    this.lateEntries = settings.late_entries;
    this.tieBreaks = [...settings.tie_breaks];
    this.pause = secondsOf(settings.pause);
    this.maxIllegalMoves = settings.max_illegal_moves;
    this.access = accessOf(settings);
  }

  get starts(): Start[] {
    return this.pairing === 'round-robin' ? ['organiser', 'full', 'at-once'] : ['organiser', 'full'];
  }

  get hasChess960(): boolean {
    return this.game === 'chess';
  }

  /** Those that play the game, and those that are chosen though the arena no longer has them: they can be removed. */
  get possibleEngines(): Engine[] {
    const game = this.hasChess960 && this.isChess960 ? 'chess960' : this.game;
    const isMissing = (name: string) => !this.provided.some((engine) => engine.name === name);
    return [
      ...this.provided.filter(({ games }) => games.includes(game)),
      ...this.engines.filter(isMissing).map((name) => ({ name, rating: null, built_in: false, games: [] })),
    ];
  }

  get #chosenEngines(): string[] {
    return this.engines.filter((name) => this.possibleEngines.some((engine) => engine.name === name));
  }

  get hasOpenings(): boolean {
    return !(this.hasChess960 && this.isChess960);
  }

  get hasLateEntries(): boolean {
    return this.pairing !== 'knockout' && this.#start !== 'at-once';
  }

  get hasGamesPerPair(): boolean {
    return this.pairing === 'round-robin' || this.pairing === 'gauntlet';
  }

  get hasPlayers(): boolean {
    return this.#start !== 'at-once';
  }

  get #start(): Start {
    return this.starts.includes(this.start) ? this.start : 'organiser';
  }

  /** All that may be chosen. */
  get possibleTieBreaks(): string[] {
    return TIE_BREAKS[this.pairing];
  }

  /** Those that are chosen, in their order. */
  get chosenTieBreaks(): string[] {
    return this.tieBreaks.filter((name) => this.possibleTieBreaks.includes(name));
  }

  /** Sets the nth tie-break; none ends the list there. */
  setTieBreak(nth: number, name: string): void {
    const chosen = this.chosenTieBreaks;
    this.tieBreaks = [...new Set(name ? chosen.toSpliced(nth, 1, name) : chosen.slice(0, nth))];
  }

  get keys(): string[] {
    return this.access === 'keys' ? namesOf(this.keyNames) : [];
  }

  #access(): TournamentSettings['access'] {
    if (this.access === 'open') return 'open';
    const isKept = this.known && accessOf(this.known) === this.access;
    if (this.access === 'password') return isKept && !this.password ? 'password' : { password: this.password };
    return isKept ? 'keys' : { keys: this.keys };
  }

  settings(): TournamentSettings {
    const isSwiss = this.pairing === 'swiss';
    return {
      name: this.name.trim(),
      game: this.game,
      chess960: this.hasChess960 && this.isChess960,
      openings: this.hasOpenings ? linesOf(this.openings) : null,
      engines: this.#chosenEngines,
      time_control: this.time === 'other' ? `${this.seconds}+${this.increment}` : this.time,
      pairing: this.pairing,
      rounds: isSwiss ? this.rounds : null,
      acceleration: isSwiss && this.isAccelerated ? 'baku' : null,
      gauntlet: this.pairing === 'gauntlet' ? namesOf(this.gauntlet) : [],
      games_per_pair: this.hasGamesPerPair ? this.gamesPerPair : USUAL.games_per_pair,
      players: this.hasPlayers ? this.players : null,
      start: this.#start,
      late_entries: this.hasLateEntries && this.lateEntries,
      tie_breaks: this.chosenTieBreaks,
      pause: this.known && secondsOf(this.known.pause) === this.pause ? this.known.pause : duration(this.pause),
      max_illegal_moves: this.maxIllegalMoves,
      access: this.#access(),
    };
  }

  /** The fields that differ from what is known. */
  changed(): Partial<TournamentSettings> {
    const now = Object.entries(this.settings());
    const before: Record<string, unknown> = { ...this.known };
    return Object.fromEntries(now.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])));
  }
}
