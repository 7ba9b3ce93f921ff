import { createHash } from "node:crypto";
import type { Database } from "../database.ts";
import { createBlob, deleteBlobs, findBlob, listBlobs, readBlobPart } from "../operations/blobs.ts";
import type { Blobs } from "../records.ts";
import { checkNames } from "./names.ts";
import { fromParts, toParts } from "./content-parts.ts";

/** Large ones take their time, and nobody else can write meanwhile. */
const DELETED_AT_ONCE = 20;

export function createBlobs(database: Database): Blobs {
  return {
    put: async (space, content) => {
      checkNames({ space });
      const sha256 = createHash("sha256").update(content).digest("hex");
      if (await database.read(findBlob, { space, sha256 })) return sha256;
      await database.write(createBlob, { space, sha256, size: content.length, parts: toParts(content) });
      return sha256;
    },
    get: async (space, sha256) => {
      checkNames({ space, sha256 });
      const found = await database.read(findBlob, { space, sha256 });
      return found && fromParts(found.size, (part) => database.read(readBlobPart, { number: found.number, part }));
    },
    prune: async (space, keep) => {
      checkNames({ space });
      const stored = await database.read(listBlobs, space);
      const numbers = stored.filter(({ sha256 }) => !keep.has(sha256)).map(({ number }) => number);
      let count = 0;
      for (let from = 0; from < numbers.length; from += DELETED_AT_ONCE) {
        count += await database.write(deleteBlobs, numbers.slice(from, from + DELETED_AT_ONCE));
      }
      return count;
    },
  };
}
