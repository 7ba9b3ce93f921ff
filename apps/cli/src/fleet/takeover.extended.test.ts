import Anthropic from "@anthropic-ai/sdk";
import { always, slowly, text, toolUse } from "@tandem/rehearsal";
import { isRunning } from "@tandem/tandem/testing";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import type { RunningUp } from "../testing/session-machine.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

let machine: Awaited<ReturnType<typeof fleetMachine>>;
beforeAll(async () => {
  machine = await fleetMachine();
});
afterAll(() => machine?.[Symbol.asyncDispose]());
/** In the folder of sessions: the sandbox hides others. */
const inFolder = (name: string) => join(machine.folder, "project", name);
const go = () => inFolder("go.txt");
const waits = (name: string) =>
  toolUse("Bash", { command: `touch ${inFolder(`${name}.begun`)}; tail -F ${go()} | grep -m1 go` });
beforeEach(() => machine.reset([]));

const clientOf = ({ url, token }: RunningUp) => new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 });

/** Starts a session whose agent waits in a command on this worker, the only one so far. */
async function begin(worker: RunningUp, name: string) {
  const client = clientOf(worker);
  const agent = await client.beta.agents.create({
    name: "tester",
    model: "claude-sonnet-5-5",
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
  });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: "user.message", content: [{ type: "text", text: "Do it." }] }],
  });
  await expect.poll(() => existsSync(inFolder(`${name}.begun`))).toBe(true);
  await expect.poll(waitingCommands).toHaveLength(1);
  return { id: session.id, command: waitingCommands()[0]! };
}

const eventsOf = async (up: RunningUp, session: string) => {
  const types: string[] = [];
  const query = { limit: 100, tandem: true };
  for await (const event of clientOf(up).beta.sessions.events.list(session, {}, { query })) types.push(event.type);
  return types;
};
const waitingCommands = (): number[] =>
  readdirSync("/proc")
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `tail\0-F\0${go()}\0`;
      } catch {
        return false;
      }
    })
    .map(Number);
const processesOf = (up: RunningUp): number[] => {
  const folder = join(dirname(up.tokenFile), "processes");
  return existsSync(folder) ? readdirSync(folder).map((name) => Number.parseInt(name, 10)) : [];
};
async function idleAt(up: RunningUp, session: string, timeout: number): Promise<void> {
  await expect.poll(() => eventsOf(up, session), { timeout, interval: 250 }).toContain("session.status_idle");
}

// `npm test` kills, suspends and stops workers with a turn in `packages/sessions/src/{actor,fleet}`, and drains processes
// of a fleet in `fleet-status.extended.test.ts` and `jobs.extended.test.ts`.
test.runIf(inject("soak"))("a killed worker leaves no process, and another worker continues within 20 s", async () => {
  machine.rehearsal.use([waits("killed"), always(text("Done."))]);
  const first = await machine.upProcess("--as", "worker");
  const server = await machine.up("--as", "server");
  const { id, command } = await begin(first, "killed");
  const second = await machine.up("--as", "worker");
  const [claude = 0] = processesOf(first);
  const killed = Date.now();
  first.child.kill("SIGKILL");
  // Long before the lease expires.
  await expect.poll(() => isRunning(claude) || isRunning(command), { interval: 20 }).toBe(false);
  await expect.poll(() => eventsOf(server, id), { interval: 100 }).toContain("tandem.recovered");
  expect(Date.now() - killed).toBeLessThan(20_000 * inject("slowness"));
  await idleAt(server, id, 40_000);
  const types = await eventsOf(server, id);
  expect(types.filter((type) => type === "agent.tool_use")).toHaveLength(1);
  expect(types.filter((type) => type === "agent.tool_result")).toHaveLength(1);
  expect(types.filter((type) => type === "agent.message")).toHaveLength(1);
  expect(processesOf(second)).toHaveLength(1);
});

test.runIf(inject("soak"))(
  "a suspended worker's turn is killed before its lease expires, and it writes nothing more",
  async () => {
    machine.rehearsal.use([waits("halted"), always(text("Done."))]);
    const halted = await machine.upProcess("--as", "worker");
    const server = await machine.up("--as", "server");
    const { id, command } = await begin(halted, "halted");
    await machine.up("--as", "worker");
    const [claude = 0] = processesOf(halted);
    halted.child.kill("SIGSTOP");
    await expect.poll(() => isRunning(claude) || isRunning(command), { interval: 20 }).toBe(false);
    // No other worker has the session yet.
    expect(await eventsOf(server, id)).not.toContain("tandem.recovered");
    await idleAt(server, id, 60_000);
    const before = await eventsOf(server, id);
    halted.child.kill("SIGCONT");
    // The worker has rejoined the fleet, but has lost the session.
    await expect.poll(() => fetch(`${halted.url}/readyz`).then(({ status }) => status)).toBe(204);
    expect(processesOf(halted)).toEqual([]);
    expect(await eventsOf(server, id)).toEqual(before);
  },
);

test.runIf(inject("soak"))("a stopping worker hands its turn over and leaves the fleet", async () => {
  let hasLeft = false;
  machine.rehearsal.use(({ toolResults }) => {
    if (toolResults.length === 0) return waits("drained");
    // The leaving worker must not wait for this answer. It may leave before it asks for one.
    return hasLeft ? text("Done.") : slowly(text("Too late."), { firstByteMs: 120_000 });
  });
  const leaving = await machine.up("--as", "worker");
  const server = await machine.up("--as", "server");
  const { id } = await begin(leaving, "drained");
  const staying = await machine.up("--as", "worker");
  const stopped = leaving.stop();
  await expect.poll(() => fetch(`${leaving.url}/readyz`).then(({ status }) => status), { interval: 20 }).toBe(503);
  await writeFile(go(), "go\n");
  await expect.poll(() => eventsOf(server, id)).toContain("tandem.handover");
  hasLeft = true;
  expect((await stopped).code).toBe(0);
  await idleAt(server, id, 40_000);
  const types = await eventsOf(server, id);
  expect(types).not.toContain("tandem.recovered");
  expect(types.filter((type) => type === "agent.tool_result")).toHaveLength(1);
  expect(types.filter((type) => type === "agent.message")).toHaveLength(1);
  expect(processesOf(staying)).toHaveLength(1);
  const status = await machine.run(["fleet", "status", "--json"], await machine.place());
  const { workers } = JSON.parse(status.stdout) as { workers: { role: string }[] };
  expect(workers.map(({ role }) => role).toSorted()).toEqual(["server", "worker"]);
});
