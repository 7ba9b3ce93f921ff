import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { RunView } from "./run-view.ts";

function view(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 }) as unknown as NodeJS.WriteStream &
    PassThrough;
  return { view: new RunView({ stderr: stream, json: false }, "shop"), text: () => String(stream.read() ?? "") };
}

test("without a terminal, prints a line for each stage, wait and skipped item", () => {
  const { view: shown, text } = view(false);
  shown.show({ type: "stage_started", stage: "profile", total: 3 });
  shown.show({ type: "stage_progress", stage: "profile", done: 1, total: 3, item: "main.orders" });
  shown.show({ type: "skipped", stage: "profile", item: "main.\u001b[2Jx", code: "not_there", message: "It is gone." });
  shown.show({ type: "stage_finished", stage: "profile", counts: { tables: 1_234, failed: 0 } });
  shown.show({ type: "waiting", reason: "quota", until: new Date(Date.now() + 60_000).toISOString() });
  shown[Symbol.dispose]();
  const lines = text().split("\n");
  expect(lines[0]).toBe("shop: profile: skipped main.x: It is gone.");
  expect(lines[1]).toBe("shop: profile: 1,234 tables");
  expect(lines[2]).toContain("Quota exhausted");
  expect(lines).toHaveLength(4);
});

test("without a terminal, prints a line every few seconds within a stage", () => {
  vi.useFakeTimers();
  try {
    const { view: shown, text } = view(false);
    for (let done = 1; done <= 200; done += 1) {
      shown.show({ type: "stage_progress", stage: "profile", done, total: 200, item: `main.t${done}` });
      vi.advanceTimersByTime(100);
    }
    expect(text().trim().split("\n")).toEqual([
      "shop: profile: 51 of 200 (25 %), main.t51",
      "shop: profile: 101 of 200 (50 %), main.t101",
      "shop: profile: 151 of 200 (75 %), main.t151",
    ]);
    shown[Symbol.dispose]();
  } finally {
    vi.useRealTimers();
  }
});

test("on a terminal, shows one line with bar, item, cost and countdown", () => {
  vi.useFakeTimers();
  try {
    const { view: shown, text } = view(true);
    shown.show({ type: "stage_progress", stage: "descriptions", done: 10, total: 40, item: "main.orders" });
    shown.show({ type: "spent", requests: 2, cached: 0, usd: 0.0123 });
    vi.advanceTimersByTime(100);
    const line = text();
    expect(line).toContain("shop: descriptions █████░░░░░░░░░░░░░░░ 10/40 main.orders");
    expect(line).toContain("2 requests, $0.0123 at list price");
    shown.show({ type: "waiting", reason: "quota", until: new Date(Date.now() + 30_000).toISOString() });
    vi.advanceTimersByTime(5_000);
    expect(text()).toContain("25s left");
    shown.show({ type: "stage_finished", stage: "descriptions", counts: { described: 40 } });
    expect(text()).toBe("");
    shown[Symbol.dispose]();
  } finally {
    vi.useRealTimers();
  }
});
