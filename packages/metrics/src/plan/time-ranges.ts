import { isOwnTime, ownTime } from "./field.ts";
import type { Leaf } from "./leaf.ts";
import type { QueryContext } from "./plan-fact.ts";
import { rangeOfPeriod } from "../query/time-range.ts";

/**
 * Turns comparisons with a period of the own time into ranges: `time.month >= 2026-03` begins on the first of March. Earlier
 * values and running totals need rows before the range, so they must know it.
 */
export function withRanges(context: QueryContext, { entity, measure }: Leaf): QueryContext {
  return {
    ...context,
    filters: context.filters.map((given) => {
      const { filter, field } = given;
      if (!("op" in filter) || !("value" in filter) || !isOwnTime(field, entity, measure)) return given;
      if (filter.op === "contains" || filter.op === "starts_with" || filter.op === "!=") return given;
      const unit = field.unit ?? ownTime(entity, measure).time!;
      return {
        field,
        filter: { field: filter.field, ...rangeOfPeriod(filter.op, String(filter.value), unit, field.text) },
      };
    }),
  };
}
