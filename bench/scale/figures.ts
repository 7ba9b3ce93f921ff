/**
 * Costs of turns, measured by `npm run fleet-lab -- --figures`, `npm run bench fleet` and its neighbours; see docs/scale.md,
 * bench/README.md and docs/guides/database.md.
 */
export interface Figures {
  /** Of Postgres, for a turn of one model request and no tools, whose session is held by a worker already. */
  transactionsPerStep: number;
  notificationsPerStep: number;
  walBytesPerStep: number;
  /** To call a worker for a session without a holder. */
  transactionsPerCall: number;
  /** Permanent bytes on disk of a turn with three tool calls of 2 kB: events, transcript, their indexes. */
  storedBytesPerTurn: number;
  storedBytesPerSession: number;
  /** Per second, of a process that has nothing to do: it looks, beats and listens. */
  idleTransactionsPerProcess: number;
  /** Of a worker and its Claude Code: for a request of a warm process, and to start one. */
  cpuSecondsPerStep: number;
  cpuSecondsPerStart: number;
  /** Of one Claude Code process, by its share of memory. */
  processMb: number;
  /** Connections to Postgres of one process of ours, at most. */
  connectionsPerProcess: number;
}

/** Default shape of turns. An assumption, not a measurement: replace it with your own figures. */
export interface Habits {
  turnsPerSession: number;
  thinkSeconds: number;
  turnSeconds: { median: number; p95: number };
  /** Model requests of a turn, with the tool calls between them: each brings events, and so transactions, of its own. */
  stepsPerTurn: number;
  /** How long an idle session keeps its process: `sessions.idle`. */
  warmSeconds: number;
  /** Streams that are open for each session that is under way. */
  streamsPerSession: number;
  retentionDays: number;
}

/** Capacity of one of each. Postgres: tuned, 16 cores, local NVMe, at half of its benchmark figures. */
export interface Limits {
  transactionsPerSecond: number;
  walMbPerSecond: number;
  notificationsPerSecond: number;
  connections: number;
  storedGb: number;
  /** A worker's machine. */
  workerCores: number;
  workerMemoryMb: number;
  streamsPerServer: number;
}

export const FIGURES: Figures = {
  transactionsPerStep: 13.5,
  notificationsPerStep: 7.1,
  walBytesPerStep: 40_000,
  transactionsPerCall: 7,
  storedBytesPerTurn: 17_000,
  storedBytesPerSession: 5_000,
  idleTransactionsPerProcess: 0.7,
  cpuSecondsPerStep: 0.23,
  cpuSecondsPerStart: 0.9,
  processMb: 111,
  connectionsPerProcess: 19,
};

export const HABITS: Habits = {
  turnsPerSession: 5,
  thinkSeconds: 120,
  turnSeconds: { median: 25, p95: 180 },
  stepsPerTurn: 4,
  warmSeconds: 300,
  streamsPerSession: 1,
  retentionDays: 30,
};

export const LIMITS: Limits = {
  transactionsPerSecond: 8_000,
  walMbPerSecond: 100,
  notificationsPerSecond: 3_000,
  connections: 500,
  storedGb: 4_000,
  workerCores: 8,
  workerMemoryMb: 32_000,
  streamsPerServer: 10_000,
};
