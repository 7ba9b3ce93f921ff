/** What one turn costs: measured by `npm run bench fleet` and its neighbours; see bench/README.md. */
export interface Figures {
  /** Of Postgres, for a turn of one request without tools; of which `queue` are the queue's own. */
  commitsPerTurn: number;
  queueCommitsPerTurn: number;
  walBytesPerTurn: number;
  /** On disk for good: events, transcript, their indexes. */
  storedBytesPerTurn: number;
  notificationsPerTurn: number;
  /** Commits per second of a process that has nothing to do: it looks, beats and listens. */
  idleCommitsPerProcess: number;
  /** A worker's and its Claude Code's, for a turn of a warm process; and to start one. */
  cpuSecondsPerTurn: number;
  cpuSecondsPerStart: number;
  /** Of one Claude Code process, by its share of memory. */
  processMb: number;
  /** Connections to Postgres of one process of ours. */
  connectionsPerProcess: number;
}

/** What turns look like where nothing else is known. Judgement, not measurement; change it to what you have. */
export interface Habits {
  turnsPerSession: number;
  thinkSeconds: number;
  turnSeconds: { median: number; p95: number };
  /** Model requests and tool calls of a turn: each brings events, and so commits, of its own. */
  stepsPerTurn: number;
  /** How long an idle session keeps its process: `sessions.idle`. */
  warmSeconds: number;
  /** Streams that are open for each session that is under way. */
  streamsPerSession: number;
  retentionDays: number;
}

/** What one of each bears. Of Postgres: a well-kept one with 16 cores and local NVMe, at half of what it does in benches. */
export interface Limits {
  commitsPerSecond: number;
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
  commitsPerTurn: 14,
  queueCommitsPerTurn: 4,
  walBytesPerTurn: 60_000,
  storedBytesPerTurn: 20_000,
  notificationsPerTurn: 10,
  idleCommitsPerProcess: 4,
  cpuSecondsPerTurn: 0.25,
  cpuSecondsPerStart: 0.9,
  processMb: 111,
  connectionsPerProcess: 12,
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
  commitsPerSecond: 8_000,
  walMbPerSecond: 100,
  notificationsPerSecond: 3_000,
  connections: 500,
  storedGb: 4_000,
  workerCores: 8,
  workerMemoryMb: 32_000,
  streamsPerServer: 10_000,
};
