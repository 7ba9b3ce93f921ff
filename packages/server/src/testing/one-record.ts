import { RequestError } from "@tandem/protocol";
import type { Records, StoredRecord } from "@tandem/storage";

/** One record, with the conditional write of a real store. */
export function oneRecord(): Records {
  let stored: StoredRecord | undefined;
  return {
    get: async () => stored,
    getMany: async () => (stored ? [stored] : []),
    list: async () => (stored ? [stored] : []),
    async write(_, [change]) {
      if (stored) throw new RequestError("conflict", "exists");
      if (change?.type === "put") stored = { key: change.key, value: change.value, version: 1, updatedAt: "" };
    },
  };
}
