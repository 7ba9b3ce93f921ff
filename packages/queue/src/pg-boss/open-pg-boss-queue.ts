import type { DeadRun, QueueDepth, Run, RunQueue } from "../run-queue.ts";
import { PgBossAdapter, UNAVAILABLE_MS, type PgBossQueueOptions, type Row } from "./pg-boss-adapter.ts";
import { retryWhileUnavailable } from "./retry-while-unavailable.ts";
import { PgBossWorker, readRun } from "./pg-boss-worker.ts";
import { DEAD_LETTERS, inName, placeIn, queueName } from "./queue-name.ts";
import { BEFORE_SEND, CANCEL, DEPTH } from "./statements.ts";

/** Five missed heartbeats lose a run. */
const BEAT_EVERY_MS = 2_000;

/**
 * A fleet's queue on its store's Postgres, with pg-boss in its own schema. A dead worker is detected after ten seconds.
 * While Postgres is down, calls wait up to 30 seconds, and workers as long as needed.
 */
export async function openPgBossQueue(url: string, options: PgBossQueueOptions = {}): Promise<RunQueue> {
  const adapter = await PgBossAdapter.open(url, options);
  const workers = new Set<PgBossWorker>();
  const wait = <T>(attempt: () => Promise<T>): Promise<T> =>
    retryWhileUnavailable(attempt, UNAVAILABLE_MS, adapter.closing.signal);

  adapter.onNotification(
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
  const heart = setInterval(() => {
    for (const worker of workers) worker.beat().catch((error: unknown) => adapter.trouble(error));
  }, BEAT_EVERY_MS).unref();

  const send = async (run: Run): Promise<void> => {
    const name = queueName(run);
    const key = inName(run.key);
    await wait(async () => {
      await adapter.ensureQueue(name);
      const waits = (await adapter.sql(BEFORE_SEND, [key, name])).length > 0;
      if (waits) return;
      // The group is the key: one running run per group.
      await adapter.boss.send(name, run, { singletonKey: key, group: { id: key }, priority: run.priority });
    });
  };

  const dead = async (): Promise<DeadRun[]> => {
    const letters = await wait(() => adapter.boss.findJobs<unknown>(DEAD_LETTERS, { queued: true }));
    return letters
      .toSorted((a, b) => b.createdOn.getTime() - a.createdOn.getTime())
      .flatMap((letter) => {
        const run = readRun(letter.data);
        const attempts = (letter.sourceRetryCount ?? 0) + 1;
        return run
          ? [{ run, error: failureMessage(letter.sourceOutput), attempts, at: letter.createdOn.toISOString() }]
          : [];
      });
  };

  return {
    send,
    work: (places, capacity, handle, restrictions) => {
      const options = { places, capacity, handle, ...restrictions };
      const worker = new PgBossWorker(adapter, options, (stopped) => workers.delete(stopped));
      workers.add(worker);
      return worker;
    },
    cancel: async (key) => void (await wait(() => adapter.sql(CANCEL, [inName(key), adapter.channel]))),
    dead,
    requeue: async (key) => {
      const letter = (await dead()).find(({ run }) => run.key === key);
      if (letter) await send(letter.run);
      return letter !== undefined;
    },
    depth: async () => {
      const rows = await wait(() => adapter.sql(DEPTH));
      return [...Map.groupBy(rows, ({ name }) => placeIn(String(name)))]
        .map(([place, queues]) => depthOf(place, queues))
        .toSorted((a, b) => (a.place < b.place ? -1 : 1));
    },
    [Symbol.asyncDispose]: async () => {
      // Clean up with a single attempt: closing must not wait for an unavailable Postgres.
      adapter.closing.abort();
      await Promise.all([...workers].map((worker) => worker.stop(0)));
      clearInterval(heart);
      await adapter.close();
    },
  };
}

function depthOf(place: string, queues: readonly Row[]): QueueDepth {
  const ages = queues.flatMap(({ oldest }) => (typeof oldest === "number" ? [oldest] : []));
  return {
    place,
    waiting: queues.reduce((sum, { waiting }) => sum + Number(waiting), 0),
    running: queues.reduce((sum, { running }) => sum + Number(running), 0),
    oldestMs: ages.length > 0 ? Math.max(...ages) : null,
  };
}

/** The failure message, from us or from pg-boss about a lost worker. */
function failureMessage(output: unknown): string {
  if (typeof output !== "object" || output === null) return "unknown";
  if ("message" in output && typeof output.message === "string") return output.message;
  return "value" in output ? failureMessage(output.value) : "unknown";
}
