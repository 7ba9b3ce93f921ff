import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse } from "@tandem/rehearsal";
import { whyNoPostgres } from "@tandem/storage/testing";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningUp } from "../testing/session-machine.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

const missing = whyNoPostgres();

describe.skipIf(missing)(`a rolling upgrade${missing ? ` (skipped: ${missing})` : ""}`, () => {
  let machine: Awaited<ReturnType<typeof fleetMachine>>;
  beforeAll(async () => {
    machine = await fleetMachine();
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  const clientOf = ({ url, token }: RunningUp) => new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 });
  const say = (up: RunningUp, session: string, words: string) =>
    clientOf(up).beta.sessions.events.send(session, {
      events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
    });
  const eventsAt = async (up: RunningUp, session: string) => {
    const events = [];
    const query = { limit: 100, tandem: true };
    for await (const event of clientOf(up).beta.sessions.events.list(session, {}, { query })) events.push(event);
    return events;
  };
  const saidAt = async (up: RunningUp, session: string): Promise<string[]> =>
    (await eventsAt(up, session)).flatMap((event) =>
      event.type === "agent.message" ? event.content.map((block) => ("text" in block ? block.text : "")) : [],
    );
  const version = async (): Promise<number> =>
    Number((await machine.query("select max(version) as version from tandem.schema_version"))[0]!["version"]);

  test("a session works on while servers and workers of the next release replace the old ones", async () => {
    // In the session's folder, which its sandbox shares.
    const [done, begun, go] = ["done.txt", "begun.txt", "go.txt"].map((name) => join(machine.folder, "project", name));
    const first = "touch begun.txt; tail -F go.txt | grep -m1 go; echo 0 >> done.txt";
    let hasLeft = false;
    await machine.reset(({ messages }) => {
      const asked = JSON.stringify(messages);
      const results = asked.split('"type":"tool_result"').length - 1;
      if (asked.includes("And now?")) return text("Still here.");
      if (asked.includes("Hello.")) return text("Hello from the other.");
      if (results === 0) return toolUse("Bash", { command: first });
      // A turn that is over before the old worker has left would not be handed over.
      return hasLeft ? text("All steps are done.") : toolUse("Bash", { command: `echo ${results} >> done.txt` });
    });

    const oldServer = await machine.up("--as", "server");
    const oldWorker = await machine.upProcess("--as", "worker");
    const before = await version();
    const client = clientOf(oldServer);
    const agent = await client.beta.agents.create({
      name: "tester",
      model: "claude-sonnet-5-5",
      tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
    });
    const working = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
    const other = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
    await say(oldServer, working.id, "Do all steps.");
    await expect.poll(() => existsSync(begun!)).toBe(true);

    // The first new process migrates the tables under the running turn.
    const server = await machine.upNextRelease("--as", "server");
    expect(await version()).toBe(before + 1);
    // Old processes continue: the old worker runs a new turn that the new server receives.
    await say(server, other.id, "Hello.");
    await expect.poll(() => saidAt(oldServer, other.id)).toEqual(["Hello from the other."]);

    const worker = await machine.upNextRelease("--as", "worker");
    const left = oldWorker.stop();
    await expect.poll(() => fetch(`${oldWorker.url}/readyz`).then(({ status }) => status), { interval: 20 }).toBe(503);
    await writeFile(go!, "go\n");
    expect((await left).code).toBe(0);
    hasLeft = true;
    await expect.poll(() => saidAt(oldServer, working.id)).toEqual(["All steps are done."]);
    const types = (await eventsAt(server, working.id)).map(({ type }): string => type);
    expect(types).toContain("tandem.handover");
    expect(types).not.toContain("tandem.recovered");
    const lines = readFileSync(done!, "utf8").trimEnd().split("\n");
    expect(lines).toEqual(lines.map((_, index) => String(index)));

    expect((await oldServer.stop()).code).toBe(0);
    await say(server, working.id, "And now?");
    await expect.poll(() => saidAt(server, working.id)).toEqual(["All steps are done.", "Still here."]);
    expect((await fetch(`${worker.url}/readyz`)).status).toBe(204);
  });

  test("an old process may still start beside new ones", async () => {
    await machine.reset([]);
    await machine.upNextRelease("--as", "server");
    const late = await machine.up("--as", "server");
    expect((await fetch(`${late.url}/readyz`)).status).toBe(204);
  });
});
