// node job-worker-process.ts LOCATION JOB TTL_MS: takes a job, writes steps until it is killed, and prints each number
// once it is stored.
import type { JobId } from "@tandem/protocol";
import { openStore } from "../open-store.ts";

const [location = "", job = "", ttl = ""] = process.argv.slice(2);
const ttlMs = Number(ttl);
const { jobs } = await openStore(location);
const lease = await jobs.take(job as JobId, "worker process", ttlMs);
if (!lease) throw new Error(`The job ${job} cannot be taken.`);
setInterval(() => void jobs.renew([lease], ttlMs), ttlMs / 4);

const work = async (): Promise<never> => {
  for (let step = 1; ; step += 1) {
    const [event] = await jobs.write(lease, [{ type: "step", step }], { state: "running", progress: { step } });
    process.stdout.write(`${event!.seq}\n`);
  }
};
await Promise.all([work(), work()]);
