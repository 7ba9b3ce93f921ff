import type { FileMetadata } from "@tandem/protocol";
import type { Database } from "./database.ts";
import { operation } from "./operation.ts";
import { pageArgs, readPage, toPage, within, type PageArgs } from "./page.ts";
import { insert, list as inList, one, sql, type Work } from "./sql.ts";
import type { FileStore, PageQuery } from "./store.ts";
import { toMs } from "./time.ts";

/** Content is kept and read in parts, so that a large file never has to be in one message or row. */
const PART_BYTES = 1_048_576;

interface FileRow {
  id: string;
  created_at: number;
  scope: string | null;
  body: string;
}

const encode = (file: FileMetadata): FileRow => ({
  id: file.id,
  created_at: toMs(file.created_at),
  scope: file.scope?.id ?? null,
  body: JSON.stringify(file),
});

const decode = ({ body }: { body: string }): FileMetadata => JSON.parse(body) as FileMetadata;

const create = operation("files.create", function* (args: { row: FileRow; parts: Uint8Array[] }): Work<void> {
  const { row, parts } = args;
  yield insert("file", [{ ...row }]);
  for (const [part, bytes] of parts.entries()) yield insert("file_part", [{ file: row.id, part, bytes }]);
});

const get = operation("files.get", function* (id: string): Work<{ body: string } | undefined> {
  return yield* one(sql<{ body: string }>`select body from file where id = ${id}`);
});

const readPart = operation("files.part", function* (args: { id: string; part: number }) {
  const row = yield* one(sql<{ bytes: Uint8Array }>`
    select bytes from file_part where file = ${args.id} and part = ${args.part}`);
  return row?.bytes;
});

const remove = operation("files.delete", function* (id: string): Work<boolean> {
  yield sql`delete from file_part where file = ${id}`;
  return (yield* one(sql`delete from file where id = ${id} returning id`)) !== undefined;
});

type Filter = Pick<PageQuery, "created"> & { ids?: readonly string[]; scope?: string };

const list = operation("files.list", function* ({ page, filter }: { page: PageArgs; filter: Filter }) {
  return yield* readPage<{ body: string }>(page, {
    select: sql`body from file`,
    at: "created_at",
    id: "id",
    conditions: [
      ...(filter.ids === undefined ? [] : [sql`id in ${inList(filter.ids)}`]),
      ...(filter.scope === undefined ? [] : [sql`scope = ${filter.scope}`]),
      ...within("created_at", filter.created),
    ],
  });
});

export function createFileStore(database: Database): FileStore {
  return {
    create: (file, content) => {
      const parts: Uint8Array[] = [];
      for (let from = 0; from < content.length; from += PART_BYTES) parts.push(content.slice(from, from + PART_BYTES));
      return database.write(create, { row: encode(file), parts });
    },
    get: async (id) => {
      const row = await database.read(get, id);
      return row && decode(row);
    },
    content: async (id) => {
      const row = await database.read(get, id);
      if (!row) return undefined;
      const content = new Uint8Array(decode(row).size_bytes);
      for (let from = 0; from < content.length;) {
        const bytes = await database.read(readPart, { id, part: from / PART_BYTES });
        // Deleted in the meantime.
        if (!bytes) return undefined;
        content.set(bytes, from);
        from += bytes.length;
      }
      return content;
    },
    delete: (id) => database.write(remove, id),
    list: async ({ limit, cursor, order, created, ids, scope }) => {
      const page = pageArgs("files", { limit, cursor, order });
      const found = await database.read(list, { page, filter: { created, ids, scope } });
      return toPage("files", page, found, decode);
    },
  };
}
