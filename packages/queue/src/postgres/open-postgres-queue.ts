import {
  DEFAULT_ATTEMPTS,
  DEFAULT_LOST_ATTEMPTS,
  DEFAULT_PAUSE_SECONDS,
  DEFAULT_SILENT_SECONDS,
  MAX_PAUSE_SECONDS,
  type DeadRun,
  type QueueOptions,
  type RunQueue,
} from "../run-queue.ts";
import { PostgresWorker, runOf } from "./postgres-worker.ts";
import { QueueDatabase } from "./queue-database.ts";
import { cancel, dead, depth, end, fail, failLost, send } from "./queue-statements.ts";

/** A worker sends heartbeats at most this often, and looks for runs of dead workers. */
const MAX_BEAT_MS = 2_000;
/** So many missed heartbeats lose a run. */
const MISSED_BEATS = 5;
/**
 * A heartbeat may wait long for the retransmission of a lost packet; a second one, on another connection, often arrives
 * earlier. More would use up the connections while the link is slow.
 */
const MAX_BEATS_AT_ONCE = 2;
/** After a Postgres outage, every worker can send a heartbeat before any is considered dead. */
const GRACE_MS = 6_000;
const REPORT_EVERY_MS = 30_000;

export interface PostgresQueueOptions extends QueueOptions {
  /** Postgres without a pooler, for notifications. The pooler of `url` may then use transaction mode. */
  directUrl?: string | undefined;
  /** Called for background errors, such as an unavailable Postgres. Nothing is lost: everything is retried. */
  onTrouble?: (error: Error) => void;
}

/**
 * A fleet's queue on its store's Postgres, in its own schema. A dead worker is detected after `silentMs`. While Postgres is
 * down, calls wait up to 30 seconds, and workers as long as needed.
 */
export async function openPostgresQueue(url: string, options: PostgresQueueOptions = {}): Promise<RunQueue> {
  const database = await QueueDatabase.open(url, options.directUrl);
  const workers = new Set<PostgresWorker>();
  const policy = {
    attempts: options.attempts ?? DEFAULT_ATTEMPTS,
    pauseSeconds: options.pauseSeconds ?? DEFAULT_PAUSE_SECONDS,
    maxPauseSeconds: MAX_PAUSE_SECONDS,
  };
  const silentSeconds = (options.silentMs ?? DEFAULT_SILENT_SECONDS * 1_000) / 1_000;
  const lastReported = new Map<string, number>();
  // Rate-limits repeated errors: an unavailable Postgres causes several per second.
  const trouble = (error: unknown): void => {
    const { message } = error instanceof Error ? error : new Error(String(error));
    if (performance.now() - (lastReported.get(message) ?? -Infinity) < REPORT_EVERY_MS) return;
    lastReported.set(message, performance.now());
    options.onTrouble?.(error instanceof Error ? error : new Error(message));
  };
  database.listen(
    (payload) => {
      for (const worker of workers) {
        if (payload.startsWith("!")) worker.cancelled(payload.slice(1));
        else worker.onNotification(payload);
      }
    },
    () => {
      for (const worker of workers) worker.look();
    },
  );
  let beats = 0;
  let trustFrom = 0;
  const beatAll = async (): Promise<void> => {
    if (beats === MAX_BEATS_AT_ONCE) return;
    beats += 1;
    try {
      await Promise.all([...workers].map((worker) => worker.beat()));
      if (workers.size > 0 && performance.now() > trustFrom) await database.query(failLost(DEFAULT_LOST_ATTEMPTS));
    } catch (error) {
      // Only here: a failure of another statement does not show that the heartbeats of other workers are missing.
      trustFrom = performance.now() + GRACE_MS;
      trouble(error);
    } finally {
      beats -= 1;
    }
  };
  const beatEveryMs = Math.min(MAX_BEAT_MS, (silentSeconds * 1_000) / MISSED_BEATS);
  const heart = setInterval(() => void beatAll(), beatEveryMs).unref();

  const readDead = async (): Promise<DeadRun[]> =>
    (await database.patiently(dead())).map((row) => ({
      run: runOf(row),
      error: row.error,
      attempts: row.attempts,
      at: row.at.toISOString(),
    }));

  return {
    send: async (run) => void (await database.patiently(send(run))),
    work: (places, capacity, handle, restrictions) => {
      const worker = new PostgresWorker(
        {
          database,
          options,
          silentSeconds,
          trouble,
          settle: async (taken, failure) => {
            await database.patiently(failure ? fail(taken, messageOf(failure.error), policy) : end(taken));
          },
          onStopped: (stopped) => workers.delete(stopped),
        },
        { places, capacity, handle, ...restrictions },
      );
      workers.add(worker);
      return worker;
    },
    cancel: async (key) => void (await database.patiently(cancel(key))),
    dead: readDead,
    requeue: async (key) => {
      const letter = (await readDead()).find(({ run }) => run.key === key);
      if (letter) await database.patiently(send(letter.run));
      return letter !== undefined;
    },
    depth: async () =>
      (await database.patiently(depth())).map(({ oldest, ...counts }) => ({ ...counts, oldestMs: oldest })),
    [Symbol.asyncDispose]: async () => {
      // Clean up with a single attempt.
      database.stopWaiting();
      await Promise.all([...workers].map((worker) => worker.stop(0)));
      clearInterval(heart);
      await database[Symbol.asyncDispose]();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
