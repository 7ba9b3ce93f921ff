/** A worker process to be killed: prints the runs it starts and loses, and never ends one. */
import { openPostgresQueue } from "../postgres/open-postgres-queue.ts";

const [url = "", silentMs = "10000"] = process.argv.slice(2);
const queue = await openPostgresQueue(url, { silentMs: Number(silentMs) });
queue.work(
  ["any"],
  () => 10,
  async ({ key }, signal) => {
    console.log(`begun ${key}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    console.log(`lost ${key}`);
  },
);
setInterval(() => {}, 60_000);
