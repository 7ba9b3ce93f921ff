import type { BodyInput, MetricFilter } from "@tandem/protocol";
import type { ContextSearch } from "../../context-search-params.ts";
import { isComplete, readFilter } from "./metric-filter.ts";

/** The query that a user builds. It is part of the address. Filters may still lack a value. */
export interface Question {
  connection: string | undefined;
  metrics: readonly string[];
  by: readonly string[];
  where: readonly MetricFilter[];
  segments: readonly string[];
  order: readonly { field: string; descending: boolean }[];
  limit: number;
  fill: boolean;
}

export const LIMITS = [10, 50, 100, 1_000, 10_000] as const;
const DEFAULT_LIMIT = 1_000;

export function readQuestion(search: ContextSearch): Question {
  const limit = Number(search.limit);
  return {
    connection: search.connection,
    metrics: listed(search.metrics),
    by: listed(search.by),
    where: (search.where ?? []).flatMap((given) => readFilter(given) ?? []),
    segments: listed(search.segments),
    order: listed(search.order).map((name) =>
      name.startsWith("-") ? { field: name.slice(1), descending: true } : { field: name, descending: false },
    ),
    limit: Number.isInteger(limit) && limit >= 1 && limit <= 10_000 ? limit : DEFAULT_LIMIT,
    fill: search.fill === "yes",
  };
}

/** The parameters of the address, without defaults. */
export function questionSearch(question: Question): ContextSearch {
  const order = question.order.map(({ field, descending }) => (descending ? `-${field}` : field));
  return {
    ...(question.connection !== undefined && { connection: question.connection }),
    ...(question.metrics.length > 0 && { metrics: question.metrics.join(",") }),
    ...(question.by.length > 0 && { by: question.by.join(",") }),
    ...(question.where.length > 0 && { where: question.where }),
    ...(question.segments.length > 0 && { segments: question.segments.join(",") }),
    ...(order.length > 0 && { order: order.join(",") }),
    ...(question.limit !== DEFAULT_LIMIT && { limit: String(question.limit) }),
    ...(question.fill && { fill: "yes" }),
  };
}

/** The body of a request, without incomplete filters and without an order by fields that were removed. */
export function questionBody(question: Question): BodyInput<"context.metrics.query"> {
  const { connection, metrics, by, where, segments, order, limit, fill } = question;
  return {
    ...(connection !== undefined && { connection }),
    metrics: [...metrics],
    by: [...by],
    where: where.filter(isComplete),
    segments: [...segments],
    order: order.filter(({ field }) => by.includes(field) || metrics.includes(field)),
    limit,
    fill,
  };
}

const listed = (text = ""): string[] => [...new Set(text.split(",").filter((part) => part !== ""))];
