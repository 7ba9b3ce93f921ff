import { z } from "zod";

// Lists in the shape of Anthropic's API.

const MAX_LIMIT = 1_000;
export const DEFAULT_LIMIT = 20;

/** A numeric query parameter: text in the URL, a number for the client and the handler. */
export const count = () => z.coerce.number<number>().int();

/** Page size and cursor: `page` is the `next_page` of an earlier response. */
export const pageQuery = {
  limit: count().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
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
export type PageOf<T> = z.infer<ReturnType<typeof pageOf<z.ZodType<T>>>>;

export const twoWayPageOf = <T extends z.ZodType>(item: T) => pageOf(item).extend({ prev_page: z.string().nullable() });
export type TwoWayPageOf<T> = z.infer<ReturnType<typeof twoWayPageOf<z.ZodType<T>>>>;

/** A list without pages, for lists that stay short. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item) });

export const deletedOf = <T extends string>(type: T) => z.object({ type: z.literal(type), id: z.string() });
