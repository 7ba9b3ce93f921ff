import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import type { ContextStore } from "../context-store.ts";

/** A new context's store in a SQLite file. */
export async function openTestContext(): Promise<ContextStore & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-ingest-"));
  const store = await openStore(join(folder, "tandem.db"));
  const { records, blobs, search } = store;
  return {
    space: newId("context"),
    records,
    blobs,
    search,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
