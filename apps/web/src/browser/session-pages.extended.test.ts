import { afterAll, beforeAll, describe } from "vitest";
import { testChanges } from "./testing/suites/changes.ts";
import { testComposer } from "./testing/suites/composer.ts";
import { testLateJoin } from "./testing/suites/late-join.ts";
import { testReports } from "./testing/suites/reports.ts";
import { testSessionLifecycle } from "./testing/suites/session-lifecycle.ts";
import { testWorkflows } from "./testing/suites/workflows.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

// The suites share one server, one Chromium and one window: a start of each takes seconds.
let stage: PageStage | undefined;

describe.skipIf(browserPath === undefined)("the pages of a session", () => {
  beforeAll(async () => {
    stage = await startPageStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());
  const shared = (): PageStage => stage!;

  describe("session lifecycle, by mouse", () => {
    testSessionLifecycle(shared);
  });
  describe("joining late", () => {
    testLateJoin(shared);
  });
  describe("changes of a session", () => {
    testChanges(shared);
  });
  describe("composer and notifications", () => {
    testComposer(shared);
  });
  describe("reports of test cases", () => {
    testReports(shared);
  });
  describe("workflows", () => {
    testWorkflows(shared);
  });
});
