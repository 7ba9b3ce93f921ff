import type { FileMetadata } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { createFile, deleteFile, getFile, listFiles, readFilePart, type FileRow } from "../operations/files.ts";
import type { FileStore } from "../store.ts";
import { readList } from "./page.ts";
import { toMs, toSpan } from "./time.ts";

/** Content is kept and read in parts, so that a large file never has to be in one message or row. */
const PART_BYTES = 1_048_576;

const encode = (file: FileMetadata): FileRow => ({
  id: file.id,
  created_at: toMs(file.created_at),
  scope: file.scope?.id ?? null,
  body: JSON.stringify(file),
});

const decode = ({ body }: { body: string }): FileMetadata => JSON.parse(body) as FileMetadata;

export function createFileStore(database: Database): FileStore {
  return {
    create: async (file, content) => {
      const parts: Uint8Array[] = [];
      for (let from = 0; from < content.length; from += PART_BYTES) parts.push(content.slice(from, from + PART_BYTES));
      await database.write(createFile, { row: encode(file), parts });
    },
    get: async (id) => {
      const row = await database.read(getFile, id);
      return row && decode(row);
    },
    content: async (id) => {
      const row = await database.read(getFile, id);
      if (!row) return undefined;
      const content = new Uint8Array(decode(row).size_bytes);
      for (let from = 0; from < content.length; from += PART_BYTES) {
        const bytes = await database.read(readFilePart, { id, part: from / PART_BYTES });
        // Deleted in the meantime.
        if (!bytes) return undefined;
        content.set(bytes, from);
      }
      return content;
    },
    delete: (id) => database.write(deleteFile, id),
    list: async ({ ids, scope, created, ...query }) => {
      const filter = { ids, scope, created: toSpan(created) };
      return readList("files", query, (page) => database.read(listFiles, { page, ...filter }), decode);
    },
  };
}
