import { parseJson, RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { PageRows, SortKey, PageArgs, CursorPosition } from "../operations/read-page.ts";
import type { Page, PageQuery } from "../page.ts";

const cursorSchema = z.strictObject({
  /** Version of the cursor format. */
  v: z.literal(1),
  list: z.string(),
  order: z.enum(["asc", "desc"]),
  towards: z.enum(["next", "previous"]),
  at: z.int(),
  id: z.string(),
  with: z.boolean(),
});
type Cursor = z.infer<typeof cursorSchema>;

/** Reads one page of the named list: decodes the query's cursor and encodes the page's cursors. */
export async function readList<Row, T>(
  name: string,
  { limit, order, cursor }: PageQuery,
  read: (args: PageArgs) => Promise<PageRows<Row & SortKey>>,
  decode: (row: Row) => T,
): Promise<Page<T>> {
  const given = cursor === undefined ? undefined : parseCursor(name, cursor, order);
  const args: PageArgs = { limit, order: given?.order ?? order ?? "desc", cursor: given };
  const { rows, before, after } = await read(args);
  const encode = (towards: CursorPosition["towards"], row: SortKey | undefined): string => {
    // An empty page has no row for a cursor: going back starts at the row that the given cursor named.
    const position = row
      ? { at: row.sort_at, id: row.sort_id, with: false }
      : { at: given!.at, id: given!.id, with: !given!.with };
    const made: Cursor = { v: 1, list: name, order: args.order, towards, ...position };
    return Buffer.from(JSON.stringify(made)).toString("base64url");
  };
  return {
    data: rows.map(decode),
    next: after ? encode("next", rows.at(-1)) : null,
    previous: before ? encode("previous", rows[0]) : null,
  };
}

function parseCursor(name: string, text: string, order: PageQuery["order"]): Cursor {
  const { data } = cursorSchema.safeParse(parseJson(Buffer.from(text, "base64url").toString("utf8")));
  if (data?.list === name && (order === undefined || order === data.order)) return data;
  throw new RequestError("invalid_request", "This cursor does not belong to this list.", {
    fix: "Pass a page's cursors on as they came, with the same order, or start again without a cursor.",
  });
}
