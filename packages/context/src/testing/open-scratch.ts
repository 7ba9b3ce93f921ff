import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@tandem/storage";

/** A temporary folder and a store in it, until the owner is disposed. With `shared`, that store instead. */
export async function openScratch(
  owner: AsyncDisposableStack,
  shared?: Store,
): Promise<{ home: string; store: Store }> {
  const home = await mkdtemp(join(tmpdir(), "tandem-context-"));
  owner.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return { home, store: shared ?? owner.use(await openStore(join(home, "tandem.db"))) };
}
