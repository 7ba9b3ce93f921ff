import type { IncomingMessage, ServerResponse } from "node:http";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { redactPath } from "../http/redact.ts";
import { readTraceparent, writeTraceparent } from "./traceparent.ts";

/** Traces every request before it is handled. */
export interface TracesRequests {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

/**
 * Creates a span for each request that writes, and for each that belongs to a trace already. It replaces the request's
 * `traceparent`, so that routes and other processes of the fleet continue the span.
 */
export function traceRequest(tracer: Tracer, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method = "", headers } = incoming;
  const given = Array.isArray(headers["traceparent"]) ? undefined : headers["traceparent"];
  const caller = readTraceparent(given);
  if (!caller && (method === "GET" || method === "HEAD" || method === "OPTIONS")) return;
  const route = routeOf(incoming.url ?? "");
  const span = tracer.startSpan(
    `${method} ${route}`,
    { kind: SpanKind.SERVER, attributes: { "http.request.method": method, "http.route": route } },
    caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
  );
  headers["traceparent"] = writeTraceparent(span.spanContext());
  outgoing.once("close", () => {
    span.setAttribute("http.response.status_code", outgoing.statusCode);
    if (outgoing.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
}

/** Without query and ids, which would make the label unbounded. */
const routeOf = (url: string): string =>
  redactPath(url.split("?", 1)[0]!)
    .slice(0, 200)
    .replaceAll(/\/[a-z]+_[0-9A-Za-z]{10,}/g, "/:id");
