import { RequestError, type PageOf } from "@tandem/protocol";

interface ListQuery {
  limit: number;
  page?: string;
}

/** A page of a list in memory. The cursor is the id of the last entry shown. */
export function pageThrough<T extends { id: string }>(all: readonly T[], query: ListQuery): PageOf<T>;
export function pageThrough<T>(all: readonly T[], query: ListQuery, idOf: (entry: T) => string): PageOf<T>;
export function pageThrough<T>(
  all: readonly T[],
  { limit, page }: ListQuery,
  idOf: (entry: T) => string = (entry) => (entry as T & { id: string }).id,
): PageOf<T> {
  const from = page === undefined ? 0 : all.findIndex((entry) => idOf(entry) === page) + 1;
  if (page !== undefined && from === 0) {
    throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
      fix: "Begin again without `page`.",
    });
  }
  const data = all.slice(from, from + limit);
  return { data, next_page: from + limit < all.length ? idOf(data.at(-1)!) : null };
}
