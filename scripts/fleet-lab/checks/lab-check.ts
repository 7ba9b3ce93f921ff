import Anthropic from "@anthropic-ai/sdk";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { queryPostgres } from "@tandem/storage/testing";
import type { LabLinks } from "../faults/lab-links.ts";
import { MACHINES, type MachineName } from "../lab-machines.ts";
import type { LabNetwork } from "../lab-network.ts";
import type { LabSettings } from "../lab-settings.ts";
import type { LabStage } from "../open-stage.ts";
import { powerOff, vanish } from "../faults/power-off.ts";
import type { CheckModel } from "./check-model.ts";

/** A promise about the fleet that random faults do not reach. It throws if the promise is broken. */
export interface LabCheck {
  name: string;
  run(context: CheckContext): Promise<void>;
}

export interface CheckContext {
  stage: LabStage;
  network: LabNetwork;
  links: LabLinks;
  model: CheckModel;
  settings: LabSettings;
}

export const MODEL = "claude-sonnet-5-5";
const WAIT_MS = 90_000;
const POLL_MS = 200;

/** The official client, at a machine: a server, or HAProxy. */
export const clientAt = ({ stage }: CheckContext, machine: MachineName): Anthropic =>
  new Anthropic({ baseURL: urlOf(machine), apiKey: stage.lab.plan.apiKey(), maxRetries: 0 });

export const urlOf = (machine: MachineName): string => `http://${machine}:4760`;

export const headersOf = ({ stage }: CheckContext): Record<string, string> => ({
  "x-api-key": stage.lab.plan.apiKey(),
  "content-type": "application/json",
});

export function expectThat(condition: boolean, failure: string): asserts condition {
  if (!condition) throw new Error(failure);
}

/** Repeats until there is a result. A rejected attempt is repeated, too: links and servers may be away. */
export async function until<T>(what: string, attempt: () => Promise<T | undefined>, waitMs = WAIT_MS): Promise<T> {
  const deadline = Date.now() + waitMs;
  let last: unknown;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${waitMs / 1_000} s.`, { cause: last });
    await sleep(POLL_MS);
  }
}

export interface SeenEvent {
  id: string;
  type: string;
  [name: string]: unknown;
}

export async function eventsOf(client: Anthropic, session: string): Promise<SeenEvent[]> {
  const events: SeenEvent[] = [];
  for await (const event of client.beta.sessions.events.list(session, { limit: 1_000 })) {
    events.push(event as unknown as SeenEvent);
  }
  return events;
}

export async function say(client: Anthropic, session: string, text: string): Promise<void> {
  await client.beta.sessions.events.send(session, {
    events: [{ type: "user.message", content: [{ type: "text", text }] }],
  });
}

/** Waits for the end of the turn of the last message. */
export const untilIdle = (client: Anthropic, session: string, waitMs?: number): Promise<SeenEvent[]> =>
  until(
    `The end of the turn of ${session}`,
    async () => {
      const events = await eventsOf(client, session);
      const at = events.findLastIndex(({ type }) => type === "user.message");
      const isOver = events.slice(at).some(({ type }) => type === "session.status_idle");
      return isOver ? events : undefined;
    },
    waitMs,
  );

interface WorkerView {
  id: string;
  machine: string;
  role: string;
  state: string;
  problem?: string | null;
}

export async function workersOf(context: CheckContext, at: MachineName = "haproxy"): Promise<WorkerView[]> {
  const response = await fetch(`${urlOf(at)}/v1/fleet`, {
    headers: headersOf(context),
    signal: AbortSignal.timeout(10_000),
  });
  return ((await response.json()) as { workers: WorkerView[] }).workers;
}

export const processOf = ({ stage }: CheckContext, machine: string): LabStage["system"]["processes"][number] =>
  stage.system.processes.find(({ name }) => name === machine)!;

/** Starts a process again, as its supervisor would. */
export async function startAgain(context: CheckContext, machine: string): Promise<void> {
  const process = processOf(context, machine);
  if (process.pid === undefined) process.launch();
  await context.stage.system.ready(process);
}

/** The machine whose process writes a session or runs a job. */
export async function holderMachine({ stage }: CheckContext, id: string): Promise<string | undefined> {
  const statement = `select lease_holder as holder from tandem.log where session = '${id}'`;
  const [row] = await queryPostgres(stage.lab.database.socketUrl, statement);
  return / on ([a-z]+-\d)/.exec(String(row?.["holder"]))?.[1];
}

/** A machine loses its power. `startAgain` starts it. */
export async function turnOff(context: CheckContext, machine: string): Promise<void> {
  const isHit = await powerOff(poweredOf(context), machineNamed(machine));
  expectThat(isHit, `${machine} was off already.`);
}

/** A machine vanishes from the network and loses its power. It stays unreachable while `meanwhile` runs. */
export async function letVanish(context: CheckContext, machine: string, meanwhile: () => Promise<unknown>) {
  const isHit = await vanish(poweredOf(context), machineNamed(machine), 0, meanwhile);
  expectThat(isHit, `${machine} was off already.`);
}

const poweredOf = ({ stage, network, links }: CheckContext) => ({ ...stage, network, links });

export function machineNamed(name: string): MachineName {
  const machine = MACHINES.find((one) => one === name);
  if (machine === undefined) throw new Error(`There is no machine ${name}.`);
  return machine;
}

/** A new session whose agent has tools, in the environment on the shared volume. */
export async function newSession(
  context: CheckContext,
  client: Anthropic,
  policy: "always_allow" | "always_ask" = "always_allow",
): Promise<string> {
  const agent = await client.beta.agents.create({
    name: "works",
    model: MODEL,
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: policy } } }],
  });
  const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id })).id;
}

/** The machine on which the last tool of a session ran. */
export function machineOf(events: readonly SeenEvent[]): string {
  const results = events.filter(({ type }) => type === "agent.tool_result");
  return /ran on ([\w-]+)/.exec(JSON.stringify(results.at(-1) ?? ""))?.[1] ?? "nowhere";
}

/** The lines of a file in the working folder of the environment on the shared volume. */
export async function linesOf({ stage }: CheckContext, file: string): Promise<string[]> {
  const text = await readFile(join(stage.lab.workFolder, file), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}
