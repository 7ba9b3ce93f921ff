import { CheckpointStores } from "@tandem/workspace";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FILES = 10_000;
const PER_FOLDER = 100;
const ROUNDS = 5;
const LIMITS = { maxFiles: 2 * FILES, maxFileBytes: 10 ** 7, maxTotalBytes: 10 ** 12, keepMs: 10 ** 9 };

/** Cost of the first and of later checkpoints of a folder with 10,000 files. */
export async function run(): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "tandem-bench-"));
  try {
    const folder = join(root, "folder");
    for (let i = 0; i < FILES; i += 1) {
      const inner = join(folder, `d${Math.floor(i / PER_FOLDER)}`);
      if (i % PER_FOLDER === 0) await mkdir(inner, { recursive: true });
      await writeFile(join(inner, `f${i}.ts`), `export const x${i} = ${i};\n`.repeat(40));
    }
    const store = await new CheckpointStores(join(root, "checkpoints"), LIMITS).of(folder);
    const measure = async (name: string, rounds: number, work: () => Promise<unknown>): Promise<void> => {
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const begin = performance.now();
        await work();
        times.push(performance.now() - begin);
      }
      const median = times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
      console.log(`${name.padEnd(28)} ${Math.round(median)} ms`);
    };
    await measure("first checkpoint", 1, () => store.take("bench", "bench"));
    await measure("second, nothing changed", ROUNDS, () => store.take("bench", "bench"));
    await measure("second, one file changed", ROUNDS, async () => {
      await appendFile(join(folder, "d0", "f0.ts"), "more\n");
      await store.take("bench", "bench");
    });
    const [first, ...others] = await store.list("bench");
    await measure("diff of all since the first", ROUNDS, () =>
      store.diff(first!, others.at(-1)!, { patch: true, maxFiles: 500, maxPatchBytes: 2 ** 21 }),
    );
    console.log(`on disk                      ${((await store.size()).bytes / 1e6).toFixed(1)} MB`);
    await measure("packed, in", 1, () => store.collect());
    console.log(`on disk then                 ${((await store.size()).bytes / 1e6).toFixed(1)} MB`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
