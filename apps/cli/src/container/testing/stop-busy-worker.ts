import type Anthropic from "@anthropic-ai/sdk";
import { text, toolUse, type Script } from "@tandem/rehearsal";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Podman } from "./podman.ts";

/** The image's user. */
export const USER = 10_001;
const FIRST = "hostname > begun.txt; tail -F go.txt | grep -m1 go; echo 0 >> done.txt";

export interface FleetWithWorkers {
  podman: Podman;
  client: Anthropic;
  /** The folder of the machine that the workers mount at `/workspace`. */
  workspace: string;
  /** The container of a worker with this host name. */
  containerOf: (host: string) => string;
}

/**
 * A turn of several commands, whose worker is stopped during the first one. Returns the model's script and the run, which
 * checks that another worker continues the turn and that each command ran once.
 */
export function busyTurn(): { script: Script; run: (fleet: FleetWithWorkers) => Promise<void> } {
  let hasLeft = false;
  const script: Script = ({ messages }) => {
    const results = JSON.stringify(messages).split('"type":"tool_result"').length - 1;
    if (results === 0) return toolUse("Bash", { command: FIRST });
    // A turn that is over before the worker has left would not be handed over.
    return hasLeft ? text("All steps are done.") : toolUse("Bash", { command: `echo ${results} >> done.txt` });
  };
  const run = async ({ podman, client, workspace, containerOf }: FleetWithWorkers): Promise<void> => {
    const shop = join(workspace, "shop");
    mkdirSync(shop);
    chownSync(shop, USER, USER);
    const agent = await client.beta.agents.create({
      name: "tester",
      model: "claude-sonnet-5-5",
      tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
    });
    const environment = await client.beta.environments.create({
      name: "shop",
      config: { type: "cloud", networking: { type: "unrestricted" } },
      metadata: { "tandem.path": "/workspace/shop", "tandem.volume": "workspace" },
    });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    await say(client, session.id, "Do all steps.");
    const host = await expectFile(join(shop, "begun.txt"));

    const worker = containerOf(host);
    const stopped = podman.stop(worker);
    await expect.poll(() => podman.isHealthy(worker), { interval: 250 }).toBe(false);
    writeFileSync(join(shop, "go.txt"), "go\n");
    expect(await stopped, await podman.logs(worker)).toBe(0);
    hasLeft = true;
    await expect.poll(() => saidIn(client, session.id), { interval: 250 }).toEqual(["All steps are done."]);
    const types = (await eventsOf(client, session.id)).map(({ type }): string => type);
    expect(types).toContain("tandem.handover");
    expect(types).not.toContain("tandem.recovered");
    const lines = readFileSync(join(shop, "done.txt"), "utf8").trimEnd().split("\n");
    expect(lines).toEqual(lines.map((_, index) => String(index)));
  };
  return { script, run };
}

export const say = (client: Anthropic, session: string, words: string) =>
  client.beta.sessions.events.send(session, {
    events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
  });

export async function saidIn(client: Anthropic, session: string): Promise<string[]> {
  return (await eventsOf(client, session)).flatMap((event) =>
    event.type === "agent.message" ? event.content.map((block) => ("text" in block ? block.text : "")) : [],
  );
}

async function eventsOf(client: Anthropic, session: string) {
  const events = [];
  const query = { limit: 100, tandem: true };
  for await (const event of client.beta.sessions.events.list(session, {}, { query })) events.push(event);
  return events;
}

async function expectFile(path: string): Promise<string> {
  const read = () => (existsSync(path) ? readFileSync(path, "utf8").trim() : "");
  await expect.poll(read, { interval: 250 }).not.toBe("");
  return read();
}
