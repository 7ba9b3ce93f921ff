import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@tandem/storage";
import { afterAll, beforeAll } from "vitest";

/** One store for all tests of a file, each with its own context. Each opened store starts two threads. */
export function sharedStore(): () => Store {
  let folder: string;
  let store: Store | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tandem-store-"));
    store = await openStore(join(folder, "tandem.db"));
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => store!;
}
