// One contender's turn, in a process of its own: node perform.ts '{"contender": …}' prints one JSON line per cell.
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { aiSdkProvider } from "./ai-sdk-provider.ts";
import { bareSdk } from "./bare-sdk.ts";
import { OPERATIONS, type Contender, type Operation, type Surroundings } from "./contender.ts";
import { treeCpuSeconds, pssMb } from "./process-tree.ts";
import { tandem } from "./tandem.ts";

const CONTENDERS: Record<string, (surroundings: Surroundings) => Contender | Promise<Contender>> = {
  "bare SDK": bareSdk,
  "ai-sdk-provider-claude-code": aiSdkProvider,
  "tandem, pool off": (surroundings) => tandem("off", surroundings),
  "tandem, single-use": (surroundings) => tandem("single-use", surroundings),
  "tandem, reuse": (surroundings) => tandem("reuse", surroundings),
};

/** A call that takes longer is a fault of the bench or of the contender, and ends the run. */
const CALL_DEADLINE_MS = 60_000;
const WARM_UP_MS = 2_500;

const task = z
  .object({
    contender: z.string(),
    url: z.string(),
    folder: z.string(),
    cells: z.array(z.object({ concurrency: z.int(), calls: z.int() })),
  })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

for (const { concurrency, calls } of task.cells) {
  const folder = `${task.folder}/${concurrency}`;
  mkdirSync(folder, { recursive: true });
  const contender = await CONTENDERS[task.contender]!({ url: task.url, folder, concurrency });
  for (const operation of OPERATIONS) {
    // Warm-up fills the pool, if there is one, and the file caches.
    const warmUntil = performance.now() + WARM_UP_MS;
    do await burst(contender, operation, concurrency, concurrency);
    while (performance.now() < warmUntil);
    const cpuBefore = treeCpuSeconds();
    const started = performance.now();
    const latencies = await burst(contender, operation, concurrency, calls);
    const seconds = (performance.now() - started) / 1_000;
    const cpu = (treeCpuSeconds() - cpuBefore) / calls;
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
    console.log(
      JSON.stringify({
        operation,
        concurrency,
        calls,
        p50: at(0.5),
        p95: at(0.95),
        perSecond: calls / seconds,
        cpu,
        pss: pssMb(),
      }),
    );
  }
  await contender.close();
}
process.exit();

/** Makes `calls` calls, never more than `concurrency` at once; their latencies in milliseconds. */
async function burst(
  contender: Contender,
  operation: Operation,
  concurrency: number,
  calls: number,
): Promise<number[]> {
  const latencies: number[] = [];
  let next = 0;
  const line = async (): Promise<void> => {
    while (next < calls) {
      const number = next++;
      const since = performance.now();
      const work = contender[operation](`Call ${number}: what is six times seven?`);
      const answer = await Promise.race([work, sleep(CALL_DEADLINE_MS, undefined, { ref: false })]);
      if (!JSON.stringify(answer)?.includes("42")) throw new Error(`wrong answer: ${JSON.stringify(answer)}`);
      latencies.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, line));
  return latencies;
}
