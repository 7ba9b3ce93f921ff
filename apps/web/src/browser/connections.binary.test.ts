import { afterAll, beforeAll, describe } from "vitest";
import { testReconnect } from "./testing/suites/reconnect.ts";
import { testSecurity } from "./testing/suites/security.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

// The suites share one server, one Chromium and one window: a start of each takes seconds.
let stage: PageStage | undefined;

describe.skipIf(browserPath === undefined)("the page's connection to the server", () => {
  beforeAll(async () => {
    stage = await startPageStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());
  const shared = (): PageStage => stage!;

  describe("page security", () => {
    testSecurity(shared);
  });
  describe("reconnecting and several windows", () => {
    testReconnect(shared);
  });
});
