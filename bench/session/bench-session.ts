import Anthropic from "@anthropic-ai/sdk";
import type { BetaManagedAgentsSessionEvent } from "@anthropic-ai/sdk/resources/beta/sessions";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { MODEL } from "../runtime/contender.ts";

const DEADLINE_MS = 120_000;

/** A client of a server. Its agent asks before it uses Bash or Write. */
export class BenchClient {
  readonly api: Anthropic;
  #agent: Promise<string> | undefined;

  constructor({ url, token }: Pick<UpProcess, "url" | "token">) {
    this.api = new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0, timeout: DEADLINE_MS });
  }

  /** Before the first measured session: the agent is not part of it. */
  agent(): Promise<string> {
    this.#agent ??= this.api.beta.agents
      .create({ name: "bench", model: MODEL, tools: [{ type: "agent_toolset_20260401" }] })
      .then(({ id }) => id);
    return this.#agent;
  }

  /** An environment of a folder, or of scratch folders. */
  async environment(folder?: string): Promise<string> {
    const place = folder === undefined ? {} : { metadata: { "tandem.path": folder } };
    return (await this.api.beta.environments.create({ name: folder ?? "scratch", ...place })).id;
  }

  async session(environment: string): Promise<BenchSession> {
    const { id } = await this.api.beta.sessions.create({ agent: await this.agent(), environment_id: environment });
    return BenchSession.follow(this.api, id);
  }
}

export class BenchSession {
  readonly #api: Anthropic;
  readonly #events: AsyncIterator<BetaManagedAgentsSessionEvent>;
  readonly id: string;

  private constructor(api: Anthropic, id: string, events: AsyncIterator<BetaManagedAgentsSessionEvent>) {
    this.#api = api;
    this.id = id;
    this.#events = events;
  }

  static async follow(api: Anthropic, id: string, hasPreviews = false): Promise<BenchSession> {
    const query = hasPreviews ? { event_deltas: ["agent.message" as const] } : {};
    const stream = await api.beta.sessions.events.stream(id, query, { signal: AbortSignal.timeout(DEADLINE_MS) });
    return new BenchSession(api, id, stream[Symbol.asyncIterator]() as AsyncIterator<BetaManagedAgentsSessionEvent>);
  }

  async say(text: string): Promise<void> {
    await this.#send({ type: "user.message", content: [{ type: "text", text }] });
  }

  async allow(call: string): Promise<void> {
    await this.#send({ type: "user.tool_confirmation", tool_use_id: call, result: "allow" });
  }

  /** The next event of that type. */
  async until<Type extends BetaManagedAgentsSessionEvent["type"]>(
    type: Type,
  ): Promise<Extract<BetaManagedAgentsSessionEvent, { type: Type }>> {
    for (;;) {
      const { value: event, done } = await this.#events.next();
      if (done) throw new Error(`The stream of ${this.id} ended before ${type}.`);
      if (event.type === type) return event as Extract<BetaManagedAgentsSessionEvent, { type: Type }>;
      if (event.type === "session.error") throw new Error(event.error.message);
    }
  }

  /** The id of the call that waits for an approval. */
  async untilAsked(): Promise<string> {
    const { stop_reason: reason } = await this.until("session.status_idle");
    if (reason.type !== "requires_action") throw new Error(`The turn ended with ${reason.type}.`);
    return reason.event_ids[0]!;
  }

  /** Ends the stream. The session keeps its process. */
  async leave(): Promise<void> {
    await this.#events.return?.();
  }

  /** Ends the stream and the session's process. */
  async end(): Promise<void> {
    await this.leave();
    await this.#api.beta.sessions.archive(this.id);
  }

  async #send(event: Anthropic.Beta.Sessions.EventSendParams["events"][number]): Promise<void> {
    await this.#api.beta.sessions.events.send(this.id, { events: [event] });
  }
}
