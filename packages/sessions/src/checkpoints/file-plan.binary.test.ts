import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { CheckpointStores, type Checkpoint, type CheckpointStore } from "@tandem/workspace";
import { beforeEach, expect, test } from "vitest";
import { planFiles } from "./file-plan.ts";
import type { PastMark } from "./session-past.ts";

const LIMITS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

let root: string;
let store: CheckpointStore;
beforeEach(async () => {
  root = await scratchFolder();
  await mkdir(join(root, "work"));
  store = await new CheckpointStores(join(root, "checkpoints"), LIMITS).of(join(root, "work"));
});

const write = (name: string, content: string) => writeFile(join(root, "work", name), content);
const mark = (kind: PastMark["kind"], { id }: Checkpoint, seq: number): PastMark => ({
  seq,
  kind,
  checkpoint: id,
  message: null,
  at: null,
  filesChanged: 0,
  skipped: 0,
});

test("two concurrent sessions in one folder never overwrite each other's changes", async () => {
  for (const name of ["mine.txt", "told.txt", "theirs.txt"]) await write(name, "1");
  const before = await store.take("mine", "before");
  await write("mine.txt", "2");
  await store.take("theirs", "before");
  await write("theirs.txt", "2");
  await write("told.txt", "2");
  await store.take("theirs", "after");
  const after = await store.take("mine", "after");
  const plan = await planFiles(store, "mine", {
    marks: [mark("before", before, 1), mark("after", after, 2)],
    target: before,
    present: await store.take("mine", "look"),
    ownPaths: async () => new Set(["told.txt"]),
  });
  expect(plan.changes.map(({ path }) => path)).toEqual(["mine.txt", "theirs.txt", "told.txt"]);
  expect(plan.foreign).toEqual([{ path: "theirs.txt", reason: expect.stringContaining("another session") }]);
});

test("an earlier or later session in the same folder is no conflict", async () => {
  await write("a.txt", "1");
  await store.take("theirs", "before");
  await store.take("theirs", "after");
  const before = await store.take("mine", "before");
  await write("a.txt", "2");
  const after = await store.take("mine", "after");
  await store.take("theirs", "before");
  await write("b.txt", "theirs");
  const plan = await planFiles(store, "mine", {
    marks: [mark("before", before, 1), mark("after", after, 2)],
    target: before,
    present: await store.take("mine", "look"),
    ownPaths: async () => new Set(),
  });
  expect(plan.changes.map(({ path }) => path)).toEqual(["a.txt"]);
  expect(plan.foreign).toEqual([]);
});
