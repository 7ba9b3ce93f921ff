import { RequestError } from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";

const READ_AT_ONCE = 200;

export interface RecordQuery {
  after?: string | undefined;
  limit: number;
  order?: "asc" | "desc" | undefined;
}

type Span = NonNullable<PageQuery["created"]>;

/** Reads a page, newest first, of records that pass a filter. The cursor is the last id of the page before. */
export async function readFiltered<Stored extends { id: string; createdAt: string }, Wanted extends Stored, View>(
  { limit, cursor, created }: PageQuery,
  source: {
    read: (range: RecordQuery) => Promise<Stored[]>;
    isWanted: ((stored: Stored) => stored is Wanted) | ((stored: Stored) => boolean);
    view: (stored: Wanted) => Promise<View>;
  },
): Promise<Page<View>> {
  if (cursor !== undefined && !/^[a-z]+_[0-9A-Za-z_-]{1,64}$/.test(cursor)) {
    throw new RequestError("invalid_request", "page: expected the next_page of an earlier response.");
  }
  const found: Wanted[] = [];
  for (let after = cursor; ;) {
    const read = await source.read({ after, limit: READ_AT_ONCE });
    for (const stored of read) {
      if (!isWithin(stored.createdAt, created) || !source.isWanted(stored)) continue;
      if (found.length === limit) return page(found, source.view, found.at(-1)!.id);
      found.push(stored as Wanted);
    }
    if (read.length < READ_AT_ONCE) return page(found, source.view, null);
    after = read.at(-1)!.id;
  }
}

const page = async <Stored, View>(
  found: readonly Stored[],
  view: (stored: Stored) => Promise<View>,
  next: string | null,
): Promise<Page<View>> => ({ data: await Promise.all(found.map(view)), next, previous: null });

function isWithin(at: string, { gt, gte, lt, lte }: Span = {}): boolean {
  return (
    (gt === undefined || at > gt) &&
    (gte === undefined || at >= gte) &&
    (lt === undefined || at < lt) &&
    (lte === undefined || at <= lte)
  );
}
