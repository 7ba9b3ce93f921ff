import { RequestError } from "@tandem/protocol";

/** A page of a list in memory. The cursor is the id of the last entry shown. */
export function pageThrough<T extends { id: string }>(
  all: readonly T[],
  { limit, page }: { limit: number; page?: string },
): { data: T[]; next_page: string | null } {
  const from = page === undefined ? 0 : all.findIndex(({ id }) => id === page) + 1;
  if (page !== undefined && from === 0) {
    throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
      fix: "Begin again without `page`.",
    });
  }
  const data = all.slice(from, from + limit);
  return { data, next_page: from + limit < all.length ? data.at(-1)!.id : null };
}
