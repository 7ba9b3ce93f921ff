import { createServer } from "node:http";
import { bind, closeServer } from "./node-server.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";

export const METRICS_PATH = "/metrics";
const CLOSE_MS = 1_000;

/** The response that Prometheus expects. */
export async function metricsResponse(metrics: ServerMetrics): Promise<Response> {
  return new Response(await metrics.text(), {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}

/** A loopback port for scrapers without a token. It serves only metrics. */
export async function serveMetrics(metrics: ServerMetrics, port: number): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((incoming, outgoing) => {
    // Reject other host names: a web page could reach this port by DNS rebinding.
    const isLocal = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(incoming.headers.host ?? "");
    if (!isLocal || incoming.method !== "GET" || incoming.url !== METRICS_PATH) {
      outgoing.writeHead(isLocal ? 404 : 403).end();
      return;
    }
    void metrics.text().then(
      (text) => outgoing.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text),
      () => outgoing.writeHead(500).end(),
    );
  });
  const bound = await bind(server, { host: "127.0.0.1", port });
  return { port: bound.port, [Symbol.asyncDispose]: () => closeServer(server, CLOSE_MS) };
}
