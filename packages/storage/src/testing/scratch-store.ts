import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, TestRunner } from "vitest";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";

/** Runs after the current test; outside of tests, after all tests of the file. Not for `beforeAll`. */
function afterwards(clean: () => Promise<void>): void {
  if (TestRunner.getCurrentTest()) onTestFinished(clean);
  else afterAll(clean);
}

/** The real path of an empty folder, which is removed with its content after the test, or after all tests of the file. */
export async function scratchFolder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-test-")));
  afterwards(() => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return path;
}

/** A SQLite store in such a folder, closed after the test, or after all tests of the file. */
export async function scratchStore(folder?: string): Promise<Store> {
  const store = await openStore(join(folder ?? (await scratchFolder()), "tandem.db"));
  afterwards(async () => store[Symbol.asyncDispose]());
  return store;
}
