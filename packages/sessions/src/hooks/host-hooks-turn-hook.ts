import type { ModelContent } from "@tandem/claude-code";
import { type EventId, RequestError, type SessionEventBody } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import type { HostSettings } from "../host/host-settings.ts";
import { isTurnInput, type TurnInput } from "../log/outcome-prompt.ts";
import type { TurnHook, TurnControl, TurnStart } from "./turn-hook.ts";
import { HostHooks } from "./host-hooks.ts";
import type { HookSettings } from "./pin-hooks.ts";

/**
 * Runs the hooks for each message, and at the start of a session, before any model request. Their additions go to the model
 * with the message, so they stay part of the conversation in any process.
 */
export class HostHooksTurnHook implements TurnHook {
  readonly guardsMessages: boolean;
  readonly #hooks: HostHooks;
  readonly #turns: TurnControl;
  readonly #events: EventLog;
  readonly #settings: HostSettings;
  #words: string[] = [];
  /** Events of a blocked message, written at the end of its turn. */
  #unwritten: SessionEventBody[] = [];

  constructor(turns: TurnControl, events: EventLog, settings: HostSettings & HookSettings) {
    this.#turns = turns;
    this.#events = events;
    this.#settings = settings;
    this.#hooks = new HostHooks(settings.hooks ?? []);
    this.guardsMessages = this.#hooks.has("prompt");
  }

  async before({ message }: TurnStart): Promise<readonly SessionEventBody[]> {
    this.#words = [];
    if (message === null || !(this.#hooks.has("sessionStart") || this.#hooks.has("prompt"))) return [];
    const row = this.#turns.row();
    const found = (await this.#events.find(row.id, message))?.event;
    if (!found || !isTurnInput(found)) return [];
    const isFirst = row.claudeSession === undefined;
    const said = [
      ...(isFirst ? await this.#ask("sessionStart", message, {}) : []),
      ...(await this.#ask("prompt", message, { prompt: textOf(found) })),
    ];
    return said;
  }

  /** Additions for the model. */
  words(): ModelContent[] {
    return this.#words.map((text) => ({ type: "text", text }));
  }

  async after(): Promise<readonly SessionEventBody[]> {
    return this.#unwritten.splice(0);
  }

  async #ask(
    on: "sessionStart" | "prompt",
    message: EventId,
    about: Record<string, unknown>,
  ): Promise<SessionEventBody[]> {
    if (!this.#hooks.has(on)) return [];
    const { id, folder, agent } = this.#turns.row();
    const { stateFolder, hostVariables } = this.#settings;
    const question = { on, eventId: message, about: { session_id: id, folder, agent: agent.name, ...about } };
    // Each hook has its own deadline.
    const said = await this.#hooks.ask(question, {
      folder,
      stateFolder,
      hostVariables,
      signal: new AbortController().signal,
    });
    if (said.context !== undefined) this.#words.push(`<hook-context>\n${said.context}\n</hook-context>`);
    if (said.allow) return said.events;
    // A dropped message is not sent later, unlike one lost in a crash.
    this.#unwritten.push(...said.events, { type: "tandem.dropped", event_id: message, reason: said.message });
    const what = on === "prompt" ? "The message" : "The session";
    throw new RequestError("forbidden", `${what} was blocked by a hook: ${said.message}`);
  }
}

const textOf = (event: TurnInput): string =>
  event.type === "user.define_outcome"
    ? event.description
    : event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
