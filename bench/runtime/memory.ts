// Measures the pool's memory in its own process: node memory.ts URL FOLDER prints one JSON line.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tandem } from "./tandem.ts";
import { pssMb } from "./process-tree.ts";

const [url = "", folder = ""] = process.argv.slice(2);
const CALLS = 250;
const IDLE_LIMIT = "2s";

const running = (place: string): number[] =>
  readdirSync(join(place, "processes")).map((name) => Number.parseInt(name, 10));
const until = async (reached: () => boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!reached()) {
    if (Date.now() > deadline) throw new Error(`not reached: ${what}`);
    await sleep(50);
  }
};

// Three processes that are ready and have not been used: the spares of a single-use pool.
const spares = join(folder, "spares");
const warm = await tandem("single-use", { url, folder: spares, concurrency: 3 });
await Promise.all(["a", "b", "c"].map((prompt) => warm.text(prompt)));
await until(() => running(spares).length === 3, "three spares");
await sleep(2_000);
const threeFreshIdle = pssMb();
await warm.close();

// One process after another through many calls: the largest that any of them has been.
const worn = join(folder, "worn");
const reused = await tandem("reuse", { url, folder: worn, concurrency: 1 }, { size: 1, idle: IDLE_LIMIT });
const seen = new Set<number>();
let largest = 0;
for (let call = 0; call < CALLS; call += 1) {
  await reused.text(`Call ${call}`);
  for (const pid of running(worn)) {
    seen.add(pid);
    largest = Math.max(largest, residentMb(pid));
  }
}
await until(() => running(worn).length === 0, "no process after the idle limit");
await reused.close();
console.log(
  JSON.stringify({
    threeFreshIdle,
    calls: CALLS,
    processes: seen.size,
    largest,
    leftAfterIdleLimit: running(worn).length,
  }),
);
process.exit();

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
