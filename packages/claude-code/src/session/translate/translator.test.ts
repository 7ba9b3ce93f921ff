import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { ModelUsage } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import type { ConversationOutput } from "../conversation.ts";
import { renderOutputs } from "../testing/render-outputs.ts";
import { readRecording, replay } from "../testing/replay.ts";

/** Streams of the real Claude Code (see recordings.extended.test.ts) and their expected events. */
const FOLDER = join(import.meta.dirname, "recordings");
const recordings = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => basename(name, ".jsonl"));

type Logged = Extract<ConversationOutput, { type: "event" }>;
const eventsOf = (outputs: readonly ConversationOutput[]): Logged[] =>
  outputs.filter((output) => output.type === "event");

describe.each(recordings)("%s", (name) => {
  const outputs = replay(readRecording(join(FOLDER, `${name}.jsonl`)));
  const events = eventsOf(outputs);

  test("produces the expected events", async () => {
    await expect(renderOutputs(outputs)).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
  });

  test("contains no unknown message", () => {
    expect(events.filter(({ event }) => event.type === "tandem.unknown")).toEqual([]);
  });

  test("gives every event a unique id", () => {
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  test("closes every call once, before the turn ends", () => {
    const open = new Map<string, Logged>();
    for (const output of outputs) {
      if (output.type === "turn_ended") {
        const inBackground = [...open.values()].filter(({ thread }) => thread !== null);
        expect([...open.values()]).toEqual(inBackground);
      }
      if (output.type !== "event") continue;
      const { event } = output;
      if (event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use") open.set(output.id, output);
      if (event.type === "agent.tool_result") expect(open.delete(event.tool_use_id)).toBe(true);
      if (event.type === "agent.mcp_tool_result") expect(open.delete(event.mcp_tool_use_id)).toBe(true);
    }
    expect([...open.values()]).toEqual([]);
  });

  test("previews are prefixes of the final text", () => {
    for (const [id, pieces] of previewsOf(outputs)) {
      // A streamed agent id keeps the value of the recording.
      const preview = pieces.replace(/\ba[0-9a-f]{16}\b/, "agent1");
      const final = events.find((output) => output.id === id)?.event;
      if (!final) continue;
      if (final.type === "agent.message") expect(final.content[0]!.text).toBe(preview);
      else if ("input" in final) expect(final.input).toMatchObject(JSON.parse(preview));
      else {
        const thinking = events.find(({ event }) => event.type === "tandem.thinking" && event.thinking_id === id);
        expect(thinking?.event).toMatchObject({ text: preview });
      }
    }
  });

  test("ends every model request once, in its thread", () => {
    const open = new Map<string, Logged>();
    for (const output of events) {
      if (output.event.type === "span.model_request_start") open.set(output.id, output);
      if (output.event.type !== "span.model_request_end") continue;
      expect(open.get(output.event.model_request_start_id)?.thread).toBe(output.thread);
      open.delete(output.event.model_request_start_id);
    }
    expect([...open.values()]).toEqual([]);
  });

  test("counts the usage that Claude Code reports", () => {
    const counted = new Map<string, ModelUsage>();
    const reported = new Map<string, ModelUsage>();
    for (const output of outputs) {
      if (output.type === "turn_ended") {
        for (const [model, { usd: _, ...usage }] of Object.entries(output.outcome.reported))
          add(reported, model, usage);
      }
      if (output.type !== "event" || output.event.type !== "span.model_request_end") continue;
      const { tandem, model_usage: usage, is_error: failed } = output.event;
      // Claude Code does not count interrupted answers.
      if (tandem.model !== undefined && !failed) add(counted, tandem.model, usage);
    }
    // A turn cut off by a crash has no report.
    if (outputs.some(({ type }) => type === "turn_ended") && name !== "killed") {
      expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(reported));
    }
  });

  test("begins and ends threads in pairs", () => {
    const running = new Set<string>();
    for (const { event } of events) {
      if (event.type === "session.thread_status_running") running.add(event.session_thread_id);
      if (event.type === "session.thread_status_idle") expect(running.delete(event.session_thread_id)).toBe(true);
    }
    expect([...running]).toEqual([]);
  });
});

function previewsOf(outputs: readonly ConversationOutput[]): Map<string, string> {
  const previews = new Map<string, string>();
  for (const output of outputs) {
    if (output.type !== "delta") continue;
    const { delta } = output;
    const piece =
      delta.type === "event_delta"
        ? delta.delta.content.text
        : delta.type === "tandem.thinking_delta"
          ? delta.text
          : delta.type === "tandem.tool_input_delta"
            ? delta.json
            : undefined;
    if (piece !== undefined && "event_id" in delta)
      previews.set(delta.event_id, (previews.get(delta.event_id) ?? "") + piece);
  }
  return previews;
}

function add(totals: Map<string, ModelUsage>, model: string, usage: ModelUsage): void {
  const before = totals.get(model);
  totals.set(model, {
    input_tokens: (before?.input_tokens ?? 0) + usage.input_tokens,
    output_tokens: (before?.output_tokens ?? 0) + usage.output_tokens,
    cache_read_input_tokens: (before?.cache_read_input_tokens ?? 0) + usage.cache_read_input_tokens,
    cache_creation_input_tokens: (before?.cache_creation_input_tokens ?? 0) + usage.cache_creation_input_tokens,
  });
}
