import { StatusTimes, type ModelUsage, type ThreadId, systemClock } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { UsageLedger } from "./usage-ledger.ts";

const primary = "sthr_primary" as ThreadId;
const sub = "sthr_sub" as ThreadId;

const usage = (input: number, output: number): ModelUsage => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});
const request = (message: string, input: number, output: number, usd = 0.01, model = "claude-sonnet-5-5") => ({
  model_usage: usage(input, output),
  tandem: { model, message_id: message, usd },
});

describe("the usage ledger", () => {
  test("counts a request once, even if it is reported again", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, request("msg_1", 10, 5));
    ledger.add(null, request("msg_1", 10, 5));
    expect(ledger.total).toMatchObject({ input_tokens: 10, output_tokens: 5, list_cost: { amount: "1" } });
  });

  test("counts by thread and model", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, request("msg_1", 10, 5));
    ledger.add(sub, request("msg_2", 3, 1, 0.02, "claude-haiku-5-5"));
    expect(ledger.thread(sub)).toMatchObject({ input_tokens: 3, output_tokens: 1 });
    expect(ledger.note.by_model["claude-haiku-5-5"]).toMatchObject({ input_tokens: 3, usd: 0.02 });
    expect(ledger.usd).toBeCloseTo(0.03);
  });

  test("reports nothing if it agrees with Claude Code", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, request("msg_1", 10, 5));
    expect(ledger.reconcile({ "claude-sonnet-5-5": { ...usage(10, 5), usd: 0.01 } })).toBeUndefined();
    expect(ledger.usd).toBeCloseTo(0.01);
  });

  test("a request that no stream showed is counted at the turn's end, and the difference is reported", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, request("msg_1", 10, 5));
    const mismatch = ledger.reconcile({
      "claude-sonnet-5-5": { ...usage(14, 6), usd: 0.03 },
      "claude-haiku-5-5": { ...usage(2, 1), usd: 0.001 },
    });
    expect(mismatch).toEqual({
      counted: { "claude-sonnet-5-5": usage(10, 5) },
      reported: { "claude-sonnet-5-5": usage(14, 6), "claude-haiku-5-5": usage(2, 1) },
    });
    expect(ledger.total).toMatchObject({ input_tokens: 16, output_tokens: 7 });
    expect(ledger.usd).toBeCloseTo(0.031);
  });

  test("a request besides the conversation counts once, reported by Claude Code, the gateway or both", () => {
    const ledger = new UsageLedger(primary, systemClock);
    const [own, hidden, direct] = ["msg_1", "msg_2", "msg_3"].map((id) => request(id, 10, 5));
    for (const each of [own!, hidden!, direct!]) expect(ledger.addAside(each)).toBe(true);
    expect(ledger.addAside(own!)).toBe(false);
    expect(ledger.usd).toBeCloseTo(0.03);
    // The conversation shows its own later; Claude Code reports that one and another at the turn's end.
    ledger.add(sub, own!);
    expect([own, hidden, direct].map((each) => ledger.isAside(each!))).toEqual([false, true, true]);
    expect(ledger.thread(sub)).toMatchObject({ input_tokens: 10 });
    expect(ledger.reconcile({ "claude-sonnet-5-5": { ...usage(20, 10), usd: 0.02 } })).toBeUndefined();
    expect([ledger.total.input_tokens, ledger.requests]).toEqual([30, 3]);
    expect(ledger.usd).toBeCloseTo(0.03);
    ledger.add(null, direct!);
    expect(ledger.requests).toBe(3);
  });

  test("a request of unknown price is charged when Claude Code reports the turn's cost", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, { model_usage: usage(10, 5), tandem: { model: "claude-new-9", message_id: "msg_1" } });
    expect(ledger.usd).toBe(0);
    expect(ledger.reconcile({ "claude-new-9": { ...usage(10, 5), usd: 0.5 } })).toBeUndefined();
    expect(ledger.usd).toBeCloseTo(0.5);
  });

  test("a turn's difference is compared within that turn", () => {
    const ledger = new UsageLedger(primary, systemClock);
    ledger.add(null, request("msg_1", 10, 5));
    ledger.reconcile({ "claude-sonnet-5-5": { ...usage(10, 5), usd: 0.01 } });
    ledger.add(null, request("msg_2", 1, 1));
    expect(ledger.reconcile({ "claude-sonnet-5-5": { ...usage(1, 1), usd: 0.01 } })).toBeUndefined();
  });

  test("continues from the log", () => {
    const before = new UsageLedger(primary, systemClock);
    before.add(null, request("msg_1", 10, 5));
    before.add(sub, request("msg_2", 3, 1));
    const after = new UsageLedger(primary, systemClock, {
      note: before.note,
      times: new StatusTimes({ activeMs: 1_500 }),
    });
    expect(after.total).toEqual({ ...before.total, active_seconds: 1.5 });
    expect(after.thread(sub)).toEqual(before.thread(sub));
  });
});
