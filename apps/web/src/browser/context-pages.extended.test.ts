import { afterAll, beforeAll, describe } from "vitest";
import { testContextAccessibility } from "./testing/suites/context-accessibility.ts";
import { testDatabases } from "./testing/suites/databases.ts";
import { testMetrics } from "./testing/suites/metrics.ts";
import { testProposals } from "./testing/suites/proposals.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";
import { writeMetrics } from "./testing/write-metrics.ts";

let stage: PageStage | undefined;

describe.skipIf(browserPath === undefined)("the page of a project with a context", () => {
  beforeAll(async () => {
    stage = await startPageStage({ context: true });
    await writeMetrics(stage.project);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());
  const shared = (): PageStage => stage!;

  // First: it expects open proposals.
  describe("accessibility", () => {
    testContextAccessibility(shared);
  });
  // Before the proposals: undoing one removes a page that a metric names.
  describe("metrics", () => {
    testMetrics(shared);
  });
  describe("context proposals", () => {
    testProposals(shared);
  });
  // Last: it adds tables.
  describe("databases", () => {
    testDatabases(shared);
  });
});
