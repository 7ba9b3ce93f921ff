import { BUSIEST_HOUR, MINUTE_PEAK, shareOfHour } from "./day.ts";
import type { Figures, Habits, Limits } from "./figures.ts";
import { meanOf } from "./random.ts";
import { simulateTurns, type TurnFlow } from "./simulate-turns.ts";

/** The longest accepted wait for a worker, in 99 of 100 turns of the busiest hour. */
const WAIT_SECONDS = 1;
/** A cell that is simulated has no more sessions a day than this; what is larger is several of the same kind. */
const SIMULATED = 100_000;

export interface Needs {
  sessionsPerDay: number;
  turnsPerDay: number;
  peakTurnsPerSecond: number;
  /** In the busiest hour, from the simulation. */
  flow: TurnFlow;
  places: number;
  placesPerWorker: number;
  workers: number;
  servers: number;
  streams: number;
  transactionsPerSecond: number;
  walMbPerSecond: number;
  notificationsPerSecond: number;
  storedGbPerDay: number;
  storedGb: number;
  connections: number;
  /** Each demand in parts of what one Postgres bears, the worst first. */
  pressures: { what: string; share: number }[];
  /** Fleets of this kind beside each other, each on a Postgres of its own. */
  cells: number;
}

/** Resources for a number of sessions per day, calculated, and simulated for the busiest hour. */
export function needsOf(sessionsPerDay: number, figures: Figures, habits: Habits, limits: Limits): Needs {
  const turnsPerDay = sessionsPerDay * habits.turnsPerSession;
  const peakTurnsPerSecond = (turnsPerDay * shareOfHour(BUSIEST_HOUR) * MINUTE_PEAK) / 3_600;
  const { flow, places } = enoughPlaces(sessionsPerDay, habits);
  const placesPerWorker = placesOf(figures, habits, limits);
  const workers = Math.max(2, Math.ceil(places / placesPerWorker));
  const sessionSeconds = habits.turnsPerSession * (meanOf(habits.turnSeconds) + habits.thinkSeconds);
  const peakSessions = (peakTurnsPerSecond / habits.turnsPerSession) * sessionSeconds;
  const streams = Math.ceil(peakSessions * habits.streamsPerSession);
  const servers = Math.max(2, Math.ceil(streams / limits.streamsPerServer));
  const processes = workers + servers;
  // A worker is called when a session begins, or was idle for so long that its process has gone.
  const calls = habits.thinkSeconds > habits.warmSeconds ? 1 : 1 / habits.turnsPerSession;
  const perTurn = figures.transactionsPerStep * habits.stepsPerTurn + figures.transactionsPerCall * calls;
  const transactionsPerSecond = peakTurnsPerSecond * perTurn + processes * figures.idleTransactionsPerProcess;
  const walMbPerSecond = (peakTurnsPerSecond * figures.walBytesPerStep * habits.stepsPerTurn) / 1e6;
  const notificationsPerSecond = peakTurnsPerSecond * figures.notificationsPerStep * habits.stepsPerTurn;
  const stored = turnsPerDay * figures.storedBytesPerTurn + sessionsPerDay * figures.storedBytesPerSession;
  const storedGbPerDay = stored / 1e9;
  const storedGb = storedGbPerDay * habits.retentionDays;
  const connections = processes * figures.connectionsPerProcess;
  const pressures = [
    { what: "transactions", share: transactionsPerSecond / limits.transactionsPerSecond },
    { what: "WAL", share: walMbPerSecond / limits.walMbPerSecond },
    { what: "notifications", share: notificationsPerSecond / limits.notificationsPerSecond },
    { what: "connections", share: connections / limits.connections },
    { what: "storage", share: storedGb / limits.storedGb },
  ].sort((a, b) => b.share - a.share);
  return {
    sessionsPerDay,
    turnsPerDay,
    peakTurnsPerSecond,
    flow,
    places,
    placesPerWorker,
    workers,
    servers,
    streams,
    transactionsPerSecond,
    walMbPerSecond,
    notificationsPerSecond,
    storedGbPerDay,
    storedGb,
    connections,
    pressures,
    cells: Math.max(1, Math.ceil(pressures[0]!.share)),
  };
}

/** As many turns at once as a worker's memory and cores bear, with those beside them that are idle and kept warm. */
function placesOf(figures: Figures, habits: Habits, limits: Limits): number {
  const turn = meanOf(habits.turnSeconds);
  // For each turn under way there are idle processes of sessions whose people think, until they are given back.
  const warm = Math.min(habits.warmSeconds, habits.thinkSeconds) / turn;
  const byMemory = limits.workerMemoryMb / (figures.processMb * (1 + warm));
  const cpu = figures.cpuSecondsPerStep * habits.stepsPerTurn + figures.cpuSecondsPerStart / habits.turnsPerSession;
  // Half of the cores are for what the tools do, which is not ours to know.
  const byCores = (limits.workerCores / 2) * (turn / cpu);
  return Math.max(1, Math.floor(Math.min(byMemory, byCores)));
}

/** The smallest number of places that keeps the wait within the limit, found by simulation. */
function enoughPlaces(sessionsPerDay: number, habits: Habits): { flow: TurnFlow; places: number } {
  const cells = Math.ceil(sessionsPerDay / SIMULATED);
  const load = { ...habits, sessionsPerDay: sessionsPerDay / cells };
  const mean =
    (load.sessionsPerDay * shareOfHour(BUSIEST_HOUR) * habits.turnsPerSession * meanOf(habits.turnSeconds)) / 3_600;
  const flowOf = (places: number): TurnFlow => simulateTurns(load, places, { hour: BUSIEST_HOUR });
  let [low, high] = [Math.max(1, Math.floor(mean * 0.9)), Math.ceil(mean * 1.5) + 12];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (flowOf(middle).wait.p99 <= WAIT_SECONDS) high = middle;
    else low = middle + 1;
  }
  return { flow: flowOf(low), places: low * cells };
}
