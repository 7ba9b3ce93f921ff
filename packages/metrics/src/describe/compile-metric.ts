import { metricQuery } from "@tandem/protocol";
import { type CompiledQuery, compileQuery } from "../compile-query.ts";
import { attempt, MetricError } from "../metric-error.ts";
import { GRANULARITIES } from "../sql/granularity.ts";
import type { Model } from "../model/model.ts";

/** Compiles a metric by itself: as one number, or by a period if it needs a time. Throws the first refusal. */
export function compileMetric(model: Model, name: string): CompiledQuery {
  let first: MetricError | undefined;
  for (const by of [[], ...GRANULARITIES.toReversed().map((unit) => [`time.${unit}`])]) {
    const compiled = attempt(() =>
      compileQuery(model, metricQuery.parse({ metrics: [name], by, limit: 1 }), new Date()),
    );
    if (!(compiled instanceof MetricError)) return compiled;
    first ??= compiled;
  }
  throw first!;
}
