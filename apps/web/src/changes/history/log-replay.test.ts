import type { LoggedEvent } from "@tandem/protocol";
import { expect, test } from "vitest";
import { LogReplay, historyPoints } from "./log-replay.ts";

let count = 0;
const at = (event: Record<string, unknown>): LoggedEvent =>
  ({
    seq: (count += 1),
    thread: null,
    event: { id: `sevt_${count}`, processed_at: `2026-01-01T00:00:${String(count).padStart(2, "0")}Z`, ...event },
  }) as unknown as LoggedEvent;
const text = (words: string) => [{ type: "text", text: words }];

const log = [
  at({ type: "user.message", content: text("Go") }),
  at({ type: "tandem.checkpoint", checkpoint_id: "ckpt_1", when: "before", message_id: null }),
  at({ type: "tandem.todo", todos: [{ id: "1", content: "Do", status: "pending" }] }),
  at({ type: "agent.tool_result", content: [], tandem: { patch: { path: "/a/b.ts", kind: "update", hunks: [] } } }),
  at({ type: "span.model_request_end", model_usage: {}, tandem: { usd: 0.5 } }),
  at({ type: "agent.message", content: text("Done") }),
  at({ type: "session.usage", usage: {}, tandem: { usd: 0.75 } }),
  at({ type: "tandem.checkpoint", checkpoint_id: "ckpt_2", when: "after", message_id: null }),
];

test("replays the state at any point, forwards and backwards", () => {
  const replay = new LogReplay(log);
  expect(replay.at(2)).toMatchObject({ todos: [], usd: 0, checkpoint: "ckpt_1" });
  expect(replay.at(5)).toMatchObject({
    todos: [{ content: "Do" }],
    usd: 0.5,
    checkpoint: "ckpt_1",
    edited: ["/a/b.ts"],
  });
  expect(replay.at(99)).toMatchObject({ usd: 0.75, checkpoint: "ckpt_2", edited: [] });
  const early = replay.at(1);
  expect(early).toMatchObject({ todos: [], usd: 0, checkpoint: null });
  expect(early.messages).toHaveLength(1);
});

test("history points are the events a user would notice", () => {
  const points = historyPoints(log);
  expect(points.map(({ kind, upTo, turn }) => [kind, upTo, turn])).toEqual([
    ["said", 1, 1],
    ["called", 3, 1],
    ["called", 4, 1],
    ["answered", 6, 1],
    ["checkpoint", 8, 1],
  ]);
});
