import {
  methods,
  type AgentContext,
  type ClientCapabilities,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@tandem/protocol";
import type { ClientAbilities } from "./client-abilities.ts";
import { configOptions } from "./config-options.ts";
import type { PermissionQuestion, QuestionForm } from "./questions/pending-request.ts";
import type { Child, Patch } from "./patch.ts";
import { fieldProperties } from "./questions/question-fields.ts";
import type { SessionSettings } from "./session-settings.ts";
import { callMeta, sessionUpdate, toolCallFields } from "./session-update.ts";

/** The client's side of a connection. Sends nothing that the client has not declared to understand. */
export class AcpClient {
  readonly abilities: ClientAbilities;
  readonly #client: AgentContext;
  /** Calls that the client knows, by session: the first update is `tool_call`, later ones are `tool_call_update`. */
  readonly #calls = new Map<string, Set<string>>();
  readonly #children = new Set<string>();

  constructor(client: AgentContext, { session, elicitation, subagents }: ClientCapabilities) {
    this.#client = client;
    this.abilities = {
      notices: Boolean(session?.notices),
      compaction: Boolean(session?.compaction),
      forms: Boolean(elicitation?.form),
      subagents: Boolean(subagents),
    };
  }

  /** Resolves when the updates are sent, in the order of calls; awaiting it applies the client's backpressure. */
  async update(session: string, patches: readonly Patch[]): Promise<void> {
    await Promise.all(patches.map((patch) => this.#send(session, patch)));
  }

  /** `before`: the settings that the client was sent last. */
  async settings(session: string, settings: SessionSettings, before: SessionSettings): Promise<void> {
    const { current } = settings.mode;
    if (current !== before.mode.current) {
      await this.#notify(session, { sessionUpdate: "current_mode_update", currentModeId: current });
    }
    await this.#notify(session, { sessionUpdate: "config_option_update", configOptions: configOptions(settings) });
  }

  async commands(
    session: string,
    commands: readonly { name: string; description: string; hint: string | null }[],
  ): Promise<void> {
    await this.#notify(session, {
      sessionUpdate: "available_commands_update",
      availableCommands: commands.map(({ name, description, hint }) => ({
        name,
        description,
        ...(hint !== null && { input: { hint } }),
      })),
    });
  }

  /** The id of the chosen option; undefined if none was chosen. The signal withdraws the question. */
  async ask(session: string, { call, options, child }: PermissionQuestion, signal: AbortSignal) {
    const { outcome } = await this.#client.request(
      methods.client.session.requestPermission,
      {
        sessionId: this.#place(session, child),
        toolCall: { toolCallId: call.id, ...toolCallFields(call.change), ...this.#meta(call.change.name, child) },
        options: options.map(({ id, name, kind, rule }) => ({
          optionId: id,
          name,
          kind,
          ...(rule && { _meta: { tandem: { rule } } }),
        })),
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === "selected" ? outcome.optionId : undefined;
  }

  /** The form's content; undefined if the person did not submit it. */
  async fillIn(session: string, { call, message, fields, child }: QuestionForm, signal: AbortSignal) {
    const reply = await this.#client.request(
      methods.client.elicitation.create,
      {
        mode: "form",
        sessionId: this.#place(session, child),
        toolCallId: call,
        message,
        requestedSchema: { type: "object", properties: Object.fromEntries(fields.flatMap(fieldProperties)) },
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    if (reply.action !== "accept" || !("content" in reply)) return undefined;
    return (reply.content ?? undefined) as Record<string, unknown> | undefined;
  }

  async #send(session: string, patch: Patch): Promise<void> {
    const { child } = patch;
    if (patch.type === "subagent") {
      if (!this.abilities.subagents) return;
      this.#children.add(patch.child.thread);
      const { thread: sessionId, agent } = patch.child;
      const state = patch.state === "running" ? { state: "running" as const } : { state: "idle" as const };
      await this.#notify(session, { sessionUpdate: "subagent_update", sessionId, title: agent, state });
      return;
    }
    // A client without subagents would take a subagent's messages for the session's own.
    const isApart = child !== undefined && this.#children.has(child.thread);
    if (child && !isApart && patch.type === "message") return;
    const place = isApart ? child.thread : session;
    if (patch.type === "tool_call") {
      const known = this.#calls.get(place) ?? new Set();
      this.#calls.set(place, known);
      const isNew = !known.has(patch.id);
      known.add(patch.id);
      const meta = callMeta(patch.change, isApart ? undefined : child);
      const fields = { toolCallId: patch.id, ...toolCallFields(patch.change), ...meta };
      await this.#notify(
        place,
        isNew
          ? { sessionUpdate: "tool_call", ...fields, title: patch.change.title ?? patch.change.name ?? "Tool" }
          : { sessionUpdate: "tool_call_update", ...fields },
      );
      return;
    }
    const update = sessionUpdate(patch, this.abilities);
    if (update) await this.#notify(place, update);
  }

  #place(session: string, child: Child | undefined): string {
    return child && this.#children.has(child.thread) ? child.thread : session;
  }

  #meta(name: string | undefined, child: Child | undefined) {
    return callMeta({ ...(name !== undefined && { name }) }, child);
  }

  async #notify(sessionId: string, update: SessionUpdate): Promise<void> {
    try {
      await this.#client.notify(methods.client.session.update, { sessionId, update });
    } catch (cause) {
      throw new RequestError("unavailable", "The client has gone.", { cause });
    }
  }
}
