import type { Message, Part, PartOf } from "@tandem/protocol";
import { expect, test } from "vitest";
import { isSameRow, rowOfPart, Rows, rowsOfTurn } from "./rows.ts";

const message = (id: string, role: Message["role"], parts: Part[], more: Partial<Message> = {}): Message => ({
  id,
  role,
  thread: null,
  turn: "u1",
  seq: 1,
  created_at: "2026-01-01T00:00:00.000Z",
  parts,
  ...more,
});
const text = (id: string, words = "hi"): PartOf<"text"> => ({ type: "text", id, at: null, text: words });
const tool = (id: string, name: string, more: Partial<PartOf<"tool">> = {}): PartOf<"tool"> => ({
  type: "tool",
  id,
  at: null,
  kind: "builtin",
  name,
  input: {},
  permission: null,
  state: { type: "completed", started_at: null, ended_at: "2026-01-01T00:00:01.000Z", output: [] },
  ...more,
});
const step = (id: string): PartOf<"step"> => ({
  type: "step",
  id,
  at: "2026-01-01T00:00:00.000Z",
  state: "completed",
  model: "m",
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 0 },
  usd: 0.01,
  duration_ms: 2_000,
});
const kinds = (rows: readonly { type: string }[]): string[] => rows.map(({ type }) => type);
const user = message("u1", "user", [text("u1")]);

test("groups consecutive read-only calls across requests; edits stay separate", () => {
  const rows = rowsOfTurn(
    [
      user,
      message("a", "agent", [step("a"), tool("1", "Read"), tool("2", "Grep")]),
      message("b", "agent", [step("b"), tool("3", "Glob"), tool("4", "Edit"), tool("5", "Edit")]),
    ],
    false,
  );
  expect(kinds(rows)).toEqual(["user", "group", "tool", "tool"]);
  expect(rowOfPart(rows, "3")).toBe(1);
  expect(rowOfPart(rows, "missing")).toBe(-1);
});

test("a turn's time is apart from the time that it waited for a person", () => {
  const at = (minutes: number) => `2026-01-01T00:${String(minutes).padStart(2, "0")}:00.000Z`;
  const ended = (minutes: number) => ({
    state: { type: "completed" as const, started_at: null, ended_at: at(minutes), output: [] },
  });
  const footerOf = (...tools: PartOf<"tool">[]) => {
    const row = rowsOfTurn([user, message("a", "agent", [step("a"), ...tools])], true).find(
      ({ type }) => type === "footer",
    );
    return row?.type === "footer" ? row.sum : undefined;
  };
  const allowed = { type: "allowed" as const, by: "person" as const, at: at(9) };
  const approved = tool("1", "Bash", { at: at(1), permission: allowed, ...ended(10) });
  expect(footerOf(approved)).toMatchObject({ waitedMs: 8 * 60_000, activeMs: 2 * 60_000 });
  // Two calls that wait at the same time, and a question.
  const denied = { type: "denied" as const, by: "person" as const, reason: null, at: at(5) };
  const question = tool("3", "ask_user_question", { at: at(10), kind: "custom", ...ended(12) });
  expect(footerOf(approved, tool("2", "Bash", { at: at(2), permission: denied, ...ended(5) }), question)).toMatchObject(
    {
      waitedMs: 10 * 60_000,
      activeMs: 2 * 60_000,
    },
  );
  const byPolicy = { ...allowed, by: "policy" as const };
  expect(footerOf(tool("1", "Bash", { at: at(1), permission: byPolicy, ...ended(10) }))).toMatchObject({
    waitedMs: 0,
    activeMs: 10 * 60_000,
  });
});

test("a turn's cost includes its subagents, each once", () => {
  const subtask: PartOf<"subtask"> = {
    type: "subtask",
    id: "sthr_1",
    at: null,
    thread: "sthr_1",
    agent: "x",
    status: "idle",
    stop_reason: "end_turn",
    exchange: [],
    ended_at: null,
    usd: 0.2,
  };
  const turn = [user, message("a", "agent", [step("a"), subtask])];
  const costOf = (messages: Message[]) => {
    const row = rowsOfTurn(messages, true).find(({ type }) => type === "footer");
    return row?.type === "footer" ? row.sum.usd : undefined;
  };
  expect(costOf(turn)).toBeCloseTo(0.21);
  expect(costOf([...turn, message("b", "agent", [step("b")], { thread: "sthr_1" })])).toBeCloseTo(0.02);
});

test("never folds a pending call", () => {
  const asked = tool("2", "Read", { permission: { type: "asked", at: null }, state: { type: "pending" } });
  const rows = rowsOfTurn([user, message("a", "agent", [tool("1", "Read"), asked, tool("3", "Read")])], false);
  expect(kinds(rows)).toEqual(["user", "tool", "tool", "tool"]);
});

