import { afterAll, beforeAll, describe } from "vitest";
import { testApprovals } from "./testing/suites/approvals.ts";
import { testKeyboard } from "./testing/suites/keyboard.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage | undefined;

describe.skipIf(browserPath === undefined)("approvals, by mouse and by keyboard", () => {
  beforeAll(async () => {
    stage = await startPageStage();
  });
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
  });
  const shared = (): PageStage => stage!;

  describe("keyboard only", () => {
    testKeyboard(shared);
  });
  describe("approvals", () => {
    testApprovals(shared);
  });
});
