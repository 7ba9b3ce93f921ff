import { describe, expect, it } from "vitest";
import { asks, says, idle, start, fold, partsOf } from "./testing/lines.ts";
import { timeAt, type Line } from "./testing/log.ts";

describe("notices", () => {
  const error = (type: "retrying" | "exhausted") => ({
    type: "model_overloaded_error" as const,
    message: "busy",
    retry_status: { type },
  });
  const retry = (attempt: number): Line => ({
    type: "tandem.retry",
    attempt,
    max_attempts: 10,
    delay_ms: 500,
    status: 529,
    reason: "overloaded",
  });
  const stopped = (type: "budget_reached" | "retries_exhausted"): Line => ({
    type: "session.status_idle",
    stop_reason: { type },
    stop_details: null,
  });
  const counted: Line = { type: "tandem.compaction", trigger: "auto", tokens_before: 900, tokens_after: 90 };
  const compacted: Line = { type: "agent.thread_context_compacted" };

  it.each<[string, Line[], object[]]>([
    [
      "tries in a row are one part, with what the error said",
      [{ type: "session.error", error: error("retrying") }, retry(1), retry(2)],
      [
        {
          type: "retry",
          id: "sevt_e1",
          at: timeAt(3),
          attempt: 2,
          max_attempts: 10,
          status: 529,
          reason: "overloaded",
        },
      ],
    ],
    [
      "an error that ends the turn, and why it ended",
      [{ type: "session.error", error: error("exhausted") }, stopped("retries_exhausted")],
      [
        { type: "error", error: error("exhausted") },
        { type: "stop", reason: "retries_exhausted" },
      ],
    ],
    ["a budget that is used up", [stopped("budget_reached")], [{ type: "stop", reason: "budget_reached" }]],
    [
      "a refusal with its details",
      [
        {
          type: "session.status_idle",
          stop_reason: { type: "refusal" },
          stop_details: { type: "refusal", category: "bio", explanation: "no" },
        },
      ],
      [{ type: "stop", reason: "refusal", category: "bio", explanation: "no" }],
    ],
    [
      "a compaction told by two events",
      [compacted, counted],
      [{ type: "compaction", trigger: "auto", tokens_before: 900, tokens_after: 90 }],
    ],
    ["the same in the other order", [counted, compacted], [{ type: "compaction", trigger: "auto" }]],
    [
      "two compactions with a request between them",
      [compacted, counted, start("s"), compacted, counted],
      [{ type: "compaction" }, { type: "step" }, { type: "compaction", tokens_before: 900 }],
    ],
    [
      "a model in the place of another",
      [{ type: "tandem.model_fallback", from: "opus", to: "sonnet", reason: "overloaded" }],
      [{ type: "notice", level: "warning", text: "sonnet answers instead of opus: overloaded" }],
    ],
    [
      "a turn that waits for a process",
      [{ type: "tandem.process_wait", ahead: 3 }],
      [{ type: "notice", level: "info", text: "Waiting for a free process (3 ahead)" }],
    ],
    [
      "a limit, and not its absence",
      [
        { type: "tandem.rate_limit", status: "allowed" },
        { type: "tandem.rate_limit", status: "rejected", kind: "five_hour", resets_at: "2026-11-15T05:00:00Z" },
      ],
      [{ type: "notice", text: "Rate limit (five_hour): rejected, until 2026-11-15T05:00:00Z" }],
    ],
    ["the object of a turn", [{ type: "tandem.output", value: { a: [1] } }], [{ type: "output", value: { a: [1] } }]],
    ["an interrupt", [asks("go"), { type: "user.interrupt" }], [{ type: "text" }, { type: "interruption" }]],
    ["but not one that found nothing to end", [asks("go"), idle, { type: "user.interrupt" }], [{ type: "text" }]],
    [
      "nor one for another turn",
      [asks("go"), { type: "user.interrupt", tandem: { turn_event_id: "sevt_other" } }],
      [{ type: "text" }],
    ],
  ])("%s", (_, lines, expected) => {
    const parts = partsOf(...lines);
    expect(parts).toMatchObject(expected);
    expect(parts).toHaveLength(expected.length);
  });

  it("are part of the agent's open message, else of a session message", () => {
    const notice: Line = { type: "tandem.notice", level: "info", text: "by the way" };
    const roles = fold(notice, notice, asks("go"), start("s"), notice, says("ok"), idle, notice);
    expect(roles.map(({ role, turn, parts }) => [role, turn, parts.map(({ type }) => type)])).toEqual([
      ["session", null, ["notice", "notice"]],
      ["user", "sevt_e3", ["text"]],
      ["agent", "sevt_e3", ["step", "notice", "text"]],
      ["session", null, ["notice"]],
    ]);
  });

  it("shows the latest to-do list of a message", () => {
    const todos = (status: "pending" | "completed"): Line => ({
      type: "tandem.todo",
      todos: [{ id: "1", content: "test", status }],
    });
    expect(partsOf(start("s"), todos("pending"), says("on it"), todos("completed"))).toMatchObject([
      { type: "step" },
      { type: "todo", id: "sevt_e2", todos: [{ status: "completed" }] },
      { type: "text" },
    ]);
  });
});
