import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { countdown, describeWait, Progress } from "./progress.ts";

function fakeStderr(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 60 }) as unknown as NodeJS.WriteStream &
    PassThrough;
  return { stream, text: () => String(stream.read() ?? "") };
}

describe("a countdown", () => {
  test.each([
    [-5, "0s"],
    [400, "1s"],
    [59_000, "59s"],
    [125_000, "2m 5s"],
    [3_600_000, "1h 0m"],
    [7_384_000, "2h 3m"],
  ])("%i ms left is %s", (milliseconds, text) => expect(countdown(milliseconds)).toBe(text));

  test("is shown with a wait", () => {
    const until = new Date(125_000);
    expect(describeWait({ reason: "quota", until, attempt: 2 }, 0)).toMatch(
      /^Quota exhausted.*: 2m 5s left \(until .*\), try 2$/,
    );
  });
});

describe("progress", () => {
  test("animates on a terminal, counts a wait down, and clears the line", async () => {
    vi.useFakeTimers();
    try {
      const { stream, text } = fakeStderr(true);
      const progress = new Progress({ stderr: stream, json: false }, "Thinking");
      vi.advanceTimersByTime(100);
      expect(text()).toContain("Thinking");
      progress.wait({ reason: "quota", until: new Date(Date.now() + 10_000), attempt: 1 });
      vi.advanceTimersByTime(100);
      expect(text()).toContain("10s left");
      vi.advanceTimersByTime(5_000);
      expect(text()).toContain("5s left");
      // After the wait the label is shown again.
      vi.advanceTimersByTime(5_100);
      text();
      vi.advanceTimersByTime(100);
      expect(text()).toContain("Thinking");
      progress[Symbol.dispose]();
      expect(text().endsWith("\r\u001b[2K")).toBe(true);
      vi.advanceTimersByTime(1_000);
      expect(text()).toBe("");
    } finally {
      vi.useRealTimers();
    }
  });

  test("without a terminal prints only waits, once each", () => {
    const { stream, text } = fakeStderr(false);
    using progress = new Progress({ stderr: stream, json: false }, "Thinking");
    progress.wait({ reason: "concurrency", attempt: 1 });
    expect(text()).toBe("");
    progress.wait({ reason: "overloaded", until: new Date(Date.now() + 60_000), attempt: 2 });
    expect(text()).toMatch(/^Service overloaded; .* left .*try 2\n$/);
  });
});
