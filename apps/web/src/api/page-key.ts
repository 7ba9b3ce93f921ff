import type { PageKey } from "@tandem/client";

const DATABASE = "tandem";
const STORE = "keys";
const NAME = "page";

let own: Promise<PageKey | undefined> | undefined;

/** This browser's key. IndexedDB belongs to one origin: servers on other ports can neither read nor use it. */
export const pageKey = (): Promise<PageKey | undefined> => (own ??= inStore("readonly", readKey));

/** Without a key, removes the stored one. A browser that stores nothing stays signed in until the tab is closed. */
export async function setPageKey(key: PageKey | undefined): Promise<void> {
  own = Promise.resolve(key);
  await inStore("readwrite", async (keys) => {
    await (key ? finished(keys.put(key, NAME)) : finished(keys.delete(NAME)));
  });
}

/** Reads the key again with the next request, after another tab has changed it. */
export const forgetPageKey = (): void => {
  own = undefined;
};

const readKey = (keys: IDBObjectStore): Promise<PageKey | undefined> =>
  finished(keys.get(NAME) as IDBRequest<PageKey | undefined>);

/** Resolves with undefined if the browser does not allow storage. */
async function inStore<T>(mode: IDBTransactionMode, use: (keys: IDBObjectStore) => Promise<T>): Promise<T | undefined> {
  try {
    const opening = indexedDB.open(DATABASE, 1);
    opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(STORE));
    const database = await finished(opening);
    try {
      return await use(database.transaction(STORE, mode).objectStore(STORE));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

const finished = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
