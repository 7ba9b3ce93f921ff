import Anthropic from "@anthropic-ai/sdk";
import { text, toolUse } from "@tandem/rehearsal";
import { whyNoSandbox } from "@tandem/sessions";
import { whyNoPostgres } from "@tandem/storage/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { TANDEM } from "../../apps/cli/src/testing/run-tandem.ts";
import { fleetMachine } from "../../apps/cli/src/fleet/testing/fleet-machine.ts";
import { testTandem } from "../crash-test/test-tandem.ts";
import { olderBuild } from "./older-build.ts";
import { rollFault } from "./roll-fault.ts";

/** Version 0.1.0, which wrote the fixtures. */
const FIRST_EDITION = "ee2133c";
/** The first commit whose queue and tables are those of this version. */
const OLD = "10732e06";
const LONGEST_ROLL_MS = 600_000;
const why = process.platform === "linux" ? whyNoPostgres() : "processes are counted in /proc";

test.runIf(inject("soak") && why === undefined)(
  `a fleet rolls from the build of ${OLD} to this one and back under clients: nothing is lost, doubled, stuck or left behind`,
  { timeout: 2 * LONGEST_ROLL_MS },
  async ({ skip, signal }) => {
    const old = olderBuild(OLD);
    if ("missing" in old) return skip(old.missing);
    const report = await testTandem("fleet", {
      faults: 1,
      only: ["roll"],
      extraFaults: [rollFault(TANDEM)],
      tandem: old.command,
      sandbox: (await whyNoSandbox(process.env)) === undefined,
      sessions: 8,
      longestFaultMs: LONGEST_ROLL_MS,
      seed: Date.now() % 1_000_000,
      signal,
    });
    console.log(JSON.stringify({ ...report.counts, ...report.eventTypes }));
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults).toHaveLength(1);
    expect(report.eventTypes?.["tandem.handover"]).toBeGreaterThan(0);
  },
);

test.runIf(inject("soak") && why === undefined)(
  "this build refuses to start beside a running 0.1.0, and continues its sessions once that has stopped",
  async ({ skip }) => {
    const old = olderBuild(FIRST_EDITION);
    if ("missing" in old) return skip(old.missing);
    await using machine = await fleetMachine();
    await machine.reset(({ messages }) => {
      const asked = JSON.stringify(messages);
      if (asked.includes("And now?")) return text("Still here.");
      if (!asked.includes("Use a tool.")) return text("Hello.");
      return asked.includes('"type":"tool_result"')
        ? text("Done.")
        : toolUse("Bash", { command: "echo once >> done.txt" });
    });
    const home = await machine.place();
    const other = await machine.place();
    const first = await machine.upBuild(old.command, home);
    const client = ({ url, token }: { url: string; token: string }) =>
      new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 }).beta;
    const say = (up: { url: string; token: string }, session: string, words: string) =>
      client(up).sessions.events.send(session, {
        events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
      });
    const eventsOf = async (up: { url: string; token: string }, session: string) => {
      const events = [];
      for await (const event of client(up).sessions.events.list(session)) events.push(event);
      return events;
    };
    const saidIn = async (up: { url: string; token: string }, session: string) =>
      (await eventsOf(up, session)).flatMap((event) =>
        event.type === "agent.message" ? event.content.map((block) => ("text" in block ? block.text : "")) : [],
      );
    const agent = await client(first).agents.create({
      name: "tester",
      model: "claude-sonnet-5-5",
      tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } }],
    });
    const talking = await client(first).sessions.create({ agent: agent.id, environment_id: "env_local" });
    const waiting = await client(first).sessions.create({ agent: agent.id, environment_id: "env_local" });
    await say(first, talking.id, "Hello?");
    await expect.poll(() => saidIn(first, talking.id)).toEqual(["Hello."]);
    await say(first, waiting.id, "Use a tool.");
    const callIn = async () => (await eventsOf(first, waiting.id)).find(({ type }) => type === "agent.tool_use")?.id;
    await expect.poll(callIn).toBeDefined();
    const call = (await callIn())!;

    const schema = () => machine.query("select max(version) as version from tandem.schema_version");
    const before = await schema();
    await expect(machine.upBuild(TANDEM, other, "--as", "server")).rejects.toThrow(/older_workers_alive|SIGTERM/);
    expect(await schema()).toEqual(before);
    await say(first, talking.id, "Are you still there?");
    await expect.poll(() => saidIn(first, talking.id)).toEqual(["Hello.", "Hello."]);

    expect((await first.stop()).code).toBe(0);
    const next = await machine.upBuild(TANDEM, home);
    await say(next, talking.id, "And now?");
    await expect.poll(() => saidIn(next, talking.id)).toEqual(["Hello.", "Hello.", "Still here."]);
    await client(next).sessions.events.send(waiting.id, {
      events: [{ type: "user.tool_confirmation", tool_use_id: call, result: "allow" }],
    });
    await expect.poll(() => saidIn(next, waiting.id)).toEqual(["Done."]);
    expect(readFileSync(join(machine.folder, "project", "done.txt"), "utf8")).toBe("once\n");
    // The way back is a backup.
    await expect(machine.upBuild(old.command, other)).rejects.toThrow(/schema/);
  },
);
