import type { EventId, LoggedEvent, SessionEventBody, ThreadId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { closing, openCalls, waitingCalls } from "./open-turn.ts";

let seq = 0;
const event = (body: SessionEventBody, id = `sevt_${seq}`, thread: ThreadId | null = null): LoggedEvent => ({
  seq: (seq += 1),
  thread,
  event: { ...body, id: id as EventId, processed_at: "2026-11-15T00:00:00.000Z" },
});
const use = (id: string, ask = false): LoggedEvent =>
  event(
    {
      type: "agent.tool_use",
      name: "Bash",
      input: { command: "ls" },
      evaluated_permission: ask ? "ask" : "allow",
      tandem: { tool_use_id: `toolu_${id}` },
    },
    id,
  );
const result = (id: string): LoggedEvent => event({ type: "agent.tool_result", tool_use_id: id as EventId });
const custom = (id: string): LoggedEvent =>
  event({ type: "agent.custom_tool_use", name: "look", input: {}, tandem: { tool_use_id: `toolu_${id}` } }, id);

const ids = (calls: Iterable<{ use: { id: string } }>): string[] => [...calls].map((call) => call.use.id);

test("a call is open until its result, whatever follows it", () => {
  expect(ids(openCalls([use("a"), use("b"), result("a"), use("c")]).values())).toEqual(["b", "c"]);
  expect(ids(openCalls([use("a"), result("a")]).values())).toEqual([]);
});

test("calls that wait for an answer: unconfirmed ones, and custom tools without a result", () => {
  const confirmation = event({ type: "user.tool_confirmation", tool_use_id: "b", result: "allow" });
  const answer = event({ type: "user.custom_tool_result", custom_tool_use_id: "d" });
  const events = [use("a"), use("b", true), use("c", true), custom("d"), custom("e"), confirmation, answer];
  expect(ids(waitingCalls(events))).toEqual(["c", "e"]);
});

test("a call is closed only by a result of its kind on its thread", () => {
  const thread = "sthr_1" as ThreadId;
  const [call] = openCalls([
    event(
      { type: "agent.mcp_tool_use", mcp_server_name: "docs", name: "read", input: {}, tandem: { tool_use_id: "t" } },
      "m",
      thread,
    ),
  ]).values();
  expect(closing(call!, "crash", "It died.")).toEqual({
    thread,
    body: {
      type: "agent.mcp_tool_result",
      mcp_tool_use_id: "m",
      content: [{ type: "text", text: "It died." }],
      is_error: true,
      tandem: { interrupted: "crash" },
    },
  });
});
