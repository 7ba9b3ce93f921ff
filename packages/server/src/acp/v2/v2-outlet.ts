import {
  methods,
  type AgentContext,
  type ClientCapabilities,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import { RequestError } from "@tandem/protocol";
import { fieldProperties } from "../field-properties.ts";
import type { PermissionQuestion, QuestionForm } from "../inquiry.ts";
import type { ClientAbilities, Outlet } from "../outlet.ts";
import type { Patch } from "../patch.ts";
import type { SessionSettings } from "../session-settings.ts";
import { configOptions, toolCallOf, updateOf } from "./v2-update.ts";

/** A client that speaks version 2, where all understand notices and compaction, and none knows subagents yet. */
export class V2Outlet implements Outlet {
  readonly echoes = true;
  readonly abilities: ClientAbilities;
  readonly #client: AgentContext;

  constructor(client: AgentContext, { elicitation }: ClientCapabilities) {
    this.#client = client;
    this.abilities = { notices: true, compaction: true, forms: Boolean(elicitation?.form), subagents: false };
  }

  async update(session: string, patches: readonly Patch[]): Promise<void> {
    // A subagent's words, among those of the session itself, would be taken for them.
    const shown = patches.filter(({ child, type }) => !child || (type !== "message" && type !== "state"));
    const updates = shown.map(updateOf).filter((update) => update !== undefined);
    await Promise.all(updates.map((update) => this.#notify(session, update)));
  }

  async settings(session: string, settings: SessionSettings): Promise<void> {
    await this.#notify(session, { sessionUpdate: "config_option_update", configOptions: configOptions(settings) });
  }

  async commands(session: string, commands: Parameters<Outlet["commands"]>[1]): Promise<void> {
    await this.#notify(session, {
      sessionUpdate: "available_commands_update",
      availableCommands: commands.map(({ name, description, hint }) => ({
        ...{ type: "command", name, description },
        ...(hint !== null && { input: { type: "text", hint } }),
      })),
    });
  }

  async ask(session: string, { call, options, child }: PermissionQuestion, signal: AbortSignal) {
    const { change } = call;
    const { outcome } = await this.#client.request(
      methods.client.session.requestPermission,
      {
        sessionId: session,
        title: change.title ?? change.name ?? "A tool",
        subject: { type: "tool_call", toolCall: toolCallOf(call.id, change, child) },
        options: options.map(({ id, name, kind, rule }) => ({
          ...{ optionId: id, name, kind },
          ...(rule && { _meta: { tandem: { rule } } }),
        })),
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === "selected" && typeof outcome.optionId === "string" ? outcome.optionId : undefined;
  }

  async fillIn(session: string, { call, message, fields }: QuestionForm, signal: AbortSignal) {
    const properties = Object.fromEntries(fields.flatMap(fieldProperties));
    const reply = await this.#client.request(
      methods.client.elicitation.create,
      { mode: "form", sessionId: session, toolCallId: call, message, requestedSchema: { type: "object", properties } },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    if (reply.action !== "accept" || !("content" in reply)) return undefined;
    return (reply.content ?? undefined) as Record<string, unknown> | undefined;
  }

  async #notify(sessionId: string, update: SessionUpdate): Promise<void> {
    try {
      await this.#client.notify(methods.client.session.update, { sessionId, update });
    } catch (cause) {
      throw new RequestError("unavailable", "The client has gone.", { cause });
    }
  }
}
