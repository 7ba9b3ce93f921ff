import { operation } from "../operation.ts";
import { all, insert, list, one, sql, type Work } from "../sql-statement.ts";

interface BlobKey {
  space: string;
  sha256: string;
}

export const findBlob = operation("blobs.find", function* ({ space, sha256 }: BlobKey) {
  return yield* one(sql<{ number: number; size: number }>`
    select number, size from blob where space = ${space} and sha256 = ${sha256}`);
});

export const createBlob = operation(
  "blobs.create",
  function* (args: BlobKey & { size: number; parts: Uint8Array[] }): Work<void> {
    const { parts, ...row } = args;
    const made = yield* one(sql<{ number: number }>`
      ${insert("blob", [row])} on conflict (space, sha256) do nothing returning number`);
    if (!made) return;
    for (const [part, bytes] of parts.entries()) yield insert("blob_part", [{ blob: made.number, part, bytes }]);
  },
);

export const readBlobPart = operation("blobs.part", function* (args: { number: number; part: number }) {
  const row = yield* one(sql<{ bytes: Uint8Array }>`
    select bytes from blob_part where blob = ${args.number} and part = ${args.part}`);
  return row?.bytes;
});

export const listBlobs = operation("blobs.list", function* (space: string) {
  return yield* all(sql<{ number: number; sha256: string }>`select number, sha256 from blob where space = ${space}`);
});

/** Returns the number of deleted blobs. */
export const deleteBlobs = operation("blobs.delete", function* (numbers: readonly number[]): Work<number> {
  yield sql`delete from blob_part where blob in ${list(numbers)}`;
  return (yield* all(sql`delete from blob where number in ${list(numbers)} returning number`)).length;
});
