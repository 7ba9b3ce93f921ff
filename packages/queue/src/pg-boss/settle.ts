import { DEFAULT_ATTEMPTS, type Run } from "../run-queue.ts";
import { UNAVAILABLE_MS, type PgBossAdapter, type TakenJob } from "./pg-boss-adapter.ts";
import { retryWhileUnavailable } from "./retry-while-unavailable.ts";
import { inName } from "./queue-name.ts";
import { FORGET_SENT, GIVE_BACK, SENT_SINCE } from "./statements.ts";

/**
 * Stores the end of a run. Completed runs are deleted, to keep the queue small. pg-boss ignores it if the attempt is no
 * longer this worker's.
 */
export async function settle(
  adapter: PgBossAdapter,
  job: TakenJob,
  run: Run,
  failure: { error: unknown } | undefined,
): Promise<void> {
  const work = failure ? () => fail(adapter, job, run, failure.error) : () => adapter.boss.deleteJob(job.name, job);
  await retryWhileUnavailable<unknown>(work, UNAVAILABLE_MS, adapter.closing.signal);
}

/** Merges the failed run with one sent in the meantime; it waits for the failed one's backoff. */
async function fail(adapter: PgBossAdapter, job: TakenJob, run: Run, error: unknown): Promise<void> {
  const key = [inName(run.key), job.name];
  const isLast = job.retryCount + 1 >= (adapter.options.attempts ?? DEFAULT_ATTEMPTS);
  await adapter.transaction(async (db) => {
    if (!isLast) await adapter.sql(FORGET_SENT, [...key, job.id, job.retryCount], db);
    const goesOn = isLast && (await adapter.sql(SENT_SINCE, key, db)).length > 0;
    if (goesOn) await adapter.boss.deleteJob(job.name, job, { db });
    else await adapter.boss.fail(job.name, job, { message: wordsOf(error) }, { db });
  });
}

/** Another worker may take it at once; the attempt does not count. */
export async function returnToQueue(adapter: PgBossAdapter, job: TakenJob, run: Run): Promise<void> {
  const values = [job.name, job.id, job.retryCount, inName(run.key), adapter.channel];
  // If this fails, the run is considered lost after a few seconds and retried.
  await retryWhileUnavailable(() => adapter.sql(GIVE_BACK, values), UNAVAILABLE_MS, adapter.closing.signal).catch(
    (error: unknown) => adapter.trouble(error),
  );
}

const wordsOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
