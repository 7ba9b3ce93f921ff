import type { Records, StoredRecord } from "./records.ts";

interface RecordPagesQuery {
  prefix?: string;
  after?: string | undefined;
  order?: "asc" | "desc";
  pageSize?: number;
}

/**
 * Reads all records of a kind in pages, in key order. The next page is read after the loop's body has handled the last one, which
 * may delete its records.
 */
export async function* recordPages(
  records: Pick<Records, "list">,
  space: string,
  kind: string,
  { after, pageSize = 500, ...query }: RecordPagesQuery = {},
): AsyncGenerator<StoredRecord[]> {
  for (let from = after; ;) {
    const page = await records.list(space, kind, {
      ...query,
      limit: pageSize,
      ...(from !== undefined && { after: from }),
    });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    from = page.at(-1)!.key;
  }
}

/** Deletes the records of a kind, page by page: all, or those that `isGone` selects. */
export async function deleteRecords(
  records: Pick<Records, "list" | "write">,
  space: string,
  kind: string,
  { isGone = () => true, ...query }: RecordPagesQuery & { isGone?: (record: StoredRecord) => boolean } = {},
): Promise<void> {
  for await (const page of recordPages(records, space, kind, query)) {
    const changes = page.filter(isGone).map(({ key }) => ({ type: "delete", kind, key }) as const);
    if (changes.length > 0) await records.write(space, changes);
  }
}
