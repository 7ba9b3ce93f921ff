import { Projection } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { diffMessages } from "./diff-messages.ts";
import { MessageView } from "./message-view.ts";
import { SessionFacts } from "./session-facts.ts";
import { recordedLog, recordings } from "../testing/recorded-log.ts";
import type { WireEvent } from "./wire-event.ts";
import type { WireMessage } from "./wire-message.ts";

const SESSION = { id: "sesn_1", folder: "/project", created_at: "2026-11-18T08:00:00Z" };

/** Replays a recording as a client sees it: by events only. */
function replay(name: string): {
  shown: Map<string, WireMessage>;
  view: Map<string, WireMessage>;
  events: WireEvent[];
} {
  const projection = new Projection();
  const facts = new SessionFacts({ mode: "default", model: "claude-sonnet-5-5" });
  const messages = new MessageView(SESSION, facts);
  const shown = new Map<string, WireMessage>();
  const all: WireEvent[] = [];
  let view = new Map<string, WireMessage>();
  for (const item of recordedLog(name)) {
    if ("logged" in item) {
      projection.apply(item.logged);
      facts.apply(item.logged);
    } else {
      projection.applyDelta(item.delta);
    }
    const next = messages.of(projection.messages);
    const events = diffMessages(view, next, 0);
    view = next;
    all.push(...events);
    for (const event of events) applyEvent(shown, event);
  }
  return { shown, view, events: all };
}

/** As opencode's clients do it. */
function applyEvent(shown: Map<string, WireMessage>, { type, properties }: WireEvent): void {
  const parts = (message: string) => shown.get(message)!.parts;
  switch (type) {
    case "message.updated":
      shown.set(properties.info.id, { info: properties.info, parts: shown.get(properties.info.id)?.parts ?? [] });
      return;
    case "message.removed":
      shown.delete(properties.messageID);
      return;
    case "message.part.updated": {
      const { part } = properties;
      const list = parts(part.messageID);
      const place = list.findIndex(({ id }) => id >= part.id);
      if (place < 0) list.push(structuredClone(part));
      else list.splice(place, list[place]!.id === part.id ? 1 : 0, structuredClone(part));
      return;
    }
    case "message.part.removed": {
      const list = parts(properties.messageID);
      list.splice(
        list.findIndex(({ id }) => id === properties.partID),
        1,
      );
      return;
    }
    case "message.part.delta": {
      const part = parts(properties.messageID).find(({ id }) => id === properties.partID);
      if (part?.type !== "text" && part?.type !== "reasoning") throw new Error("A delta of another part");
      part.text += properties.delta;
      return;
    }
    default:
  }
}

describe.each(recordings)("%s", (name) => {
  test("the events lead a client to the same messages, with every part closed", () => {
    const { shown, view } = replay(name);
    expect([...shown.values()]).toEqual([...view.values()]);
    for (const { info, parts } of view.values()) {
      expect(parts.map(({ id }) => id)).toEqual(parts.map(({ id }) => id).toSorted());
      if (info.role === "assistant") expect(info.time.completed).toBeGreaterThanOrEqual(info.time.created);
      for (const part of parts) {
        if (part.type === "tool") expect(["completed", "error"]).toContain(part.state.status);
        if (part.type === "text" || part.type === "reasoning") expect(part.time?.end).toBeDefined();
      }
    }
  });
});

const partsOf = (name: string) => [...replay(name).view.values()].flatMap(({ parts }) => parts);

test("a call has opencode's name and input, its output and a step around it", () => {
  expect(partsOf("asked-and-allowed").map(({ type }) => type)).toEqual(
    expect.arrayContaining(["text", "step-start", "tool", "step-finish"]),
  );
  expect(partsOf("asked-and-allowed").find(({ type }) => type === "tool")).toMatchObject({
    tool: "bash",
    state: { status: "completed", input: { command: "echo yes" }, output: expect.stringContaining("yes") },
  });
});

test("a changed file has its diff, and the turn a patch", () => {
  const parts = partsOf("file-changes");
  const edit = parts.find((part) => part.type === "tool" && part.tool === "edit");
  expect(edit).toMatchObject({ state: { status: "completed", metadata: { diff: expect.stringContaining("@@ -") } } });
  expect(parts.find(({ type }) => type === "patch")).toMatchObject({
    files: expect.arrayContaining([expect.any(String)]),
  });
});

test("text arrives as deltas of an open part, and is closed at its end", () => {
  const { events } = replay("text");
  const kinds = events.map(({ type }) => type);
  expect(kinds.indexOf("message.part.updated")).toBeLessThan(kinds.indexOf("message.part.delta"));
});

test("a subagent is a child session that its call names", () => {
  const messages = [...replay("subagent-foreground").view.values()];
  const child = messages.find(({ info }) => info.sessionID !== "ses_1")?.info.sessionID;
  expect(child).toMatch(/^ses_1_sthr_/);
  const call = messages.flatMap(({ parts }) => parts).find((part) => part.type === "tool" && part.tool === "task");
  expect(call).toMatchObject({ sessionID: "ses_1", state: { metadata: { sessionId: child } } });
});

test("a compaction and an interruption are visible", () => {
  expect(partsOf("compaction").some(({ type }) => type === "compaction")).toBe(true);
});
