import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse, type Script } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../testing/session-machine.ts";

const DEADLINE_MS = 120_000;
const CALLS = 4;
const WORKER = join(import.meta.dirname, "../../../../docs/examples/environment-worker.ts");

/** Calls the shell, as often as needed, one after the other. Each call takes a while, so that a kill hits it. */
const model: Script = ({ body }) => {
  const sent = JSON.stringify(body);
  const results = sent.split('"type":"tool_result"').length - 1;
  if (!sent.includes("mcp__environment__bash")) return text("Hello");
  if (results >= CALLS) return text("Finished.");
  return toolUse("mcp__environment__bash", {
    command: `echo call-${results} >> calls.txt; sleep 1; echo result-${results}`,
  });
};

test("workers and the server are killed while tools run: the session finishes, and one answer to each call counts", async () => {
  await using machine = await sessionMachine(model, "sessions: { takeover: 800ms, workLease: 3s, recovery: resume }\n");
  await using cleanup = new AsyncDisposableStack();
  const workdir = await mkdtemp(join(tmpdir(), "tandem-worker-"));
  cleanup.defer(() => rm(workdir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  let server = cleanup.use(await machine.upProcess());
  const client = new Anthropic({ baseURL: server.url, apiKey: server.token });
  const environment = await client.beta.environments.create({ name: "own", config: { type: "self_hosted" } });
  const key = await client.post<{ secret: string }>(`/v1/environments/${environment.id}/keys`, { body: {} });
  const agent = await client.beta.agents.create({
    name: "worker",
    model: "claude-sonnet-5-5",
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
  });
  const startWorker = (): ChildProcess => {
    const env = {
      PATH: process.env["PATH"],
      HOME: workdir,
      TANDEM_URL: server.url,
      ENVIRONMENT_ID: environment.id,
      ENVIRONMENT_KEY: key.secret,
    };
    const child = spawn(process.execPath, [WORKER], { cwd: workdir, env, stdio: "ignore" });
    cleanup.defer(() => void child.kill("SIGKILL"));
    return child;
  };
  const called = async (name: string): Promise<void> => {
    const calls = () => readFile(join(workdir, "calls.txt"), "utf8").catch(() => "");
    await expect.poll(calls, { timeout: DEADLINE_MS }).toContain(name);
  };

  let worker = startWorker();
  const session = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Begin." }] }],
  });
  await called("call-0");
  worker.kill("SIGKILL");
  worker = startWorker();
  await called("call-1");
  await server.stop("SIGKILL");
  server = cleanup.use(await machine.upProcess("--port", new URL(server.url).port));
  await called("call-2");
  worker.kill("SIGKILL");
  await server.stop("SIGKILL");
  server = cleanup.use(await machine.upProcess("--port", new URL(server.url).port));
  startWorker();

  const log = async () => {
    const events = [];
    for await (const event of client.beta.sessions.events.list(session.id, { limit: 1_000 })) events.push(event);
    return events;
  };
  await expect.poll(async () => JSON.stringify(await log()), { timeout: DEADLINE_MS }).toContain("Finished.");
  const events = await log();
  // A result can arrive while the next server closes its call. The log keeps it and says that it had no effect.
  const dropped = JSON.stringify(events.filter(({ type }) => (type as string) === "tandem.dropped"));
  const uses = events.flatMap((event) => (event.type === "agent.tool_use" ? [event.id] : []));
  const results = events.filter((event) => event.type === "user.tool_result").filter(({ id }) => !dropped.includes(id));
  expect(results.map((event) => event.tool_use_id).toSorted()).toEqual(uses.toSorted());
  const said = JSON.stringify(results);
  for (let call = 0; call < CALLS; call += 1) expect(said).toContain(`result-${call}`);
});
