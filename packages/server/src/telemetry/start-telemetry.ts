import type { SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";

/** Sends what is left when it is disposed of, within a few seconds. */
export type Telemetry = AsyncDisposable;

/**
 * Sends traces of sessions to an OpenTelemetry collector (OTLP over HTTP). Loaded and run only where an endpoint is
 * configured.
 */
export async function startTelemetry(settings: {
  /** Such as `http://127.0.0.1:4318`. */
  endpoint: string;
  version: string;
  events: EventLog;
  agentOf: (session: SessionId) => Promise<{ id: string; name: string }>;
}): Promise<Telemetry> {
  // Loaded here, so that a server without it does not carry it.
  const [{ SessionTracer }, { BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import("./session-tracer.ts"),
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
  const exporter = new OTLPTraceExporter({ url: new URL("/v1/traces", settings.endpoint).href });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "tandem", "service.version": settings.version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = new SessionTracer(provider.getTracer("tandem", settings.version));
  const stopListening = settings.events.onAppend((session, events) =>
    tracer.note(session, events, () => settings.agentOf(session)),
  );
  return {
    async [Symbol.asyncDispose]() {
      stopListening();
      // A collector that is away must not keep a server from stopping.
      await provider.shutdown().catch(() => undefined);
    },
  };
}
