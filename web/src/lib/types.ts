// Shapes of the arena's JSON, as `GET /api` documents them.

export type Color = 'white' | 'black';

export interface Person {
  name: string;
  rating: number | null;
  bot: boolean | null;
}

export interface Clocks {
  white_ms: number;
  black_ms: number;
  running: Color | null;
}

export interface GameSummary {
  id: string;
  source: string;
  kind: string;
  chess960?: boolean;
  tournament: string | null;
  round: number | null;
  white: Person;
  black: Person;
  time_control: string | null;
  state: 'running' | 'ended';
  result: string | null;
  reason: string | null;
  fen: string;
  last_move: string | null;
  last_san: string | null;
  clocks: Clocks | null;
  ply: number;
  started: string;
}

export type Score = { cp: number } | { mate: number };

export interface Thought {
  score: Score;
  depth: number;
  nodes: number | null;
  nps: number | null;
  pv: string[];
  origin: string;
}

export interface Ply {
  uci: string;
  san: string;
  fen: string;
  spent_ms: number | null;
  left_ms: number | null;
  thought: Thought | null;
}

export interface Game extends GameSummary {
  start_fen: string;
  plies: Ply[];
  /** Nothing unless the organiser has given it another one. */
  result_at_board: string | null;
  note: string | null;
}

export interface Standing {
  rank: number;
  name: string;
  score: number;
  tie_breaks: { name: string; value: number }[];
  wins: number;
  draws: number;
  losses: number;
  forfeits: number;
  byes: number;
  present: boolean;
  withdrawn: boolean;
  /** The arena provides this player. */
  engine?: boolean;
  rating?: number | null;
}

export interface Pairing {
  round: number;
  white: string;
  /** Nothing: White has a bye. */
  black: string | null;
  /** By it, the result is corrected; a forfeit has no moves to look at. */
  game: string | null;
  result: string | null;
  forfeit: boolean;
  note: string | null;
}

export interface Refusal {
  at: string;
  name: string;
  reason: string;
}

export type System = 'round-robin' | 'swiss' | 'gauntlet' | 'knockout';
export type Start = 'full' | 'organiser' | 'at-once';

export interface TournamentSummary {
  name: string;
  /** Number among those of that name; an earlier one is addressed as `NAME EDITION`. */
  edition: number;
  kind: string;
  chess960?: boolean;
  /** Games begin from positions that the organiser has chosen. */
  openings?: boolean;
  time_control: string | null;
  pairing: System;
  rounds: number | null;
  state: 'waiting' | 'running' | 'paused' | 'complete';
  start: Start;
  /** Players that may join; nothing: as many as come. */
  seats: number | null;
  late_entries: boolean;
  /** What `Pairing.round` counts. */
  numbering?: 'rounds' | 'games';
  players: Standing[];
  joins: { protocol: string; line: string }[];
  editable: boolean;
  /** Its results can be corrected. */
  correctable: boolean;
}

export interface Tournament extends TournamentSummary {
  pairings: Pairing[];
  refusals: Refusal[];
}

/** A player that the arena provides. */
export interface Engine {
  name: string;
  rating: number | null;
  /** Part of the program; the others are named in its configuration. */
  built_in: boolean;
  /** Games that it plays, `chess960` among them. */
  games: string[];
}

/** What an organiser decides of a tournament. */
export interface TournamentSettings {
  name: string;
  game: string;
  chess960: boolean;
  /** Positions from which games begin, one FEN or EPD each; nothing: as usual. */
  openings: string[] | null;
  /** Players that the arena provides. */
  engines: string[];
  time_control: string;
  pairing: System;
  rounds: number | null;
  acceleration: 'baku' | null;
  gauntlet: string[];
  games_per_pair: number;
  players: number | null;
  start: Start;
  late_entries: boolean;
  /** Empty: those that are usual for the system. */
  tie_breaks: string[];
  /** Rest of a player after a game, as `5s`. */
  pause: string;
  /** Illegal moves in a row that cost a player the connection. */
  max_illegal_moves: number;
  /** Told without the secrets. */
  access: 'open' | 'password' | 'keys' | { password: string } | { keys: string[] };
}

/** A key that has just been drawn: it is told once. */
export interface DrawnKey {
  name: string;
  key: string;
  line: string;
}

export interface Status {
  program: string;
  version: string;
  role: 'arena' | 'bot';
  organiser: boolean;
  results: boolean;
  kinds: string[];
}

export type BotOrder = 'challenge' | 'join' | 'block';

export interface BotOwnChallenge {
  at: string;
  server: string;
  id: string | null;
  to: string;
  terms: string;
  state: 'open' | 'accepted' | 'ended';
  reason: string | null;
}

/** What `zeitnot play` tells of itself. */
export interface Bot {
  servers: { name: string; state: 'playing' | 'left' | 'refused'; error: string | null; orders: BotOrder[] }[];
  games: number;
  stopping: boolean;
  challenges: { at: string; server: string; by: string; terms: string; accepted: boolean; reason: string | null }[];
  own_challenges: BotOwnChallenge[];
  /** Nothing without the token, as `error` of a server. */
  blocked: string[] | null;
  errors: { at: string; server: string | null; text: string }[] | null;
  answers: { at: string; game: string; ply: number; spent_ms: number; slack_ms: number; lag_ms: number }[];
  record: { opponent: string; wins: number; draws: number; losses: number; aborted: number }[];
}

export type Watch = 'games' | 'bot' | { game: string } | { tournament: string };

export type Message =
  | { type: 'games'; games: GameSummary[] }
  | { type: 'game'; game: Game }
  | { type: 'begin'; game: GameSummary }
  | { type: 'move'; id: string; ply: number; move: Ply; clocks: Clocks | null }
  | { type: 'thought'; id: string; ply: number; side: Color; thought: Thought }
  | { type: 'end'; id: string; result: string; reason: string | null; clocks: Clocks | null }
  | { type: 'tournament'; tournament: Tournament }
  | { type: 'deleted'; tournament: string }
  | { type: 'bot'; bot: Bot }
  | { type: 'pong'; ping: number }
  | { type: 'error'; error: string };

export interface LegalMove {
  uci: string;
  san: string;
}

export interface TableState {
  type: 'state';
  game: Game;
  you: Color;
  legal: LegalMove[];
  draw_offer: Color | null;
  takeback_offer: Color | null;
  rematch_offer: Color | null;
  opponent_here: boolean;
  can: { takeback: boolean; draw: boolean; rematch: boolean };
}

export type TableMessage =
  | TableState
  | { type: 'rematch'; seat: string }
  | { type: 'pong'; ping: number }
  | { type: 'error'; error: string };

export type Offer = 'offer' | 'accept' | 'decline';

export interface Analysis extends Thought {
  san?: string[];
}
