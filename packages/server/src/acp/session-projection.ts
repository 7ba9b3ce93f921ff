import { QUESTION_TOOL, type EventOf, type LiveDelta, type LoggedEvent, type SessionEvent } from "@tandem/protocol";
import { noticeOf } from "./notice-of.ts";
import type { Child, Patch } from "./patch.ts";
import { callView, diffsOf, resultView, type SeenCall } from "./tool-view.ts";

type Use = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;
type Result = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;

const SUBAGENT_TOOLS: ReadonlySet<string> = new Set(["Agent", "Task"]);
/** The default if a model's context window is unknown. */
const WINDOW = 200_000;

/**
 * Translates a session's log and its live previews into patches for a client. Text that a preview has shown is not sent
 * again with its event; text that a preview lost is sent then.
 */
export class SessionProjection {
  readonly #folder: string;
  /** Text already shown of messages and thoughts in progress. */
  readonly #shown = new Map<string, string>();
  /** Calls without a result. */
  readonly #open = new Map<string, SeenCall & { child?: Child }>();
  readonly #children = new Map<string, Child>();
  /** Calls that start a subagent whose thread is not known yet, oldest first. */
  #calling: { id: string; agent: unknown }[] = [];
  #used = 0;
  #model: string | undefined;
  readonly #windowOf: (model: string) => number | undefined;
  #usd = 0;

  /** `windowOf`: size of a model's context window in tokens, if known. */
  constructor(folder: string, windowOf: (model: string) => number | undefined) {
    this.#folder = folder;
    this.#windowOf = windowOf;
  }

  event({ thread, event }: LoggedEvent): Patch[] {
    const child = thread === null ? undefined : this.#child(thread);
    const patches = this.#patches(event, child);
    return child ? patches.map((patch) => ({ child, ...patch })) : patches;
  }

