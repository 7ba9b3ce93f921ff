import { RequestError } from "@tandem/protocol";
import { listAll, type Quotas, type SessionStore, type Store } from "@tandem/storage";
import { SerialQueue } from "../host/serial-queue.ts";
import { isVersionSpace, skillBytes } from "../skills/skill-store.ts";

/** Enforces quotas on sessions and files in the store, so that every path that creates one is covered. */
export function limitStore(store: Store, quotas: () => Quotas): Store {
  // Serialised: two concurrent counts could both take the last slot.
  const entrance = new SerialQueue();
  const { sessions, files, blobs } = store;
  const room = async (): Promise<void> => {
    const { maxSessions } = quotas();
    if (maxSessions === undefined || (await openSessions(sessions, maxSessions)) < maxSessions) return;
    throw new RequestError("forbidden", `There are ${maxSessions} sessions, the maximum.`, {
      fix: "Archive or delete some, or ask the operator for more.",
      detail: "quota_reached",
    });
  };
  const space = async (wanted: number): Promise<void> => {
    const { fileBytes } = quotas();
    if (fileBytes === undefined) return;
    const kept = await keptBytes(store);
    if (kept + wanted <= fileBytes) return;
    throw new RequestError(
      "too_large",
      `Files and skills take ${inWords(kept)} of the ${inWords(fileBytes)} that there are for them; ${inWords(wanted)} do not fit.`,
      { fix: "Delete some, or ask the operator for more.", detail: "quota_reached" },
    );
  };
  return {
    ...store,
    sessions: {
      ...sessions,
      create: (row, input) => entrance.run(() => room().then(() => sessions.create(row, input))),
      restore: (archive) => entrance.run(() => room().then(() => sessions.restore(archive))),
    },
    files: {
      ...files,
      create: (file, content) => entrance.run(() => space(content.byteLength).then(() => files.create(file, content))),
    },
    blobs: {
      ...blobs,
      put: (where, content) =>
        // An archive is already counted when it is written.
        isVersionSpace(where)
          ? entrance.run(() => space(0).then(() => blobs.put(where, content)))
          : blobs.put(where, content),
    },
  };
}

/** Counts unarchived sessions, up to `most`. */
export async function openSessions(sessions: Pick<SessionStore, "list">, most = Infinity): Promise<number> {
  let count = 0;
  for await (const _ of listAll((query) => sessions.list(query))) if ((count += 1) >= most) break;
  return Math.min(count, most);
}

/** The total size of uploaded files and skills. */
export async function keptBytes({ files, records }: Pick<Store, "files" | "records">): Promise<number> {
  let bytes = await skillBytes(records);
  for await (const { size_bytes: size } of listAll((query) => files.list(query))) bytes += size;
  return bytes;
}

const inWords = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
