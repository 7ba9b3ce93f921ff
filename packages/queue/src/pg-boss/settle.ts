import { DEFAULT_ATTEMPTS, type Run } from "../run-queue.ts";
import { PATIENCE_MS, type Carrier, type TakenJob } from "./carrier.ts";
import { patiently } from "./patience.ts";
import { inName } from "./queue-name.ts";
import { FORGET_SENT, GIVE_BACK, SENT_SINCE } from "./statements.ts";

/**
 * The run has ended here. What is done is deleted: a queue that keeps nothing stays small. pg-boss does nothing if the attempt
 * is not this worker's any more.
 */
export async function settle(
  carrier: Carrier,
  job: TakenJob,
  run: Run,
  failure: { error: unknown } | undefined,
): Promise<void> {
  const work = failure ? () => fail(carrier, job, run, failure.error) : () => carrier.boss.deleteJob(job.name, job);
  await patiently<unknown>(work, PATIENCE_MS, carrier.closing.signal);
}

/** One that was sent meanwhile and the one that has failed are one: it waits as long as the failed one must. */
async function fail(carrier: Carrier, job: TakenJob, run: Run, error: unknown): Promise<void> {
  const key = [inName(run.key), job.name];
  const isLast = job.retryCount + 1 >= (carrier.options.attempts ?? DEFAULT_ATTEMPTS);
  await carrier.transaction(async (db) => {
    if (!isLast) await carrier.sql(FORGET_SENT, [...key, job.id, job.retryCount], db);
    const goesOn = isLast && (await carrier.sql(SENT_SINCE, key, db)).length > 0;
    if (goesOn) await carrier.boss.deleteJob(job.name, job, { db });
    else await carrier.boss.fail(job.name, job, { message: wordsOf(error) }, { db });
  });
}

/** Others may take it at once; no attempt is lost. */
export async function giveBack(carrier: Carrier, job: TakenJob, run: Run): Promise<void> {
  const values = [job.name, job.id, job.retryCount, inName(run.key), carrier.channel];
  // Without it, the run is taken for lost in a few seconds, and is tried again then.
  await patiently(() => carrier.sql(GIVE_BACK, values), PATIENCE_MS, carrier.closing.signal).catch((error: unknown) =>
    carrier.trouble(error),
  );
}

const wordsOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
