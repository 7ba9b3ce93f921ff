import { deadLetter, fleetStatus, type FleetStatus } from "@tandem/protocol";
import { openPostgresQueue } from "@tandem/queue";
import { always, text } from "@tandem/rehearsal";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { scratchMachine } from "../testing/run-tandem.ts";
import type { RunningUp } from "../testing/session-machine.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

const DEADLINE_MS = 160_000;
const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(z.object({ key: z.string(), value: z.looseObject({}) })) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(z.object({ name: z.string(), traceId: z.string(), parentSpanId: z.string().optional() })),
        }),
      ),
    }),
  ),
});

let machine: Awaited<ReturnType<typeof fleetMachine>>;
let spans: { name: string; traceId: string; process: string }[] = [];
const collector = createServer((request, response) => {
  void keep(request).finally(() => response.end("{}"));
});
async function keep(request: IncomingMessage): Promise<void> {
  for (const { resource, scopeSpans } of exported.parse(await json(request)).resourceSpans) {
    const process = JSON.stringify(resource.attributes.find(({ key }) => key === "service.instance.id")?.value);
    for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, process })));
  }
}

beforeAll(async () => {
  await once(collector.listen(0, "127.0.0.1"), "listening");
  const { port } = collector.address() as AddressInfo;
  machine = await fleetMachine(`telemetry: { endpoint: "http://127.0.0.1:${port}" }\n`);
});
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
  collector.close();
});
beforeEach(async () => {
  spans = [];
  await machine.reset([always(text("Yes."))]);
});

/** Runs a command without a server: it reads the fleet from the database. */
async function tandem(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await machine.run(args, await machine.place());
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout;
}
const status = async (): Promise<FleetStatus> =>
  fleetStatus.parse(JSON.parse(await tandem("fleet", "status", "--json")));

async function until<T>(ask: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + DEADLINE_MS; ; await sleep(200)) {
    const value = await ask();
    if (fits(value) || Date.now() > deadline) return value;
  }
}

function apiOf({ url, token }: RunningUp) {
  return async <T>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> => {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (answer.headers.get("content-type")?.includes("json") ? answer.json() : answer.text()) as Promise<T>;
  };
}

