import type { IncomingMessage, ServerResponse } from "node:http";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { readTraceparent, writeTraceparent } from "./traceparent.ts";

/** Sees every request before it is answered. */
export interface TracesRequests {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

/**
 * A span for each request that changes something, and for those that are part of a trace already. From here on, the request
 * is one of that span: its header says so to the routes, and to the process that it is passed on to.
 */
export class RequestTracer implements TracesRequests {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = "", headers } = incoming;
    const given = Array.isArray(headers["traceparent"]) ? undefined : headers["traceparent"];
    const caller = readTraceparent(given);
    if (!caller && (method === "GET" || method === "HEAD" || method === "OPTIONS")) return;
    const route = routeOf(incoming.url ?? "");
    const span = this.#tracer.startSpan(
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
}

/** Without its query and its ids, which belong to nobody's statistics. */
const routeOf = (url: string): string =>
  url
    .split("?", 1)[0]!
    .slice(0, 200)
    .replaceAll(/\/[a-z]+_[0-9A-Za-z]{10,}/g, "/:id");
