import {
  DEFAULT_ATTEMPTS,
  DEFAULT_PAUSE_SECONDS,
  MAX_PAUSE_SECONDS,
  type DeadRun,
  type QueueOptions,
  type RunQueue,
} from "../run-queue.ts";
import { PostgresWorker, runOf } from "./postgres-worker.ts";
import { QueueDatabase } from "./queue-database.ts";
import { cancel, dead, depth, end, fail, failLost, send } from "./queue-statements.ts";

/** A worker sends heartbeats this often, and looks for those of dead workers. */
const BEAT_EVERY_MS = 2_000;
/** Five missed heartbeats lose a run. */
const SILENT_SECONDS = 10;
/** After a Postgres outage, every worker can send a heartbeat before any is considered dead. */
const GRACE_MS = 6_000;
const TELL_EVERY_MS = 30_000;

export interface PostgresQueueOptions extends QueueOptions {
  /** Postgres without a pooler, for notifications. The pooler of `url` may then use transaction mode. */
  directUrl?: string | undefined;
  /** Called for background errors, such as an unavailable Postgres. Nothing is lost: everything is retried. */
  onTrouble?: (error: Error) => void;
}

/**
 * A fleet's queue on its store's Postgres, in its own schema. A dead worker is detected after ten seconds. While
 * Postgres is down, calls wait up to 30 seconds, and workers as long as needed.
 */
export async function openPostgresQueue(url: string, options: PostgresQueueOptions = {}): Promise<RunQueue> {
  const database = await QueueDatabase.open(url, options.directUrl);
  const workers = new Set<PostgresWorker>();
  const policy = {
    attempts: options.attempts ?? DEFAULT_ATTEMPTS,
    pauseSeconds: options.pauseSeconds ?? DEFAULT_PAUSE_SECONDS,
    maxPauseSeconds: MAX_PAUSE_SECONDS,
  };
  const told = new Map<string, number>();
  let trustFrom = 0;
  // Rate-limits repeated errors: an unavailable Postgres causes several per second.
  const trouble = (error: unknown): void => {
    trustFrom = performance.now() + GRACE_MS;
    const { message } = error instanceof Error ? error : new Error(String(error));
    if (performance.now() - (told.get(message) ?? -Infinity) < TELL_EVERY_MS) return;
    told.set(message, performance.now());
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
  const beatAll = async (): Promise<void> => {
    await Promise.all([...workers].map((worker) => worker.beat()));
    if (workers.size > 0 && performance.now() > trustFrom) await database.query(failLost(SILENT_SECONDS, policy));
  };
  const heart = setInterval(() => void beatAll().catch(trouble), BEAT_EVERY_MS).unref();

  const readDead = async (): Promise<DeadRun[]> =>
    (await database.patiently(dead())).map((row) => ({
      run: runOf(row),
      error: row.error,
      attempts: row.failures,
      at: row.at.toISOString(),
    }));

  return {
    send: async (run) => void (await database.patiently(send(run))),
    work: (places, capacity, handle, restrictions) => {
      const worker = new PostgresWorker(
        {
          database,
          options,
          trouble,
          settle: async (taken, failure) => {
            await database.patiently(failure ? fail(taken, wordsOf(failure.error), policy) : end(taken));
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

const wordsOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
