/** A worker in a process of its own, to be killed: says what it begins and what is taken from it, and never ends a run. */
import { openPgBossQueue } from "../pg-boss/open-pg-boss-queue.ts";

const queue = await openPgBossQueue(process.argv[2]!);
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
