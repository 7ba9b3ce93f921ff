import { afterAll, beforeAll, describe } from "vitest";
import { testAccessibility } from "./testing/suites/accessibility.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage | undefined;

describe.skipIf(browserPath === undefined)("accessibility", () => {
  beforeAll(async () => {
    stage = await startPageStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());
  testAccessibility(() => stage!);
});
