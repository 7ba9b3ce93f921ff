import { contextOf } from "../../context-of.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Metrics: their definitions, and queries that are compiled from them. */
export const metricRoutes: Route[] = [
  jsonRoute("context.metrics.list", {
    scope: "read",
    at: "context",
    summary: "List the metrics, also broken ones",
    handle: async (call) => ({ data: await contextOf(call).metrics.list(call.query) }),
  }),
  jsonRoute("context.metrics.retrieve", {
    scope: "read",
    at: "context",
    summary: "Read a metric's definition, and the fields that can group and filter it",
    handle: (call) => contextOf(call).metrics.retrieve(call.query),
  }),
  jsonRoute("context.metrics.fields", {
    scope: "read",
    at: "context",
    summary: "List the fields by which all of the given metrics can be grouped and filtered",
    handle: async (call) => ({ data: await contextOf(call).metrics.fields(call.query) }),
  }),
  jsonRoute("context.metrics.query", {
    // Read-only in spite of POST: filters do not fit a URL.
    scope: "read",
    at: "context",
    summary: "Compute metrics: compile the query to SQL and run it",
    handle: (call) => contextOf(call).metrics.query(call.body, { signal: call.signal }),
  }),
  jsonRoute("context.metrics.check", {
    scope: "read",
    at: "context",
    summary: "List invalid definitions, each with its fix",
    handle: async (call) => ({ data: await contextOf(call).metrics.check(call.query) }),
  }),
];