test("a subagent replaces the call that started it; a todo list replaces its update calls", () => {
  const subtask: Part = {
    type: "subtask",
    id: "thread",
    at: null,
    thread: "thread",
    agent: "helper",
    status: "running",
    stop_reason: null,
    exchange: [{ type: "sent", content: [{ type: "text", text: "Look" }] }],
    ended_at: null,
  };
  const call = tool("1", "Agent", { input: { prompt: "Look" } });
  const todo: Part = { type: "todo", id: "3", at: null, todos: [] };
  const rows = rowsOfTurn([user, message("a", "agent", [call, subtask, tool("2", "TaskCreate"), todo])], false);
  expect(kinds(rows)).toEqual(["user", "subtask", "part"]);
  expect(rows[1]).toMatchObject({ call });
});

test("hides the file of a plan that follows below, but no other files", () => {
  const writes = (id: string, path: string): Part => tool(id, "Write", { input: { file_path: path, content: "1." } });
  const plan = tool("4", "ExitPlanMode", { input: { plan: "1.", planFilePath: "/plans/a.md" } });
  const written = ["/plans/a.md", "/notes.md", "/plans/a.md"].map((path, index) => writes(String(index), path));
  const marks = (parts: Part[]) =>
    rowsOfTurn([user, message("a", "agent", parts)], false).flatMap((row) => (row.type === "tool" ? [row.isPlan] : []));
  expect(marks([...written, plan, writes("5", "/plans/a.md")])).toEqual([true, undefined, true, undefined, undefined]);
  expect(marks(written)).toEqual([undefined, undefined, undefined]);
  const [before, after] = [written, [...written, plan]].map(
    (parts) => rowsOfTurn([user, message("a", "agent", parts)], false)[1]!,
  );
  expect(isSameRow(before!, after!)).toBe(false);
});

test("a finished turn has its totals before later rows", () => {
  const notice: Part = { type: "notice", id: "n", at: null, level: "info", about: "x", text: "later" };
  const rows = rowsOfTurn(
    [user, message("a", "agent", [step("a"), text("t")]), message("n", "session", [notice], { turn: null })],
    true,
  );
  expect(kinds(rows)).toEqual(["user", "part", "footer", "part"]);
  expect(rows[2]).toMatchObject({ sum: { requests: 1, cacheReadTokens: 90, activeMs: 2_000, usd: 0.01 } });
});

test("shows only the last of consecutive retries", () => {
  const retry = (id: string): Part => ({
    type: "retry",
    id,
    at: null,
    attempt: 1,
    max_attempts: 3,
    delay_ms: 1,
    status: 529,
    reason: "busy",
  });
  const rows = rowsOfTurn(
    [user, message("a", "agent", [step("a"), retry("r1")]), message("b", "agent", [step("b"), retry("r2")])],
    false,
  );
  expect(rows.map(({ key }) => key)).toEqual(["u1:user", "r2:retry"]);
});

test("unchanged turns keep their row objects", () => {
  const rows = new Rows();
  const first = [user, message("a", "agent", [step("a"), text("t")])];
  const next = message("u2", "user", [text("u2")], { turn: "u2" });
  const before = rows.read([...first, next, message("b", "agent", [text("x", "one")], { turn: "u2" })], true);
  const after = rows.read([...first, next, message("b", "agent", [text("x", "one two")], { turn: "u2" })], true);
  expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
  expect(after[0]).toBe(before[0]);
  expect(after[2]).toBe(before[2]);
  expect(isSameRow(before[3]!, after[3]!)).toBe(true);
  expect(isSameRow(before[4]!, after[4]!)).toBe(false);
});

test("an excerpt from further back comes before the rest with a gap, keeps its keys when the gap is filled, and no row twice", () => {
  const turns = Array.from({ length: 9 }, (_, index) => [
    message(`u${index}`, "user", [text(`t${index}`)], { turn: `u${index}` }),
    message(`a${index}`, "agent", [tool(`b${index}`, "Edit")], { turn: `u${index}` }),
  ]).flat();
  const keys = (of: readonly { key: string }[]): string[] => of.map(({ key }) => key);
  const rows = new Rows();
  // A late result of a call of the excerpt.
  const end = [message("late", "agent", [tool("b1", "Edit")], { turn: null }), ...turns.slice(14)];
  const excerpt = turns.slice(2, 6);
  const shown = keys(rows.read(end, true, excerpt));
  expect(shown).toEqual(["u1:user", "b1", "u2:user", "b2", "gap", "u7:user", "b7", "u8:user", "b8"]);
  const { keyOf } = rows;
  expect(rows.read([...end], true, excerpt).map((_, index) => rows.keyOf(index))).toEqual(shown);
  expect(rows.keyOf).toBe(keyOf);
  expect(rowOfPart(rows.read(end, true, excerpt), "b2")).toBe(3);

  const whole = turns.slice(2);
  expect(rows.read(whole, true)).toEqual(new Rows().read(whole, true));
  expect(rows.keyOf).not.toBe(keyOf);
  expect(rows.keyOf(3)).toBe("b2");
});

