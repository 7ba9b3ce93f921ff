import type { SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import type { TracesRequests } from "./trace-request.ts";

/** Flushes pending spans on dispose, within a few seconds. */
export interface Telemetry extends AsyncDisposable, TracesRequests {
  /** Traces the sessions of one more tenant. Returns a function that stops it. */
  watch(sessions: TracedSessions): () => void;
}

interface TracedSessions {
  events: Pick<EventLog, "onAppend">;
  agentOf: (session: SessionId) => Promise<{ id: string; name: string }>;
}

/**
 * Exports traces of sessions to an OpenTelemetry collector (OTLP over HTTP). Loaded only if an endpoint is configured.
 */
export async function startTelemetry(settings: {
  /** Such as `http://127.0.0.1:4318`. */
  endpoint: string;
  version: string;
  /** Identifies this process in traces that cross several. */
  instance?: string;
}): Promise<Telemetry> {
  // Loaded on demand, so that a server without telemetry does not load it.
  const [
    { traceRequest },
    { SessionTracer },
    { BatchSpanProcessor, TracerProvider },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import("./trace-request.ts"),
    import("./session-tracer.ts"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = new OTLPTraceExporter({ url: new URL("/v1/traces", settings.endpoint).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "tandem",
      "service.version": settings.version,
      ...(settings.instance !== undefined && { "service.instance.id": settings.instance }),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("tandem", settings.version);
  const sessions = new SessionTracer(tracer);
  const stops = new Set<() => void>();
  return {
    request: (incoming, outgoing) => traceRequest(tracer, incoming, outgoing),
    watch({ events, agentOf }) {
      const stop = events.onAppend((session, batch) => sessions.note(session, batch, () => agentOf(session)));
      stops.add(stop);
      return stop;
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop();
      // An unreachable collector must not prevent the server from stopping.
      await provider.shutdown().catch(() => undefined);
    },
  };
}
