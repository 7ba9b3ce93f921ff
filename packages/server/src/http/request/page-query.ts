import type { Page, PageQuery } from "@tandem/storage";

export function toPageQuery(query: {
  limit: number;
  page?: string;
  order?: "asc" | "desc";
  include_archived?: "true" | "false";
}): PageQuery {
  return {
    limit: query.limit,
    cursor: query.page,
    order: query.order,
    includeArchived: query.include_archived === "true",
  };
}

/** In UTC, like stored times. */
export function toSpan(
  query: Partial<Record<`created_at[${"gt" | "gte" | "lt" | "lte"}]`, string>>,
): NonNullable<PageQuery["created"]> {
  const utc = (text: string | undefined) => (text === undefined ? undefined : new Date(text).toISOString());
  return {
    gt: utc(query["created_at[gt]"]),
    gte: utc(query["created_at[gte]"]),
    lt: utc(query["created_at[lt]"]),
    lte: utc(query["created_at[lte]"]),
  };
}

export const nextPage = <T>({ data, next }: Page<T>) => ({ data, next_page: next });
