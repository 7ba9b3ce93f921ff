import type { FileMetadata } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { createFile, deleteFile, getFile, listFiles, readFilePart, type FileRow } from "../operations/files.ts";
import type { FileStore } from "../store.ts";
import { fromParts, toParts } from "./blobs.ts";
import { readList } from "./read-list.ts";
import { toMs, toSpan } from "../rows/time.ts";

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
      await database.write(createFile, { row: encode(file), parts: toParts(content) });
    },
    get: async (id) => {
      const row = await database.read(getFile, id);
      return row && decode(row);
    },
    content: async (id) => {
      const row = await database.read(getFile, id);
      if (!row) return undefined;
      return fromParts(decode(row).size_bytes, (part) => database.read(readFilePart, { id, part }));
    },
    delete: (id) => database.write(deleteFile, id),
    list: async ({ ids, scope, created, ...query }) => {
      const filter = { ids, scope, created: toSpan(created) };
      return readList("files", query, (page) => database.read(listFiles, { page, ...filter }), decode);
    },
  };
}
