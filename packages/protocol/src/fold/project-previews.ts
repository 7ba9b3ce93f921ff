import type { Message, Part, PartOf } from "./message.ts";
import { partId } from "./project-content.ts";
import type { Timeline } from "./project-timeline.ts";
import type { LiveDelta } from "../events/delta.ts";
import type { LoggedEvent } from "../events/session-event.ts";

interface Preview {
  thread: string | null;
  /** One for each started content block. */
  parts: PartOf<"text" | "reasoning" | "tool">[];
}

/**
 * Incomplete events, shown over the messages of the log. They never mix with the log: when their events arrive, or cannot
 * arrive any more, the previews disappear.
 */
export class Previews {
  readonly #previews = new Map<string, Preview>();
  readonly #elapsed = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#previews.size === 0 && this.#elapsed.size === 0;
  }

  apply({ thread, delta }: LiveDelta, timeline: Timeline): void {
    switch (delta.type) {
      case "event_start": {
        const { id, type } = delta.event;
        if (type === "agent.message") this.#begin(thread, { type: "text", ...live(id), text: "" }, timeline);
        else this.#begin(thread, { type: "reasoning", ...live(id), text: "", signature: null }, timeline);
        return;
      }
      case "tandem.tool_input_start": {
        const { event_id: id, name } = delta;
        const state = { type: "pending" } as const;
        const unknown = { kind: null, input: null, permission: null, state } as const;
        return this.#begin(thread, { type: "tool", ...live(id), name, input_preview: "", ...unknown }, timeline);
      }
      case "event_delta": {
        const { content, index = 0 } = delta.delta;
        return this.#extend(delta.event_id, index, (part) =>
          part.type === "text" ? { ...part, text: part.text + content.text } : part,
        );
      }
      case "tandem.thinking_delta":
        return this.#extend(delta.event_id, 0, (part) =>
          part.type === "reasoning" ? { ...part, text: part.text + delta.text } : part,
        );
      case "tandem.tool_input_delta":
        return this.#extend(delta.event_id, 0, (part) =>
          part.type === "tool" ? { ...part, input_preview: (part.input_preview ?? "") + delta.json } : part,
        );
      case "tandem.tool_progress":
        if (timeline.find("tool", delta.event_id)?.state.type === "running") {
          this.#elapsed.set(delta.event_id, delta.elapsed_seconds);
        }
    }
  }

  /** Drops previews that an event replaces or abandons. */
  settle({ event, thread }: LoggedEvent): void {
    if (this.isEmpty) return;
    switch (event.type) {
      case "agent.thinking":
        // Its text arrives with `tandem.thinking`.
        return;
      case "tandem.thinking":
      case "tandem.thinking_redacted":
        this.#previews.delete(event.thinking_id);
        return;
      case "agent.tool_result":
        this.#elapsed.delete(event.tool_use_id);
        return;
      case "agent.mcp_tool_result":
        this.#elapsed.delete(event.mcp_tool_use_id);
        return;
      case "user.tool_result":
        this.#elapsed.delete(event.tool_use_id);
        return;
      case "user.custom_tool_result":
        this.#elapsed.delete(event.custom_tool_use_id);
        return;
      default:
        this.#previews.delete(event.id);
    }
    const ended = endOfPreviews({ event, thread });
    if (ended === "all") this.#clear();
    else if (ended) this.#drop(ended.thread);
  }

  /** The messages with the previews in them. */
  over(timeline: Timeline): Message[] {
    const messages = [...timeline.messages];
    const begun = new Map<string | null, Message>();
    for (const { thread, parts } of this.#previews.values()) {
      for (const part of parts) {
        const place = timeline.placeOf(part.id) ?? timeline.placeOfOpen(thread);
        if (place !== undefined) {
          messages[place] = withPart(messages[place]!, part);
          continue;
        }
        const message = begun.get(thread);
        if (message) message.parts.push(part);
        else begun.set(thread, previewMessage(thread, timeline.turn, part));
      }
    }
    for (const [id, elapsed_seconds] of this.#elapsed) {
      const tool = timeline.find("tool", id);
      const place = timeline.placeOf(id);
      if (tool?.state.type !== "running" || place === undefined) continue;
      messages[place] = withPart(messages[place]!, { ...tool, state: { ...tool.state, elapsed_seconds } });
    }
    messages.push(...begun.values());
    return messages;
  }

  #begin(thread: string | null, part: Preview["parts"][number], timeline: Timeline): void {
    if (!timeline.has(part.id)) this.#previews.set(part.id, { thread, parts: [part] });
  }

  /** Deltas without a start are ignored: a client that joins late sees no fragment. */
  #extend(id: string, index: number, change: (part: Preview["parts"][number]) => Preview["parts"][number]): void {
    const preview = this.#previews.get(id);
    if (!preview || index > preview.parts.length) return;
    const [first] = preview.parts;
    const before = preview.parts[index] ?? { type: "text", ...live(partId(id, index)), text: "" };
    if (index > 0 && first?.type !== "text") return;
    preview.parts[index] = change(before);
  }

  #drop(thread: string | null): void {
    for (const [id, preview] of this.#previews) if (preview.thread === thread) this.#previews.delete(id);
  }

  #clear(): void {
    this.#previews.clear();
    this.#elapsed.clear();
  }
}

/** The previews that an event ends, whether or not their own events were logged: none, one thread's, or all. */
export function endOfPreviews({
  event,
  thread,
}: Pick<LoggedEvent, "event" | "thread">): "all" | { thread: string | null } | undefined {
  switch (event.type) {
    case "span.model_request_start":
    case "span.model_request_end":
      return { thread };
    case "session.thread_status_idle":
    case "session.thread_status_terminated":
      return { thread: event.session_thread_id };
    case "session.status_idle":
      return event.stop_reason.type === "requires_action" ? undefined : "all";
    case "session.status_terminated":
    case "tandem.recovered":
      return "all";
    default:
      return undefined;
  }
}

const live = (id: string) => ({ id, at: null, preview: true }) as const;

const previewMessage = (thread: string | null, turn: string | null, part: Part): Message => ({
  id: part.id,
  role: "agent",
  thread,
  turn,
  seq: null,
  created_at: null,
  parts: [part],
});

function withPart(message: Message, part: Part): Message {
  const isThere = message.parts.some(({ id }) => id === part.id);
  const parts = isThere ? message.parts.map((old) => (old.id === part.id ? part : old)) : [...message.parts, part];
  return { ...message, parts };
}
