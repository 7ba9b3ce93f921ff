import { operation } from "../operation.ts";
import { insert, list, one, sql, type Work } from "../sql-statement.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";

export interface FileRow {
  id: string;
  created_at: number;
  scope: string | null;
  body: string;
}

export const createFile = operation(
  "files.create",
  function* (args: { row: FileRow; parts: Uint8Array[] }): Work<void> {
    const { row, parts } = args;
    yield insert("file", [{ ...row }]);
    for (const [part, bytes] of parts.entries()) yield insert("file_part", [{ file: row.id, part, bytes }]);
  },
);

export const getFile = operation("files.get", function* (id: string): Work<{ body: string } | undefined> {
  return yield* one(sql<{ body: string }>`select body from file where id = ${id}`);
});

export const readFilePart = operation("files.part", function* (args: { id: string; part: number }) {
  const row = yield* one(sql<{ bytes: Uint8Array }>`
    select bytes from file_part where file = ${args.id} and part = ${args.part}`);
  return row?.bytes;
});

export const deleteFile = operation("files.delete", function* (id: string): Work<boolean> {
  yield sql`delete from file_part where file = ${id}`;
  return (yield* one(sql`delete from file where id = ${id} returning id`)) !== undefined;
});

export const listFiles = operation(
  "files.list",
  function* (args: { page: PageArgs; ids?: readonly string[]; scope?: string; created?: Span }) {
    return yield* readPage<{ body: string }>(args.page, {
      select: sql`body from file`,
      at: "created_at",
      id: "id",
      conditions: [
        ...(args.ids === undefined ? [] : [sql`id in ${list(args.ids)}`]),
        ...(args.scope === undefined ? [] : [sql`scope = ${args.scope}`]),
        ...within("created_at", args.created),
      ],
    });
  },
);
