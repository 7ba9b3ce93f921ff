import type { MetricSummary } from "@tandem/protocol";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useServerQuery } from "../../api/use-server-query.ts";
import { type Question, questionBody } from "./query/metric-question.ts";

/** All metrics, with broken ones. */
export const useMetrics = () => useServerQuery("context.metrics.list", {});
/** Definitions that cannot be used, also of files that are not read at all. */
export const useMetricProblems = () => useServerQuery("context.metrics.check", {});

export const metricPath = ({ connection, name }: Pick<MetricSummary, "connection" | "name">): string =>
  `metrics/${connection}/${name}`;

/** Fields by which all of the metrics can be grouped and filtered. */
export const useFields = ({ metrics, connection }: Pick<Question, "metrics" | "connection">) =>
  useServerQuery(
    "context.metrics.fields",
    { query: { metrics: [...metrics], ...(connection !== undefined && { connection }) } },
    { enabled: metrics.length > 0, placeholderData: keepPreviousData, retry: false },
  );

/** The definitions of the chosen metrics, as far as they have been loaded. */
export const useDefinitions = ({ metrics, connection }: Pick<Question, "metrics" | "connection">) =>
  useQueries({
    queries: metrics.map((name) => {
      const query = { name, ...(connection !== undefined && { connection }) };
      return {
        queryKey: ["/v1/context/metric", query],
        queryFn: ({ signal }: { signal: AbortSignal }) => api.call("context.metrics.retrieve", { query, signal }),
        retry: false,
      };
    }),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });

/** Compiles or runs a query. A refusal is an answer, so it is not retried. */
export const useAnswer = (question: Question | undefined, { isRun }: { isRun: boolean }) => {
  const body = question && { ...questionBody(question), compile_only: !isRun };
  return useQuery({
    queryKey: ["/v1/context/metrics/query", body],
    queryFn: ({ signal }) => api.call("context.metrics.query", { body: body!, signal }),
    enabled: body !== undefined && body.metrics.length > 0,
    retry: false,
    // Data changes while a definition does not. Only a click runs the query again.
    staleTime: isRun ? Infinity : 30_000,
    refetchOnWindowFocus: false,
  });
};
