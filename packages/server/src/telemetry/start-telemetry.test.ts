import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { EventId, LoggedEvent, SessionEventBody, SessionId } from "@tandem/protocol";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { startTelemetry, type Telemetry } from "./start-telemetry.ts";

const exported = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              name: z.string(),
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
              status: z.object({ code: z.number().optional() }).optional(),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A collector on loopback that keeps the spans it receives. */
async function startCollector() {
  const spans: z.infer<typeof exported>["resourceSpans"][number]["scopeSpans"][number]["spans"] = [];
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = exported.parse(await json(request));
    for (const resource of body.resourceSpans) for (const scope of resource.scopeSpans) spans.push(...scope.spans);
  };
  const server = createServer((request, response) => {
    void receive(request).then(() => response.end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, spans, close: () => server.close() };
}

let seq = 0;
const logged = (body: SessionEventBody, id = `sevt_${seq}`): LoggedEvent => ({
  seq: (seq += 1),
  thread: null,
  event: { ...body, id: id as EventId, processed_at: new Date(1_800_000_000_000 + seq * 100).toISOString() },
});
const usage = { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

/** Returns a function that appends to a traced log. */
function watched(telemetry: Telemetry) {
  let append: (session: SessionId, events: readonly LoggedEvent[]) => void = () => undefined;
  telemetry.watch({
    events: {
      onAppend(listener) {
        append = listener;
        return () => undefined;
      },
    },
    agentOf: async () => ({ id: "agent_1", name: "scout" }),
  });
  return (session: SessionId, events: readonly LoggedEvent[]): void => append(session, events);
}

test("a turn is exported as a trace with its requests and calls, without content", async () => {
  const collector = await startCollector();
  const telemetry = await startTelemetry({ endpoint: collector.endpoint, version: "1.2.3" });
  const append = watched(telemetry);
  append("sesn_1" as SessionId, [
    logged({ type: "user.message", content: [{ type: "text", text: "a secret" }] }),
    logged({ type: "session.status_running" }),
  ]);
  await Promise.resolve();
  append("sesn_1" as SessionId, [
    logged({ type: "span.model_request_start" }, "sevt_request"),
    logged({ type: "agent.message", content: [{ type: "text", text: "a secret" }] }),
    logged({
      type: "span.model_request_end",
      model_request_start_id: "sevt_request" as EventId,
      is_error: false,
      model_usage: usage,
      tandem: { model: "claude-sonnet-5-5", message_id: "msg_1" },
    }),
    logged(
      { type: "agent.tool_use", name: "Bash", input: { command: "a secret" }, tandem: { tool_use_id: "toolu_1" } },
      "sevt_call",
    ),
    logged({ type: "agent.tool_result", tool_use_id: "sevt_call" as EventId, is_error: true }),
    logged({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }),
  ]);
  await telemetry[Symbol.asyncDispose]();
  collector.close();
  const byName = Object.fromEntries(collector.spans.map((span) => [span.name, span]));
  expect(Object.keys(byName).toSorted()).toEqual(["chat claude-sonnet-5-5", "execute_tool Bash", "invoke_agent scout"]);
  const turn = byName["invoke_agent scout"]!;
  const request = byName["chat claude-sonnet-5-5"]!;
  expect([request.parentSpanId, byName["execute_tool Bash"]!.parentSpanId]).toEqual([turn.spanId, turn.spanId]);
  expect(request.attributes).toContainEqual({ key: "gen_ai.usage.input_tokens", value: { intValue: 12 } });
  expect(turn.attributes).toContainEqual({ key: "gen_ai.conversation.id", value: { stringValue: "sesn_1" } });
  expect(byName["execute_tool Bash"]!.status?.code).toBe(2);
  expect(JSON.stringify(collector.spans)).not.toContain("a secret");
});

test("a redirect of the collector is not followed", async () => {
  const collector = await startCollector();
  let asked = 0;
  const redirecting = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(307, { location: `${collector.endpoint}/v1/traces` }).end();
  }).listen(0, "127.0.0.1");
  await once(redirecting, "listening");
  const endpoint = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  const telemetry = await startTelemetry({ endpoint, version: "1.2.3" });
  const append = watched(telemetry);
  append("sesn_2" as SessionId, [logged({ type: "session.status_running" })]);
  await Promise.resolve();
  append("sesn_2" as SessionId, [
    logged({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }),
  ]);
  await telemetry[Symbol.asyncDispose]();
  for (const server of [collector, redirecting]) server.close();
  expect([asked, collector.spans]).toEqual([1, []]);
});

test("one trace covers the client's request, the server, and the turn with its model requests on another process", async () => {
  const collector = await startCollector();
  const [front, worker] = await Promise.all(
    ["front", "worker"].map((instance) => startTelemetry({ endpoint: collector.endpoint, version: "1.2.3", instance })),
  );
  const memory = new MemoryEngine();
  const server = await startTestServer({ engine: memory.engine, tracing: front });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const session = memory.createSession();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const send = (traceparent: string) =>
    server.request(`/v1/sessions/${session}/events`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent },
      body: JSON.stringify({ events: [{ type: "user.message", content: [{ type: "text", text: "a secret" }] }] }),
    });
  expect((await send(`00-${traceId}-b7ad6b7169203331-01`)).status).toBe(200);
  expect((await send("00-nonsense")).status).toBe(200);
  // The worker knows only what is in the input queue.
  const { waiting } = await memory.engine.sessions.events(session, { limit: 10 });
  const [first, second] = waiting.map((event) => logged(event, event.id));
  const append = watched(worker!);
  append(session, [first!, logged({ type: "session.status_running" })]);
  await Promise.resolve();
  append(session, [logged({ type: "span.model_request_start" }, "sevt_one")]);
  append(session, [
    logged({
      type: "span.model_request_end",
      model_request_start_id: "sevt_one" as EventId,
      is_error: false,
      model_usage: usage,
      tandem: { model: "claude-sonnet-5-5", message_id: "msg_1" },
    }),
    logged({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }),
    second!,
    logged({ type: "session.status_running" }),
    logged({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null }),
  ]);
  await Promise.all([front![Symbol.asyncDispose](), worker![Symbol.asyncDispose]()]);
  collector.close();
  const ours = collector.spans.filter((span) => span.traceId === traceId);
  const named = (name: string) => ours.find((span) => span.name === name)!;
  expect(ours.map(({ name }) => name).toSorted()).toEqual([
    "POST /v1/sessions/:id/events",
    "chat claude-sonnet-5-5",
    "invoke_agent scout",
  ]);
  expect(named("POST /v1/sessions/:id/events").parentSpanId).toBe("b7ad6b7169203331");
  expect(named("invoke_agent scout").parentSpanId).toBe(named("POST /v1/sessions/:id/events").spanId);
  expect(named("chat claude-sonnet-5-5").parentSpanId).toBe(named("invoke_agent scout").spanId);
  // An invalid header starts a new trace.
  const others = collector.spans.filter((span) => span.traceId !== traceId);
  expect(new Set(others.map((span) => span.traceId)).size).toBe(1);
  expect(others.map(({ name }) => name).toSorted()).toEqual(["POST /v1/sessions/:id/events", "invoke_agent"]);
  expect(JSON.stringify(collector.spans)).not.toContain("a secret");
});
