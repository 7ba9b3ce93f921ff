import { newId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { openScratch } from "../../testing/open-scratch.ts";
import type { ContextStore } from "../context-store.ts";

/** A new context in a store that tests share, or in its own SQLite file. */
export async function openTestContext(shared?: Store): Promise<ContextStore & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const { records, blobs, search } = shared ?? (await openScratch(parts)).store;
  const owned = parts.move();
  return { space: newId("context"), records, blobs, search, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
