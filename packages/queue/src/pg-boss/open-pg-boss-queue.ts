import type { DeadRun, QueueDepth, Run, RunQueue } from "../run-queue.ts";
import { Carrier, PATIENCE_MS, type PgBossQueueOptions, type Row } from "./carrier.ts";
import { patiently } from "./patience.ts";
import { PgBossWorker, readRun } from "./pg-boss-worker.ts";
import { DEAD_LETTERS, inName, placeIn, queueName } from "./queue-name.ts";
import { BEFORE_SEND, CANCEL, DEPTH } from "./statements.ts";

/** Five are missed before a run is another's. */
const BEAT_EVERY_MS = 2_000;

/**
 * The queue of a fleet, on the Postgres of its store, carried by pg-boss in a schema of its own. A worker that dies is noticed
 * after ten seconds; while Postgres is away, calls wait for it for half a minute, and workers for as long as it takes.
 */
export async function openPgBossQueue(url: string, options: PgBossQueueOptions = {}): Promise<RunQueue> {
  const carrier = await Carrier.open(url, options);
  const workers = new Set<PgBossWorker>();
  const wait = <T>(attempt: () => Promise<T>): Promise<T> => patiently(attempt, PATIENCE_MS, carrier.closing.signal);

  carrier.onRing(
    (payload) => {
      for (const worker of workers) {
        if (payload.startsWith("!")) worker.cancelled(payload.slice(1));
        else worker.heard(payload);
      }
    },
    () => {
      for (const worker of workers) worker.look();
    },
  );
  const heart = setInterval(() => {
    for (const worker of workers) worker.beat().catch((error: unknown) => carrier.trouble(error));
  }, BEAT_EVERY_MS).unref();

  const send = async (run: Run): Promise<void> => {
    const name = queueName(run.place, run.tenant);
    const key = inName(run.key);
    await wait(async () => {
      await carrier.ensureQueue(name);
      const waits = (await carrier.sql(BEFORE_SEND, [key, name])).length > 0;
      if (waits) return;
      // Of its group, that of the key, one is under way at a time.
      await carrier.boss.send(name, run, { singletonKey: key, group: { id: key }, priority: run.priority });
    });
  };

  const dead = async (): Promise<DeadRun[]> => {
    const letters = await wait(() => carrier.boss.findJobs<unknown>(DEAD_LETTERS, { queued: true }));
    return letters
      .toSorted((a, b) => b.createdOn.getTime() - a.createdOn.getTime())
      .flatMap((letter) => {
        const run = readRun(letter.data);
        const attempts = (letter.sourceRetryCount ?? 0) + 1;
        return run ? [{ run, error: wordsIn(letter.sourceOutput), attempts, at: letter.createdOn.toISOString() }] : [];
      });
  };

  return {
    send,
    work: (places, capacity, handle, tenants) => {
      const wishes = { places, capacity, handle, tenants };
      const worker = new PgBossWorker(carrier, wishes, (stopped) => workers.delete(stopped));
      workers.add(worker);
      return worker;
    },
    cancel: async (key) => void (await wait(() => carrier.sql(CANCEL, [inName(key), carrier.channel]))),
    dead,
    requeue: async (key) => {
      const letter = (await dead()).find(({ run }) => run.key === key);
      if (letter) await send(letter.run);
      return letter !== undefined;
    },
    depth: async () => {
      const rows = await wait(() => carrier.sql(DEPTH));
      return [...Map.groupBy(rows, ({ name }) => placeIn(String(name)))]
        .map(([place, queues]) => depthOf(place, queues))
        .toSorted((a, b) => (a.place < b.place ? -1 : 1));
    },
    [Symbol.asyncDispose]: async () => {
      // What is left is tried once: whoever closes it does not wait for a Postgres that is away.
      carrier.closing.abort();
      await Promise.all([...workers].map((worker) => worker.stop(0)));
      clearInterval(heart);
      await carrier.close();
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

/** What was said when it failed: by us, or by pg-boss of a worker that it has not heard of. */
function wordsIn(output: unknown): string {
  if (typeof output !== "object" || output === null) return "unknown";
  if ("message" in output && typeof output.message === "string") return output.message;
  return "value" in output ? wordsIn(output.value) : "unknown";
}