test("shows a server and a worker with their counts, traces across both, and drains a worker", async () => {
  const worker = await machine.up("--as", "worker", "--machine", "alpha", "--label", "gpu=yes");
  const server = await machine.up("--as", "server", "--machine", "front");
  const api = apiOf(server);
  const agent = await api<{ id: string }>("/v1/agents", { name: "tester", model: "claude-sonnet-5-5" });
  const session = await api<{ id: string }>("/v1/sessions", { agent: agent.id, environment_id: "env_local" });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  await api(
    `/v1/sessions/${session.id}/events`,
    { events: [{ type: "user.message", content: [{ type: "text", text: "Are you there?" }] }] },
    { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  );
  const isIdle = (events: { data: { type: string }[] }) =>
    events.data.some(({ type }) => type === "session.status_idle");
  await until(() => api<{ data: { type: string }[] }>(`/v1/sessions/${session.id}/events`), isIdle);

  // Workers report their counts every few seconds.
  const isCounted = ({ throughput }: FleetStatus) => throughput.turns_per_minute > 0;
  const seen = await until(async () => fleetStatus.parse(await api("/v1/fleet")), isCounted);
  expect(seen.workers.map(({ role, machine: name, state }) => ({ role, name, state }))).toEqual([
    { role: "worker", name: "alpha", state: "live" },
    { role: "server", name: "front", state: "live" },
  ]);
  const [held] = seen.workers;
  expect(held).toMatchObject({ labels: { gpu: "yes" }, payer: "anthropic_api_key" });
  expect(held!.turns_per_minute).toBeGreaterThan(0);
  expect(seen.leases).toEqual({ held: 1, abandoned: 0 });
  expect(seen.dead).toBe(0);
  const shown = await tandem("fleet", "status");
  expect(shown).toContain(held!.id);
  expect(shown).toContain("gpu=yes");

  expect(await apiOf(worker)<string>("/metrics")).toMatch(/^tandem_turns_total\{reason="end_turn"\} 1$/m);
  const atServer = await api<string>("/metrics");
  expect(atServer).toMatch(/^tandem_workers\{role="worker",state="live"\} 1$/m);
  expect(atServer).not.toMatch(/^tandem_turns_total\{/m);

  expect(await tandem("fleet", "drain", held!.id.slice(0, 20))).toContain(held!.id);
  expect(await worker.outcome).toMatchObject({ code: 0 });
  const left = await status();
  expect(left.workers.filter(({ state }) => state === "live").map(({ role }) => role)).toEqual(["server"]);
  expect(left.leases.held).toBe(0);
  await server.stop();
  const ours = spans.filter((span) => span.traceId === traceId);
  const of = (name: string) => ours.find((span) => span.name.startsWith(name));
  expect(of("POST /v1/sessions/:id/events")!.process).not.toBe(of("invoke_agent")!.process);
  expect(of("chat claude-sonnet-5-5")!.process).toBe(of("invoke_agent")!.process);
});

test("lists an abandoned run with its reason and retries it", async () => {
  const { env } = await machine.place();
  await using queue = await openPostgresQueue(env!["TEST_DATABASE"]!, { attempts: 1 });
  const working = queue.work(
    ["needs:gpu=yes"],
    () => 1,
    async () => Promise.reject(new Error("The folder is not there.")),
  );
  await queue.send({ kind: "session", key: "sesn_1", tenant: "default", place: "needs:gpu=yes", priority: 0 });
  const list = async () =>
    z.object({ data: z.array(deadLetter) }).parse(JSON.parse(await tandem("fleet", "dead", "--json"))).data;
  await until(
    () => queue.dead(),
    (letters) => letters.length > 0,
  );
  const [letter] = await list();
  expect(letter).toMatchObject({ key: "sesn_1", kind: "session", attempts: 1 });
  expect(letter!.error).toContain("The folder is not there.");
  expect(await tandem("fleet", "dead")).toContain("tandem fleet requeue KEY");
  expect(await tandem("fleet", "status")).toContain("1 run failed: tandem fleet dead");
  await working.stop(1_000);
  expect(await tandem("fleet", "requeue", "sesn_1")).toBe("sesn_1 is queued again.\n");
  expect(await queue.dead()).toEqual([]);
  expect((await status()).queue).toMatchObject([{ place: "needs:gpu=yes", waiting: 1, served: false }]);
  const again = await machine.run(["fleet", "requeue", "sesn_1"], await machine.place());
  expect(again.stderr).toContain("No run of sesn_1 has failed its last attempt.");
  expect(again.code).not.toBe(0);
});

test("rejects a worker on a personal login for all tenants and names the fix", async () => {
  const folder = join(machine.folder, "mine");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "tandem.yaml"), `storage: { url: "env:TEST_DATABASE" }\n`);
  const place = await machine.place();
  await machine.run(["--project", folder, "trust"], place);
  const refused = await machine.run(["--project", folder, "up", "--as", "worker", "--port", "0"], place);
  expect(refused.stderr).toContain("This worker would run the sessions of all users on your Claude login");
  expect(refused.stderr).toContain("--tenant");
  expect(refused.code).not.toBe(0);
});

test.each([
  [["--as", "worker"], "A worker needs a shared database"],
  [["--max-sessions", "3"], "--max-sessions needs a shared database"],
])("without Postgres, %j is refused", async (args, words) => {
  await using alone = await scratchMachine();
  const { code, stderr } = await alone.run(["up", "--port", "0", ...args]);
  expect(stderr).toContain(words);
  expect(stderr).toContain("storage.url");
  expect(code).toBe(2);
});