test("streaming into a long conversation rebuilds only its own turn, and keys change only where needed", () => {
  const turns = Array.from({ length: 50 }, (_, index) => [
    message(`u${index}`, "user", [text(`t${index}`)], { turn: `u${index}` }),
    message(`a${index}`, "agent", [text(`b${index}`)], { turn: `u${index}` }),
  ]).flat();
  const rows = new Rows();
  const first = rows.read(turns, true);
  const { keyOf } = rows;
  const grown = [...turns.slice(0, -1), message("a49", "agent", [text("b49", "hi there")], { turn: "u49" })];
  const second = rows.read(grown, true);
  expect(second.slice(0, -2).every((row, index) => row === first[index])).toBe(true);
  expect(second.at(-1)).toMatchObject({ part: { text: "hi there" } });
  expect(rows.keyOf).toBe(keyOf);
  expect(rows.read(grown, true)).toBe(second);

  const more = [...grown, message("u50", "user", [text("t50")], { turn: "u50" })];
  expect(rows.read(more, true).map(({ key }) => key)).toEqual(new Rows().read(more, true).map(({ key }) => key));
  expect(rows.keyOf).not.toBe(keyOf);
  expect(rows.keyOf(0)).toBe("u0:user");
  // Prepending earlier messages and removing a turn gives the same rows as a fresh build.
  const earlier = [message("u-1", "user", [text("t-1")], { turn: "u-1" }), ...more];
  for (const [messages, isRunning] of [
    [earlier, true],
    [earlier, false],
    [turns.slice(0, 7), false],
  ] as const) {
    expect(rows.read(messages, isRunning)).toEqual(new Rows().read(messages, isRunning));
  }
});

test("a stopped turn ends with the stop; withdrawn messages are hidden", () => {
  const interruption: Part = { type: "interruption", id: "i1", at: null };
  const rows = rowsOfTurn(
    [
      message("u1", "user", [text("u1")]),
      message("q1", "user", [text("q1")], { turn: null, delivery: { type: "dropped", reason: "taken back by Ada" } }),
      message("i1", "user", [interruption]),
      message("a1", "agent", [text("a1", "It begins")]),
    ],
    true,
  );
  expect(rows.map(({ key }) => key)).toEqual(["u1:user", "a1", "i1:interruption"]);
});

test("a subagent's call is shown here while pending, and in the subagent afterwards", () => {
  const asked = tool("2", "Bash", { permission: { type: "asked", at: null }, state: { type: "pending" } });
  const running = tool("2", "Bash", { state: { type: "running", started_at: null } });
  const question = tool("3", "ask_user_question", { kind: "custom", state: { type: "running", started_at: null } });
  const rowsOf = (part: PartOf<"tool">, own?: string) =>
    kinds(rowsOfTurn([user, message("a", "agent", [part], { thread: "sthr_1" })], false, own));
  expect(rowsOf(asked)).toEqual(["user", "tool"]);
  expect(rowsOf(question)).toEqual(["user", "tool"]);
  expect(rowsOf(running)).toEqual(["user"]);
  expect(rowsOf(running, "sthr_1")).toEqual(["user", "tool"]);
});

test("a workflow run is one row, which links to its agents lead to; the turn's cost includes them", () => {
  const agent = (thread: string) => ({
    thread,
    label: thread,
    phase: null,
    state: "ended" as const,
    error: null,
    started_at: null,
    ended_at: null,
    usd: 0.02,
  });
  const run: PartOf<"workflow"> = {
    type: "workflow",
    id: "wrun_1",
    at: null,
    name: "review",
    state: "completed",
    error: null,
    ended_at: null,
    phases: [],
    agents: [agent("sthr_a"), agent("sthr_b")],
  };
  const rows = rowsOfTurn([user, message("a", "agent", [step("a"), run, text("t")])], true);
  expect(kinds(rows)).toEqual(["user", "part", "part", "footer"]);
  expect(rowOfPart(rows, "sthr_b")).toBe(1);
  expect(rows.at(-1)).toMatchObject({ sum: { usd: expect.closeTo(0.05) as number } });
});
