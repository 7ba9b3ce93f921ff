import { openStore, type Store } from "@tandem/storage";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestDatabase extends AsyncDisposable {
  /** Opens it like a separate process; closed with the database. */
  open(): Promise<Store>;
}

/** The store engines available on this machine. */
export const ENGINES: [name: string, start: () => Promise<TestDatabase>][] = [
  ["sqlite", sqlite],
  ...(whyNoPostgres() === undefined ? [["postgres", postgres] as [string, () => Promise<TestDatabase>]] : []),
];

async function sqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-context-store-"));
  return opening(join(folder, "store.db"), () => rm(folder, { recursive: true, force: true }));
}

async function postgres(): Promise<TestDatabase> {
  const server = await startPostgres();
  return opening(await server.createDatabase(), () => server[Symbol.asyncDispose]());
}

function opening(location: string, close: () => PromiseLike<void>): TestDatabase {
  const stores: Store[] = [];
  return {
    open: async () => {
      const store = await openStore(location);
      stores.push(store);
      return store;
    },
    [Symbol.asyncDispose]: async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await close();
    },
  };
}
