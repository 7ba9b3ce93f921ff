import { APIError, type Anthropic } from "@anthropic-ai/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { answerTo, orderOf, type Kind } from "./chaos-model.ts";
import { follow, type AnyServer, type Follower, type Seen } from "./follow.ts";

export interface ChaosSettings {
  agents: Record<Kind, string>;
  environment: string;
  anyServer: AnyServer;
  /** The longest wait of a client. */
  deadline: number;
  /** Resolves when the client of session `number` may answer its calls. */
  mayAnswer?: (number: number) => Promise<void> | undefined;
}

const AGAIN_MS = 150;

/** One session from a client that knows several servers: sent and acknowledged messages, and streamed events. */
export class ChaosSession {
  readonly name: string;
  readonly kind: Kind;
  readonly orders: { key: string; id: string }[] = [];
  readonly problems: string[] = [];
  id: string | undefined;
  follower: Follower | undefined;
  readonly #number: number;
  readonly #settings: ChaosSettings;
  readonly #answered = new Set<string>();

  constructor(number: number, kind: Kind, settings: ChaosSettings) {
    this.name = `s${number}`;
    this.#number = number;
    this.kind = kind;
    this.#settings = settings;
  }

  /** Creates the session, sends its messages in order, answers approvals, and ends. */
  async run(messages: number): Promise<void> {
    try {
      this.id = await this.#create();
      const way = this.#number % 2 === 0 ? "frames" : "sdk";
      this.follower = follow(way, this.id, this.#settings.anyServer);
      for (let number = 1; number <= messages; number += 1) {
        const key = `${this.name}-m${number}`;
        const sent = await this.#say(orderOf(key, this.kind));
        this.orders.push({ key, id: sent });
        await this.#rest(sent);
      }
    } catch (error) {
      this.problems.push(
        `${this.name} ${this.id ?? "(not made)"}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** After a request without a response, checks whether it took effect before retrying. */
  async #create(): Promise<string> {
    return this.#persist("it could not be made", async (client) => {
      for await (const { id, title } of client.beta.sessions.list({ limit: 1_000 })) if (title === this.name) return id;
      const agent = this.#settings.agents[this.kind];
      const made = await client.beta.sessions.create({
        agent,
        environment_id: this.#settings.environment,
        title: this.name,
      });
      return made.id;
    });
  }

  async #say(text: string): Promise<string> {
    return this.#persist("a message was not taken", async (client) => {
      const { events } = client.beta.sessions;
      for await (const event of events.list(this.id!, { types: ["user.message"], limit: 1_000 })) {
        if (event.type === "user.message" && JSON.stringify(event.content).includes(text)) return event.id;
      }
      const { data } = await events.send(this.id!, {
        events: [{ type: "user.message", content: [{ type: "text", text }] }],
      });
      return data![0]!.id;
    });
  }

  /** Waits until the stream shows the end of this message's turn. */
  async #rest(message: string): Promise<void> {
    for (;;) {
      const seen = this.follower!.seen;
      const begun = seen.findIndex(({ id }) => id === message);
      const after = begun < 0 ? [] : seen.slice(begun);
      const status = after.findLast(({ type }) => type.startsWith("session.status_"));
      const waitsFor = status?.stop_reason?.type === "requires_action" ? (status.stop_reason.event_ids ?? []) : [];
      if (status?.type === "session.status_terminated") throw new Error("it was terminated");
      if (status?.type === "session.status_idle" && waitsFor.length === 0) return;
      const open = waitsFor.filter((id) => !this.#answered.has(id));
      if (open.length > 0) await this.#settings.mayAnswer?.(this.#number);
      for (const id of open) await this.#answer(id, seen);
      if (open.length > 0) continue;
      const left = this.#settings.deadline - Date.now();
      if (left <= 0) {
        throw new Error(
          `its message ${message} got no end; the stream's last: ${seen
            .slice(-3)
            .map(({ type }) => type)
            .join(", ")}`,
        );
      }
      await this.follower!.changed(Math.min(left, 1_000));
    }
  }

  async #answer(id: string, seen: readonly Seen[]): Promise<void> {
    const call = seen.find((event) => event.id === id);
    await this.#persist("an answer was not taken", async (client) => {
      const answer =
        call?.type === "agent.custom_tool_use"
          ? {
              type: "user.custom_tool_result" as const,
              custom_tool_use_id: id,
              content: [{ type: "text" as const, text: `Found ${answerTo(this.name)}` }],
            }
          : { type: "user.tool_confirmation" as const, tool_use_id: id, result: "allow" as const };
      await client.beta.sessions.events.send(this.id!, { events: [answer] }).catch((error: unknown) => {
        // It was stored without a response, or the turn was interrupted and asks again.
        if (error instanceof APIError && (error.status === 400 || error.status === 409)) return;
        throw error;
      });
    });
    this.#answered.add(id);
  }

  async #persist<T>(what: string, attempt: (client: Anthropic) => Promise<T>): Promise<T> {
    let last: unknown;
    while (Date.now() < this.#settings.deadline) {
      try {
        return await attempt(await this.#settings.anyServer());
      } catch (error) {
        last = error;
        if (error instanceof APIError && error.status !== undefined && !isPassing(error.status)) throw error;
        await sleep(AGAIN_MS);
      }
    }
    throw new Error(`${what}: ${String(last)}`);
  }
}

/** Errors that a client retries at another server: unreachable, overloaded, or a lease that is about to change. */
const isPassing = (status: number): boolean => status >= 500 || status === 409 || status === 429;
