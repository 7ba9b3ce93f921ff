import Anthropic from "@anthropic-ai/sdk";
import { reply, slowly, text, toolUse, type Script } from "@tandem/rehearsal";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { UpProcess, sessionMachine } from "../testing/session-machine.ts";

type Machine = Awaited<ReturnType<typeof sessionMachine>>;
type SessionEvent = Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent;

/** A model that streams text or calls tools, so that a kill hits varied states. */
export const busyModel: Script = (request) => {
  const size = JSON.stringify(request.body).length % 5;
  const words = slowly(text("One word follows another. ".repeat(6)), { tokenMs: 8 });
  if (size === 0) return toolUse("Bash", { command: "echo done" });
  if (size === 1)
    return reply([text("Let me look."), toolUse("Glob", { pattern: "*" }), toolUse("Bash", { command: "echo two" })]);
  return words;
};

/** A short lease, so that the next server takes over quickly. */
export const QUICK_TAKEOVER = "sessions: { takeover: 800ms }\n";

const DEADLINE_MS = 240_000;

/** Sessions of one machine and all acknowledged messages, across server restarts. */
export class FaultRun {
  readonly #machine: Machine;
  readonly #sent = new Map<string, string[]>();
  readonly #seen = new Map<string, Set<string>>();
  #server: UpProcess | undefined;
  #client: Anthropic | undefined;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  get sessions(): string[] {
    return [...this.#sent.keys()];
  }

  get client(): Anthropic {
    return this.#client!;
  }

  async up(): Promise<void> {
    this.#server = await this.#machine.upProcess();
    this.#client = new Anthropic({ baseURL: this.#server.url, apiKey: this.#server.token, maxRetries: 0 });
  }

  async createSessions(count: number): Promise<void> {
    const agent = await this.client.beta.agents.create({
      name: "busy",
      model: "claude-sonnet-5-5",
      tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
    });
    for (let i = 0; i < count; i += 1) {
      const { id } = await this.client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
      this.#sent.set(id, []);
      this.#seen.set(id, new Set());
    }
  }

  /** Sends a message and reads the stream. A message without a response is not counted. */
  async poke(session: string): Promise<void> {
    void this.#watch(session).catch(() => undefined);
    try {
      const words = `Message ${this.#sent.get(session)!.length + 1}.`;
      const { data } = await this.client.beta.sessions.events.send(session, {
        events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
      });
      this.#sent.get(session)!.push(data![0]!.id);
    } catch {
      // Killed before the response: the message may be stored or not.
    }
  }

  /** Kills the server without warning, like a power cut. */
  async kill(): Promise<void> {
    await this.#server?.stop("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  /** Waits until every session is idle and checks its log. */
  async verify(): Promise<void> {
    for (const session of this.sessions) {
      const events = await this.#settled(session);
      const ids = events.map(({ id }) => id);
      expect(new Set(ids).size, "no event is there twice").toBe(ids.length);
      const sent = this.#sent.get(session)!;
      expect(
        ids.filter((id) => sent.includes(id)),
        "every acknowledged message is there, in order",
      ).toEqual(sent);
      for (const id of this.#seen.get(session)!) expect(ids, "what a stream has shown is in the log").toContain(id);
      expect(openCalls(events), "no call is left open").toEqual([]);
    }
    // Poll: an exiting process may briefly look orphaned, and the server's own helpers exit by themselves.
    await expect.poll(() => this.#strangers(), { message: "no process of a dead server is left" }).toEqual([]);
  }

  /** Reports the exit reason if the server died without a kill. */
  async #settled(session: string): Promise<SessionEvent[]> {
    try {
      return await this.#rest(session);
    } catch (error) {
      if (this.#server?.child.exitCode === null && this.#server.child.signalCode === null) throw error;
      throw new Error(`The server ended: ${(await this.#server?.outcome)?.stderr}`, { cause: error });
    }
  }

  async #rest(session: string): Promise<SessionEvent[]> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const events: SessionEvent[] = [];
      for await (const event of this.client.beta.sessions.events.list(session, { limit: 1_000 })) events.push(event);
      const waiting = events.some((event) => "processed_at" in event && event.processed_at === null);
      const last = events.findLast(({ type }) => type.startsWith("session.status_"))?.type;
      if (!waiting && (last === "session.status_idle" || last === undefined)) return events;
      if (Date.now() > deadline)
        throw new Error(`${session} did not come to rest; last: ${JSON.stringify(events.slice(-3))}`);
      await sleep(50);
    }
  }

  async #watch(session: string): Promise<void> {
    const stream = await this.client.beta.sessions.events.stream(session);
    for await (const event of stream) if ("id" in event) this.#seen.get(session)!.add(event.id);
  }

  /** Claude Code processes in the machine's folders that are no children of the current server. */
  #strangers(): string[] {
    const folder = this.#machine.folder.path;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => cwdOf(pid)?.startsWith(folder) && pid !== this.#server?.child.pid)
      .filter((pid) => !descends(pid, this.#server?.child.pid))
      .map((pid) => `${pid} ${commandOf(pid)}`);
  }
}

function openCalls(events: readonly SessionEvent[]): string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === "agent.tool_use" || event.type === "agent.custom_tool_use") open.add(event.id);
    if (event.type === "agent.tool_result") open.delete(event.tool_use_id);
    if (event.type === "user.custom_tool_result") open.delete(event.custom_tool_use_id);
  }
  return [...open];
}

function cwdOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // The process has exited or belongs to another user.
    return undefined;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "(gone)";
  }
}

function descends(pid: number, ancestor: number | undefined): boolean {
  for (let at = pid; at > 1;) {
    if (at === ancestor) return true;
    const parent = parentOf(at);
    if (parent === undefined) return false;
    at = parent;
  }
  return false;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
