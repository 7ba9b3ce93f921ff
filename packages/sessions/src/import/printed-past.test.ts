import { systemClock, type SessionEvent } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import type { PrintForm } from "@tandem/claude-code";
import { MovableClock } from "../host/movable-clock.ts";
import { PrintedPast } from "./printed-past.ts";

/** The events of the lines, without ids, times and usage. */
function convert(lines: readonly (object | string)[], form?: PrintForm) {
  const past = new PrintedPast(systemClock, { form });
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  const placed = texts.flatMap((text) => past.line(text));
  const { events, isWhole } = past.end();
  const all = [...placed, ...events].map(({ event }) => event);
  return { isWhole, all, told: all.filter(({ type }) => type !== "session.usage").map(plain) };
}

const plain = ({ id: _id, processed_at: _at, ...event }: SessionEvent): object => event;
const say = (text: string) => ({ type: "assistant", message: { content: [{ type: "text", text }] } });
const result = (more: object = {}) => ({
  type: "result",
  subtype: "success",
  is_error: false,
  result: "Done.",
  ...more,
});
const running = { type: "session.status_running" };
const idle = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
const message = (text: string) => ({ type: "agent.message", content: [{ type: "text", text }] });

describe("output of claude --print", () => {
  it("as text is an answer", () => {
    const { told, isWhole } = convert(["The first line,", "", "and the third."]);
    expect(told).toEqual([running, message("The first line,\n\nand the third."), idle]);
    expect(isWhole).toBe(true);
  });

  it("as text stays text if declared so, even if it looks like JSON", () => {
    expect(convert(['{"type":"assistant"}'], "text").told).toEqual([running, message('{"type":"assistant"}'), idle]);
  });

  it("as one object is its result, with the structured output", () => {
    expect(convert([result({ structured_output: { a: 1 } })]).told).toEqual([
      running,
      message("Done."),
      { type: "tandem.output", value: { a: 1 } },
      idle,
    ]);
  });

  it("as a multi-line object or a list of messages is the same", () => {
    const pretty = JSON.stringify(result(), undefined, 2).split("\n");
    expect(convert(pretty).told).toEqual([running, message("Done."), idle]);
    const list = JSON.stringify([say("Hm."), result()]);
    expect(convert([list]).told).toMatchObject([running, message("Hm."), idle]);
  });

  it("as an object without a type is a result; as a string, an answer", () => {
    expect(convert([{ result: "Yes.", session_id: "x" }]).told).toEqual([running, message("Yes."), idle]);
    expect(convert(['"Just so."']).told).toEqual([running, message("Just so."), idle]);
  });

  it("with an error ends with it", () => {
    const { told, isWhole } = convert([{ error: "It broke.", session_id: "x" }]);
    expect(told).toMatchObject([
      { type: "session.error", error: { message: expect.stringContaining("It broke.") as string } },
      { type: "session.status_idle", stop_reason: { type: "retries_exhausted" } },
    ]);
    expect(isWhole).toBe(true);
  });

  it("as a stream is converted line by line", () => {
    const past = new PrintedPast(systemClock);
    expect(past.line(JSON.stringify(say("Now.")))).toMatchObject([{ event: running }, { event: message("Now.") }]);
    expect(past.line(JSON.stringify(result())).at(-1)).toMatchObject({ event: idle });
  });

  it("without times is dated by the clock", () => {
    const past = new PrintedPast(new MovableClock(new Date("2031-03-05T12:00:00Z")));
    const dates = past.line(JSON.stringify(say("Now."))).map(({ event }) => event.processed_at?.slice(0, 16));
    expect(dates).toEqual(["2031-03-05T12:00", "2031-03-05T12:00"]);
  });

  it("in its early format has calls as separate lines without ids", () => {
    const { told } = convert([
      { type: "tool_use", tool_use: { name: "Read", input: { file: "a" } } },
      { type: "tool_result", content: "no", is_error: true },
      result(),
    ]);
    const [, use] = convert([{ type: "tool_use", tool_use: { name: "Read", input: { file: "a" } } }]).all;
    expect(use).toMatchObject({ type: "agent.tool_use", name: "Read", input: { file: "a" } });
    expect(told).toMatchObject([
      running,
      { type: "agent.tool_use", name: "Read" },
      { type: "agent.tool_result", is_error: true, content: [{ type: "text", text: "no" }] },
      idle,
    ]);
  });

  it("keeps lines that are not JSON and unknown messages", () => {
    const news = { type: "brand_new", what: 1 };
    const { told } = convert(["Warning: old.", say("Hm."), "{ half a li", news, "42", { type: "assistant" }, result()]);
    expect(told).toEqual([
      { type: "tandem.unknown", kind: "line", message: "Warning: old." },
      running,
      { ...message("Hm."), tandem: { message_id: "msg_line_2" } },
      { type: "tandem.unknown", kind: "line", message: "{ half a li" },
      { type: "tandem.unknown", kind: "brand_new", message: news },
      { type: "tandem.unknown", kind: "value", message: 42 },
      { type: "tandem.unknown", kind: "assistant", message: { type: "assistant" } },
      idle,
    ]);
  });

  it("includes repeated user messages, but not Claude Code's own", () => {
    const user = (text: string, more: object = {}) => ({
      type: "user",
      message: { role: "user", content: text },
      ...more,
    });
    const { told } = convert([user("Do it.", { isReplay: true }), user("[Request interrupted by user]"), result()]);
    expect(told.filter((event) => "content" in event)).toEqual([
      { type: "user.message", content: [{ type: "text", text: "Do it." }] },
      message("Done."),
    ]);
  });

  it("output that is truncated closes open calls and ends the turn with an error", () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } };
    const { told, isWhole } = convert([{ type: "assistant", message: { content: [call] } }]);
    expect(isWhole).toBe(false);
    expect(told).toMatchObject([
      running,
      { type: "agent.tool_use", name: "Bash" },
      { type: "agent.tool_result", is_error: true, tandem: { interrupted: "crash" } },
      { type: "session.error", error: { message: "The output of Claude Code broke off before its result." } },
      { type: "session.status_idle", stop_reason: { type: "retries_exhausted" } },
    ]);
  });

  it.each([[[]], [[""]], [['{"type":"resu']]])("that is empty or incomplete counts as truncated: %j", (lines) => {
    const { told, isWhole } = convert(lines);
    expect(isWhole).toBe(false);
    expect(told.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "retries_exhausted" } });
  });
});
