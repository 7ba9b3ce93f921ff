import { expect, test } from "vitest";
import { testTandem } from "./crash-test/test-tandem.ts";

test.skipIf(process.platform !== "linux")(
  "Tandem keeps its promises when a server is killed, an answer is lost and two clients answer one approval",
  async ({ signal }) => {
    const report = await testTandem("sqlite", {
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
