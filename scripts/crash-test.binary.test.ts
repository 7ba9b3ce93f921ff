import { runCrashTest } from "@tandem/crash-test";
import { expect, test } from "vitest";
import { tandemSystem } from "./crash-test/tandem-system.ts";

test.skipIf(process.platform !== "linux")(
  "Tandem keeps its promises when a server is killed, an answer is lost and two clients answer one approval",
  async ({ signal }) => {
    await using parts = new AsyncDisposableStack();
    const report = await runCrashTest({
      name: "sqlite",
      createSystem: (stage) => tandemSystem("sqlite", stage, parts),
      faults: 3,
      only: ["kill", "lost-answer", "two-answers"],
      work: ["tool", "approval"],
      sessions: 2,
      seed: Date.now() % 1_000_000,
      signal,
    });
    expect(report.violations, `seed ${report.seed}`).toEqual([]);
    expect(report.faults).toHaveLength(3);
  },
);
