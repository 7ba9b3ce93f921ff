import Anthropic from "@anthropic-ai/sdk";
import { always, text, type Script } from "@tandem/rehearsal";
import { setTimeout as sleep } from "node:timers/promises";
import type { UpProcess } from "../testing/session-machine.ts";
import { descendantsOf, processStats, type ProcessStats } from "../testing/process-stats.ts";

export const briefModel: Script = [always(text("Done."))];

/** Releases processes quickly, so that any remaining one is a leak. */
export const SHORT_IDLE = "sessions: { idle: 100ms }\n";

const TURN_MS = 240_000;
const REST_MS = 120_000;

export interface Sample extends ProcessStats {
  /** Number of sessions so far. */
  sessions: number;
  /** Claude Code processes during the run, and those left when all sessions are idle. */
  during: number;
  atRest: number;
}

/** Runs short sessions in sequence and samples the server after each count in `at`. */
export async function* soak(server: UpProcess, count: number, at: readonly number[]): AsyncGenerator<Sample> {
  const client = new Anthropic({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
  const pid = server.child.pid!;
  const agent = await client.beta.agents.create({ name: "brief", model: "claude-sonnet-5-5" });
  if (at.includes(0)) yield { ...processStats(pid), sessions: 0, during: 0, atRest: descendantsOf(pid).length };
  for (let sessions = 1; sessions <= count; sessions += 1) {
    await oneSession(client, agent.id);
    if (!at.includes(sessions)) continue;
    const during = descendantsOf(pid).length;
    const atRest = await rest(pid);
    yield { ...processStats(pid), sessions, during, atRest };
  }
}

async function oneSession(client: Anthropic, agent: string): Promise<void> {
  const signal = AbortSignal.timeout(TURN_MS);
  const session = await client.beta.sessions.create({ agent, environment_id: "env_local" }, { signal });
  const stream = await client.beta.sessions.events.stream(session.id, {}, { signal });
  const content = [{ type: "text" as const, text: "Say something." }];
  await client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content }] }, { signal });
  let answers = 0;
  for await (const event of stream) {
    if (event.type === "agent.message") answers += 1;
    if (event.type === "session.error") throw new Error(event.error.message);
    if (event.type === "session.status_idle") break;
  }
  if (answers !== 1) throw new Error(`${session.id} was answered ${answers} times.`);
}

/** The number of processes after all had time to exit. */
async function rest(pid: number): Promise<number> {
  const deadline = Date.now() + REST_MS;
  while (descendantsOf(pid).length > 0 && Date.now() < deadline) await sleep(20);
  return descendantsOf(pid).length;
}
