import { createHash } from "node:crypto";
import type { Database } from "../database.ts";
import { createBlob, deleteBlobs, findBlob, listBlobs, readBlobPart } from "../operations/blobs.ts";
import type { Blobs } from "../records.ts";
import { checkNames } from "./names.ts";

/** Deleting large blobs is slow and blocks other writers. */
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

/** Content is stored in chunks, so that a large file never has to fit into one row or thread message. */
const PART_BYTES = 1_048_576;

export function toParts(content: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < content.length; from += PART_BYTES) parts.push(content.slice(from, from + PART_BYTES));
  return parts;
}

/** Undefined if a chunk is missing, because the content was deleted during the read. */
export async function fromParts(
  size: number,
  readPart: (part: number) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const content = new Uint8Array(size);
  for (let from = 0; from < size; from += PART_BYTES) {
    const bytes = await readPart(from / PART_BYTES);
    if (!bytes) return undefined;
    content.set(bytes, from);
  }
  return content;
}
