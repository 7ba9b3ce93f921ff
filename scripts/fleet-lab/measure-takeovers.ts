import { setTimeout as sleep } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import { queryPostgres } from "@tandem/storage/testing";
import { text, type ModelRequest } from "@tandem/rehearsal";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { type MachineName, VOLUME_WORKERS } from "./lab-machines.ts";
import { quantile } from "./quantile.ts";
import { type LabStage, openStage } from "./open-stage.ts";
import { powerOff } from "./faults/power-off.ts";
import { TakeoverModel } from "./takeover-model.ts";

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
const PATIENCE_MS = 120_000;
const POLL_MS = 50;
/** For a worker's look at expired leases and the start of Claude Code. On a busy machine, a multiple of a start there. */
const SLACK_MS = 3_000;
const SLACK_STARTS = 3;

export async function measureTakeovers(
  network: LabNetwork,
  signal: AbortSignal,
  settings: LabSettings,
): Promise<TakeoverFigures> {
  const model = new TakeoverModel();
  const script = (request: ModelRequest) =>
    model.concerns(request) ? model.answer(request) : text("One word follows another.");
  await using stage = await openStage(network, settings, { script, signal });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const machine = VOLUME_WORKERS[round % VOLUME_WORKERS.length]!;
    const end = () => powerOff({ ...stage, network }, machine);
    times.push(...(await timeTakeovers(stage, { model, machine, end, settings, round })));
    const process = stage.system.processes.find(({ name }) => name === machine);
    process?.launch();
    if (process) await stage.system.ready(process);
  }
  return {
    lease: settings.takeover,
    count: times.length,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    mostMs: quantile(times, 1),
  };
}

interface TakeoverRound {
  model: TakeoverModel;
  /** The worker that dies. */
  machine: MachineName;
  end: () => Promise<unknown>;
  settings: LabSettings;
  round: number;
}

/**
 * Ends a worker's machine while its sessions wait for the model, and measures for each of them until the model gets the request of
 * the other worker. That includes the start of Claude Code. Throws if one of them takes longer than the lease and the slack.
 */
export async function timeTakeovers(
  { lab }: LabStage,
  { model, machine, end, settings, round }: TakeoverRound,
): Promise<number[]> {
  const client = new Anthropic({ baseURL: lab.plan.url!, apiKey: lab.plan.apiKey(), maxRetries: 4 });
  const agent = await client.beta.agents.create({
    name: "lab",
    model: "claude-sonnet-5-5",
    tools: [{ type: "agent_toolset_20260401" }],
  });
  const environment = await client.beta.environments.create(lab.volumeEnvironment);
  const sessions = new Map<string, string>();
  let startMs = 0;
  try {
    // One after another, so that both workers get some.
    for (let index = 0; index < SESSIONS; index += 1) {
      const name = `takeover-${round}-${index}`;
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      const content = [{ type: "text" as const, text: `Work on ${name}.` }];
      const sentAt = Date.now();
      await client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content }] });
      await until(() => model.asked.has(name), PATIENCE_MS);
      startMs = Math.max(startMs, Date.now() - sentAt);
      sessions.set(name, session.id);
    }
    const rows = await queryPostgres(
      lab.database.socketUrl,
      `select session from tandem.log where lease_holder like '% on ${machine}%'`,
    );
    const there = [...sessions].filter(([, id]) => rows.some(({ session }) => session === id)).map(([name]) => name);
    if (there.length === 0) throw new Error(`No session ran on ${machine}.`);
    const endedAt = Date.now();
    await end();
    const boundMs = settings.leaseMs + SLACK_MS + SLACK_STARTS * startMs;
    const isResumed = (name: string): boolean => (model.asked.get(name)?.length ?? 0) > 1;
    await until(() => there.every(isResumed), boundMs + settings.leaseMs);
    const times = there.map((name) => (model.asked.get(name)?.[1] ?? Infinity) - endedAt);
    const late = times.filter((time) => time > boundMs);
    if (late.length === 0) return times;
    const seconds = late.map((time) => (time / 1_000).toFixed(1)).join(", ");
    throw new Error(
      `${late.length} of ${times.length} sessions ran again after ${seconds} s. The bound is ${(boundMs / 1_000).toFixed(1)} s.`,
    );
  } finally {
    model.release();
  }
}

/** Returns at the deadline, too: the caller judges what there is. */
async function until(isDone: () => boolean, waitMs: number): Promise<void> {
  const deadline = Date.now() + waitMs;
  while (!isDone() && Date.now() < deadline) await sleep(POLL_MS);
}
