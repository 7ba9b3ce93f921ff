import type { Page, PageQuery } from "@tandem/storage";
import { z } from "zod";

// Lists, as Anthropic's API has them.

const MOST = 1_000;
export const DEFAULT_LIMIT = 20;

/** How many, and from where: the `next_page` of an earlier answer. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(MOST).default(DEFAULT_LIMIT),
  page: z.string().min(1).optional(),
};
export const includeArchived = { include_archived: z.enum(["true", "false"]).default("false") };
export const order = { order: z.enum(["asc", "desc"]).optional() };

export const time = z.iso.datetime({ offset: true });
export const createdBetween = {
  "created_at[gt]": time.optional(),
  "created_at[gte]": time.optional(),
  "created_at[lt]": time.optional(),
  "created_at[lte]": time.optional(),
};

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), next_page: z.string().nullable() });

export const twoWayPageOf = <T extends z.ZodType>(item: T) => pageOf(item).extend({ prev_page: z.string().nullable() });

/** All of a list that is never long. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item) });

export const deletedOf = <T extends string>(type: T) => z.object({ type: z.literal(type), id: z.string() });

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

/** In UTC, as times are stored. */
export function toSpan(query: { [K in keyof typeof createdBetween]?: string }): NonNullable<PageQuery["created"]> {
  const utc = (text: string | undefined) => (text === undefined ? undefined : new Date(text).toISOString());
  return {
    gt: utc(query["created_at[gt]"]),
    gte: utc(query["created_at[gte]"]),
    lt: utc(query["created_at[lt]"]),
    lte: utc(query["created_at[lte]"]),
  };
}

export const nextPage = <T>({ data, next }: Page<T>) => ({ data, next_page: next });
