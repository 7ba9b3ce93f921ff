import { setTimeout as sleep } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import { slowly, text, type ModelRequest } from "@tandem/rehearsal";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { VOLUME_WORKERS } from "./lab-machines.ts";
import { quantile } from "./quantile.ts";
import { openStage } from "./open-stage.ts";

export interface TakeoverFigures {
  /** `sessions.takeover`. */
  lease: string;
  count: number;
  p50Ms: number;
  p95Ms: number;
  mostMs: number;
}

const ROUNDS = 4;
const SESSIONS = 4;
const TOKEN_MS = 3_000;
const PATIENCE_MS = 120_000;
const SETTLE_MS = 25_000;

/**
 * Kills the machine of one worker while its sessions wait for the model, again and again, and measures until the model gets the
 * request of the other worker. That includes the start of Claude Code.
 */
export async function measureTakeovers(
  network: LabNetwork,
  signal: AbortSignal,
  settings: LabSettings,
): Promise<TakeoverFigures> {
  const asked = new Map<string, number[]>();
  const script = (request: ModelRequest) => {
    const name = JSON.stringify(request.messages)
      .match(/takeover-\d+-\d+/g)
      ?.at(-1);
    if (name !== undefined && request.tools.length > 0) asked.set(name, [...(asked.get(name) ?? []), Date.now()]);
    return slowly(text("One word follows another."), { tokenMs: TOKEN_MS });
  };
  await using stage = await openStage(network, settings, { script, signal });
  const { system, lab } = stage;
  const client = new Anthropic({ baseURL: lab.plan.url!, apiKey: lab.plan.apiKey(), maxRetries: 4 });
  const agent = await client.beta.agents.create({
    name: "lab",
    model: "claude-sonnet-5-5",
    // Side requests, such as for a title, have no tools.
    tools: [{ type: "agent_toolset_20260401" }],
  });
  const environment = await client.beta.environments.create(lab.volumeEnvironment);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = Array.from({ length: SESSIONS }, (_, index) => `takeover-${round}-${index}`);
    for (const name of names) {
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      const content = [{ type: "text" as const, text: `Work on ${name}.` }];
      await client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content }] });
    }
    await until(() => names.every((name) => asked.has(name)));
    const machine = VOLUME_WORKERS[round % VOLUME_WORKERS.length]!;
    const process = system.processes.find(({ name }) => name === machine);
    const before = new Map(names.map((name) => [name, asked.get(name)?.length ?? 0]));
    const killedAt = Date.now();
    await network.killAll(machine);
    await process?.kill();
    // Not all sessions were on this machine; the others send no request again.
    await sleep(SETTLE_MS);
    for (const name of names) {
      const again = asked.get(name)?.[before.get(name) ?? 0];
      if (again !== undefined) times.push(again - killedAt);
    }
    process?.launch();
    if (process) await system.ready(process);
  }
  return {
    lease: settings.takeover,
    count: times.length,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    mostMs: quantile(times, 1),
  };
}

async function until(isDone: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!isDone()) {
    if (Date.now() > deadline) throw new Error("The sessions did not start.");
    await sleep(50);
  }
}
