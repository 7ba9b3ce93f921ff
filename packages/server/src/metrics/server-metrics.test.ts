import type { EventId, LoggedEvent, SessionEventBody, SessionId } from "@tandem/protocol";
import { expect, onTestFinished, test } from "vitest";
import { createToken } from "../http/access/create-token.ts";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { parseMetrics } from "../testing/parse-metrics.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { ServerMetrics } from "./server-metrics.ts";
import { MetricRegistry } from "./registry.ts";
import { serveMetrics } from "../http/serve-metrics.ts";

const SESSION = "sesn_1" as SessionId;
let seq = 0;
const logged = (body: SessionEventBody, id = `sevt_${seq}`): LoggedEvent => ({
  seq: (seq += 1),
  thread: null,
  event: { ...body, id: id as EventId, processed_at: new Date().toISOString() },
});
const usage = { input_tokens: 12, output_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
const TURN: LoggedEvent[] = [
  logged({ type: "user.message", content: [{ type: "text", text: "a secret" }] }),
  logged({ type: "session.status_running" }),
  logged({ type: "span.model_request_start" }, "sevt_request"),
  logged({
    type: "span.model_request_end",
    model_request_start_id: "sevt_request" as EventId,
    is_error: false,
    model_usage: usage,
    tandem: { model: "claude-sonnet-5-5", message_id: "msg_1", usd: 0.25 },
  }),
  logged({ type: "tandem.retry", attempt: 1, max_attempts: 3, delay_ms: 10, status: 429, reason: "rate_limit" }),
  logged({ type: "tandem.rate_limit", status: "rejected", kind: "five_hour" }),
  logged({ type: "agent.tool_use", name: "Bash", input: {}, tandem: { tool_use_id: "toolu_1" } }, "sevt_call"),
  logged({ type: "agent.tool_result", tool_use_id: "sevt_call" as EventId, is_error: true }),
];
const IDLE = logged({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null });

/** Metrics of a store that tests append to. */
function watched(held: SessionId[] = [SESSION], sources = {}) {
  const metrics = new ServerMetrics("1.2.3", sources);
  let append: (session: SessionId, events: readonly LoggedEvent[]) => void = () => undefined;
  metrics.watch({
    events: {
      onAppend: (listener) => {
        append = listener;
        return () => undefined;
      },
    },
    held: async () => held,
  });
  return { metrics, append: (events: readonly LoggedEvent[]) => append(SESSION, events) };
}

async function read(metrics: ServerMetrics) {
  const text = await metrics.text();
  const parsed = parseMetrics(text);
  const value = (name: string, labels: Record<string, string> = {}): number | undefined =>
    [...parsed.values()]
      .flatMap(({ samples }) => samples)
      .find((sample) => sample.name === name && JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
  return { text, value };
}

test("sessions are counted from appended events, and no content is exported", async () => {
  const { metrics, append } = watched();
  append([...TURN, IDLE]);
  const { text, value } = await read(metrics);
  const model = "claude-sonnet-5-5";
  expect(value("tandem_turns_total", { reason: "end_turn" })).toBe(1);
  expect(value("tandem_turn_seconds_count")).toBe(1);
  expect(value("tandem_events_total", { kind: "tandem" })).toBe(2);
  expect(value("tandem_model_requests_total", { model, outcome: "ok" })).toBe(1);
  expect(value("tandem_model_request_seconds_count")).toBe(1);
  expect(value("tandem_tokens_total", { model, type: "cache_read" })).toBe(100);
  expect(value("tandem_cost_usd_total", { model })).toBe(0.25);
  expect(value("tandem_tool_calls_total", { type: "built_in", outcome: "error" })).toBe(1);
  expect(value("tandem_retries_total", { status: "429" })).toBe(1);
  expect(value("tandem_rate_limits_total", { kind: "five_hour" })).toBe(1);
  expect(value("tandem_build_info", { version: "1.2.3" })).toBe(1);
  expect(value("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  expect(text).not.toContain("a secret");
  expect(text).not.toContain("sesn_");
});

test("sessions by state covers the held sessions; a lost session has no state", async () => {
  const held = [SESSION, "sesn_2" as SessionId];
  const running = watched(held);
  running.append(TURN);
  const before = await read(running.metrics);
  expect(before.value("tandem_sessions", { state: "running" })).toBe(1);
  expect(before.value("tandem_sessions", { state: "idle" })).toBe(1);
  expect(before.value("tandem_leases_held")).toBe(2);
  const lost = watched([]);
  lost.append(TURN);
  const after = await read(lost.metrics);
  expect(after.value("tandem_sessions", { state: "running" })).toBe(0);
  expect(after.value("tandem_leases_held")).toBe(0);
});

test("fleet gauges are labeled by place, and a failing source leaves the others unchanged", async () => {
  const status = {
    type: "fleet_status" as const,
    at: "",
    throughput: { turns_per_minute: 0, minutes: [] },
    dead: 2,
    workers: [],
    queue: [
      { place: 'needs:a="b"\\', waiting: 3, running: 1, oldest_ms: 1_500, served: false },
      { place: "any", waiting: 1, running: 0, oldest_ms: null, served: true },
      { place: "context:ctx_1", waiting: 1, running: 1, oldest_ms: 4_000, served: true },
      { place: "context:ctx_2", waiting: 1, running: 0, oldest_ms: 2_000, served: true },
    ],
    leases: { held: 0, abandoned: 4 },
    limits: [],
  };
  const processes = async () => Promise.reject(new Error("away"));
  const { metrics } = watched([], { fleet: async () => status, processes });
  const { value } = await read(metrics);
  expect(value("tandem_queue_waiting", { place: 'needs:a="b"\\' })).toBe(3);
  expect(value("tandem_queue_oldest_seconds", { place: 'needs:a="b"\\' })).toBe(1.5);
  expect(value("tandem_queue_waiting", { place: "context" })).toBe(2);
  expect(value("tandem_queue_oldest_seconds", { place: "context" })).toBe(4);
  expect(value("tandem_queue_waiting", { place: "context:ctx_1" })).toBeUndefined();
  expect(value("tandem_queue_unserved")).toBe(3);
  expect([value("tandem_queue_dead"), value("tandem_leases_abandoned")]).toEqual([2, 4]);
  expect(value("tandem_claude_processes")).toBeUndefined();
});

test("names follow the convention", () => {
  for (const { name, type, help } of new ServerMetrics("1.2.3").descriptions) {
    expect(name).toMatch(/^(tandem|process)_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
    expect(help).toMatch(/^[A-Z].*[^.]$/);
  }
});

test("/metrics is only for tokens of the operator with the read scope", async () => {
  const metrics = new ServerMetrics("1.2.3");
  const server = await startTestServer({ engine: new MemoryEngine().engine, metrics });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const as = (secret: string) => server.request("/metrics", { headers: { authorization: `Bearer ${secret}` } });
  const answer = await as(await server.secretFor("read"));
  expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(parseMetrics(await answer.text()).has("tandem_http_requests_total")).toBe(true);
  const again = parseMetrics(await (await server.request("/metrics")).text());
  expect(again.get("tandem_http_requests_total")!.samples).toContainEqual(
    expect.objectContaining({ labels: { method: "GET", status: "2xx" } }),
  );
  expect((await as("tdm_wrong")).status).toBe(401);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  const stranger = await createToken(server.tokens, { name: "stranger", scopes: ["admin"], tenant: "acme" });
  expect((await as(stranger.secret)).status).not.toBe(200);
});

test("the metrics port serves only metrics, and only to this machine", async () => {
  const port = await serveMetrics(new ServerMetrics("1.2.3"), 0);
  onTestFinished(() => port[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${port.port}`;
  expect(parseMetrics(await (await fetch(`${url}/metrics`)).text()).size).toBeGreaterThan(20);
  expect((await fetch(`${url}/v1/sessions`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(404);
});

test("the parser of these tests rejects invalid exposition text", () => {
  const bad: [text: string, why: string][] = [
    ["a 1", "no end"],
    ["# HELP a A.\n# TYPE a counter\na{b=c} 1\n", "Not labels"],
    ["# HELP a A.\n# TYPE a gauge\na 1\na 2\n", "Twice"],
    ["# HELP a A.\n# TYPE a counter\na one\n", "Not a sample"],
    ['# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n', "Buckets"],
  ];
  for (const [text, why] of bad) expect(() => parseMetrics(text)).toThrow(why);
});

test("labels are escaped, and a removed place has no line", async () => {
  const registry = new MetricRegistry(async () => undefined);
  registry.histogram("a_seconds", "A", [1, 2]).record(1.5, { l: "x\ny" });
  const gauge = registry.gauge("b", "B", ["place"]);
  gauge.set(1, { place: "here" });
  gauge.set(2, { place: "there" });
  const before = parseMetrics(await registry.text());
  expect(before.get("a_seconds")!.help).toBe("A.");
  expect(before.get("a_seconds")!.samples).toContainEqual({
    name: "a_seconds_bucket",
    labels: { l: "x\ny", le: "2" },
    value: 1,
  });
  expect(before.get("b")!.samples).toHaveLength(2);
  gauge.clear();
  gauge.set(3, { place: "there" });
  const after = parseMetrics(await registry.text());
  expect(after.get("b")!.samples).toEqual([{ name: "b", labels: { place: "there" }, value: 3 }]);
});

// `vitest run -u` rewrites it.
test("docs/reference/metrics.md matches the registered metrics", async () => {
  const rows = new ServerMetrics("1.2.3").descriptions.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  const page = [
    "# Metrics",
    "",
    "What `GET /metrics` answers, in the text format of Prometheus ([guide](../guides/fleet.md#seeing-it)). All of it is of the",
    "process that is asked, but for `tandem_queue_…`, `tandem_workers`, `tandem_leases_abandoned` and `tandem_account_limits`,",
    "which are of the whole fleet and the same at every process: take the maximum of them, not the sum.",
    "",
    "| name | type | labels | what it is |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ];
  await expect(page.join("\n")).toMatchFileSnapshot("../../../../docs/reference/metrics.md");
});
