import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { EventId, LoggedEvent, SessionEventBody, SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { expect, test } from "vitest";
import { z } from "zod";
import { startTelemetry } from "./start-telemetry.ts";

const exported = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              name: z.string(),
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

/** A collector on loopback that keeps the spans it is sent. */
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

test("a turn is sent as a trace with its requests and calls, and without what was said", async () => {
  const collector = await startCollector();
  let append: (session: SessionId, events: readonly LoggedEvent[]) => void = () => undefined;
  const events: Pick<EventLog, "onAppend"> = {
    onAppend(listener) {
      append = listener;
      return () => undefined;
    },
  };
  const telemetry = await startTelemetry({
    endpoint: collector.endpoint,
    version: "1.2.3",
    events: events as EventLog,
    agentOf: async () => ({ id: "agent_1", name: "scout" }),
  });
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