  delta({ thread, delta }: LiveDelta): Patch[] {
    const child = thread === null ? undefined : this.#child(thread);
    const mark = child && { child };
    switch (delta.type) {
      case "event_delta":
        return this.#write("agent", delta.event_id, delta.delta.content.text, mark);
      case "tandem.thinking_delta":
        return this.#write("thought", delta.event_id, delta.text, mark);
      case "tandem.tool_input_start": {
        const { event_id: id, name } = delta;
        if (this.#open.has(id)) return [];
        this.#open.set(id, { name, input: {}, ...mark });
        return [{ type: "tool_call", id, change: { name, title: name, status: "pending" }, ...mark }];
      }
      case "tandem.tool_progress":
        if (!this.#open.has(delta.event_id)) return [];
        return [
          {
            type: "tool_call",
            id: delta.event_id,
            ...mark,
            change: { status: "in_progress", elapsed: delta.elapsed_seconds },
          },
        ];
      default:
        return [];
    }
  }

  /** Closes open calls and messages when a turn ends. */
  close(): Patch[] {
    const open = [...this.#open];
    this.#open.clear();
    return open.map(([id, { child }]) => ({
      type: "tool_call",
      id,
      change: { status: "failed", reason: "interrupted" },
      ...(child && { child }),
    }));
  }

  #patches(event: SessionEvent, child: Child | undefined): Patch[] {
    switch (event.type) {
      case "user.message":
        return event.content.flatMap((block): Patch[] => {
          if (block.type === "text") return [{ type: "message", role: "user", id: event.id, piece: block }];
          if (block.type === "image" && block.source.type === "base64") {
            const piece = { type: "image" as const, data: block.source.data, mimeType: block.source.media_type };
            return [{ type: "message", role: "user", id: event.id, piece }];
          }
          const title = block.type === "document" ? block.title : undefined;
          const piece = { type: "text" as const, text: `[${title ?? block.type}]` };
          return [{ type: "message", role: "user", id: event.id, piece }];
        });
      case "user.define_outcome": {
        const piece = { type: "text" as const, text: `Outcome: ${event.description}` };
        return [{ type: "message", role: "user", id: event.id, piece }];
      }
      case "agent.message":
        return this.#complete("agent", event.id, event.content.map(({ text }) => text).join(""));
      case "tandem.thinking":
        return this.#complete("thought", event.thinking_id, event.text);
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        return this.#use(event, child);
      case "agent.tool_result":
        return this.#result(event.tool_use_id, event);
      case "agent.mcp_tool_result":
        return this.#result(event.mcp_tool_use_id, event);
      case "user.custom_tool_result":
        return this.#result(event.custom_tool_use_id, event);
      case "tandem.tool_state":
        return this.#open.has(event.event_id) ? stateChange(event) : [];
      case "tandem.todo":
        if (child) return [];
        return [{ type: "plan", entries: event.todos.map(({ content, status }) => ({ content, status })) }];
      case "session.thread_created":
        return this.#begin(event);
      case "session.thread_status_running":
      case "session.thread_status_idle":
      case "session.thread_status_terminated": {
        const known = this.#children.get(event.session_thread_id);
        if (!known) return [];
        const state = event.type === "session.thread_status_running" ? "running" : "idle";
        return [{ type: "subagent", child: known, state }];
      }
      case "tandem.init":
        if (!child) this.#model = event.model;
        return [];
      case "span.model_request_end": {
        if (child || event.is_error) return [];
        const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = event.model_usage;
        const { model } = event.tandem;
        // A suffix such as `[1m]` is not part of the model's name.
        if (model !== undefined && model !== this.#model?.replace(/\[\w+\]$/, "")) this.#model = model;
        this.#used = input_tokens + output_tokens + cache_read_input_tokens + cache_creation_input_tokens;
        return this.#usage();
      }
      case "session.usage":
        this.#usd = event.tandem?.usd ?? this.#usd;
        return this.#usage();
      case "tandem.compaction": {
        const { tokens_before: tokensBefore, tokens_after: tokensAfter } = event;
        if (child) return [];
        this.#used = tokensAfter ?? this.#used;
        return [
          { type: "compaction", id: event.id, tokensBefore, ...(tokensAfter !== undefined && { tokensAfter }) },
          ...this.#usage(),
        ];
      }
      case "session.updated":
        return event.title === undefined ? [] : [{ type: "info", title: event.title, at: event.processed_at }];
      case "session.status_idle":
        return event.stop_reason.type === "requires_action" ? [] : this.close();
      default: {
        const notice = noticeOf(event);
        return notice ? [notice] : [];
      }
    }
  }

  #write(role: "agent" | "thought", id: string, text: string, mark: { child: Child } | undefined): Patch[] {
    if (text === "") return [];
    this.#shown.set(id, (this.#shown.get(id) ?? "") + text);
    return [{ type: "message", role, id, piece: { type: "text", text }, ...mark }];
  }

  #complete(role: "agent" | "thought", id: string, whole: string): Patch[] {
    const shown = this.#shown.get(id) ?? "";
    this.#shown.delete(id);
    const text = whole.startsWith(shown) ? whole.slice(shown.length) : whole;
    return text === "" ? [] : [{ type: "message", role, id, piece: { type: "text", text } }];
  }

  #use(event: Use, child: Child | undefined): Patch[] {
    const { id, name, input } = event;
    const server = event.type === "agent.mcp_tool_use" ? event.mcp_server_name : undefined;
    const call: SeenCall = { name, input, ...(server !== undefined && { server }) };
    this.#open.set(id, { ...call, ...(child && { child }) });
    if (SUBAGENT_TOOLS.has(name)) this.#calling.push({ id, agent: input["subagent_type"] });
    const { approval } = event.tandem;
    const view = callView(call, this.#folder);
    const diffs = approval?.diff ? diffsOf(approval.diff, this.#folder) : [];
    const plan = approval?.plan === undefined ? [] : [{ type: "text" as const, text: approval.plan }];
    const shown = [...plan, ...diffs];
    const waits = event.type !== "agent.custom_tool_use" && event.evaluated_permission !== "allow";
    const isAsked = waits || name === QUESTION_TOOL;
    return [
      { type: "tool_call", id, change: { ...view, status: "pending", ...(shown.length > 0 && { content: shown }) } },
      ...(isAsked ? [] : [{ type: "tool_call" as const, id, change: { status: "in_progress" as const } }]),
    ];
  }

  #result(id: string, { content, is_error: isError, tandem }: Result): Patch[] {
    const call = this.#open.get(id);
    this.#open.delete(id);
    this.#calling = this.#calling.filter((calling) => calling.id !== id);
    const reason = tandem && "interrupted" in tandem ? tandem.interrupted : undefined;
    const patch = tandem && "patch" in tandem ? tandem.patch : undefined;
    const change = resultView(
      call,
      { isError: Boolean(isError) || reason !== undefined, ...(content && { content }), ...(patch && { patch }) },
      this.#folder,
    );
    const mark = call?.child && { child: call.child };
    return [{ type: "tool_call", id, change: { ...change, ...(reason && { reason }) }, ...mark }];
  }

  #begin({ session_thread_id: thread, agent_name: agent }: EventOf<"session.thread_created">): Patch[] {
    const calling = this.#calling.find((call) => call.agent === agent) ?? this.#calling[0];
    this.#calling = this.#calling.filter((call) => call !== calling);
    const child: Child = { thread, agent, call: calling?.id };
    this.#children.set(thread, child);
    return [{ type: "subagent", child, state: "running" }];
  }

  #child(thread: string): Child {
    const known = this.#children.get(thread);
    if (known) return known;
    const child: Child = { thread, agent: null, call: undefined };
    this.#children.set(thread, child);
    return child;
  }

  #usage(): Patch[] {
    const size = (this.#model === undefined ? undefined : this.#windowOf(this.#model)) ?? WINDOW;
    // Round to a millionth: sums of floats are imprecise.
    return [{ type: "usage", used: this.#used, size, usd: Math.round(this.#usd * 1e6) / 1e6 }];
  }
}

/** A call that may have run is shown as failed, with the state that the protocol has no field for. */
function stateChange({ event_id: id, state }: EventOf<"tandem.tool_state">): Patch[] {
  switch (state) {
    case "running":
      return [{ type: "tool_call", id, change: { status: "in_progress" } }];
    case "unknown":
    case "interrupted":
    case "expired":
      return [{ type: "tool_call", id, change: { status: "failed", reason: state } }];
    default:
      return [];
  }
}
