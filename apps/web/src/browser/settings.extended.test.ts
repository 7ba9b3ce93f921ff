import { afterAll, beforeAll, describe } from "vitest";
import { testSchedules } from "./testing/suites/schedules.ts";
import { testSettings } from "./testing/suites/settings.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./testing/webhook-receiver.ts";

let stage: PageStage | undefined;
let hook: WebhookReceiver | undefined;

describe.skipIf(browserPath === undefined)("settings and schedules", () => {
  beforeAll(async () => {
    hook = await startWebhookReceiver();
    stage = await startPageStage({
      settings: `notify: { webhooks: [{ url: "${hook.url}/hooks?key=secret", on: [failed] }], desktop: true }\n`,
    });
  });
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    await hook?.[Symbol.asyncDispose]();
  });
  const shared = (): PageStage => stage!;

  // Before the first session: it expects a server that has had none, and no failure yet.
  describe("settings", () => {
    testSettings(shared, () => hook!);
  });
  describe("schedules", () => {
    testSchedules(shared);
  });
});
