import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@tandem/protocol";
import { openStore, type Store } from "@tandem/storage";
import type { ContextStore } from "../context-store.ts";

/** A new context in a store that tests share, or in its own SQLite file. */
export async function openTestContext(shared?: Store): Promise<ContextStore & AsyncDisposable> {
  const space = newId("context");
  if (shared) {
    const { records, blobs, search } = shared;
    return { space, records, blobs, search, [Symbol.asyncDispose]: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), "tandem-ingest-"));
  const store = await openStore(join(folder, "tandem.db"));
  const { records, blobs, search } = store;
  return {
    space,
    records,
    blobs,
    search,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
