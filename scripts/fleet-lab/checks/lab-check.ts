import Anthropic from "@anthropic-ai/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import type { LabLinks } from "../lab-links.ts";
import type { MachineName } from "../lab-machines.ts";
import type { LabNetwork } from "../lab-network.ts";
import type { CheckModel } from "./check-model.ts";
import type { LabStage } from "../open-stage.ts";

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

/** A new session whose agent may run tools, in the environment on the shared volume. */
export async function newSession(context: CheckContext, client: Anthropic): Promise<string> {
  const agent = await client.beta.agents.create({
    name: "works",
    model: MODEL,
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
  });
  const environment = await client.beta.environments.create(context.stage.lab.volumeEnvironment);
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id })).id;
}

/** The machine on which the last tool of a session ran. */
export function machineOf(events: readonly SeenEvent[]): string {
  const results = events.filter(({ type }) => type === "agent.tool_result");
  return /ran on ([\w-]+)/.exec(JSON.stringify(results.at(-1) ?? ""))?.[1] ?? "nowhere";
}
