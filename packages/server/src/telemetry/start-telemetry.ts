import type { SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { SessionTracer } from "./session-tracer.ts";

export interface Telemetry {
  /** Sends what is left, within a few seconds. */
  stop(): Promise<void>;
}

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
  const [{ BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all(
    [
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ],
  );
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
    async stop() {
      stopListening();
      await provider.shutdown();
    },
  };
}
