import { afterAll, beforeAll, describe } from "vitest";
import { testApprovals } from "./testing/suites/approvals.ts";
import { testChanges } from "./testing/suites/changes.ts";
import { testComposer } from "./testing/suites/composer.ts";
import { testKeyboard } from "./testing/suites/keyboard.ts";
import { testLateJoin } from "./testing/suites/late-join.ts";
import { testReconnect } from "./testing/suites/reconnect.ts";
import { testSchedules } from "./testing/suites/schedules.ts";
import { testSecurity } from "./testing/suites/security.ts";
import { testSessionLifecycle } from "./testing/suites/session-lifecycle.ts";
import { testSettings } from "./testing/suites/settings.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./testing/webhook-receiver.ts";

// The suites share one server, one Chromium and one window: a start of each takes seconds.
let stage: PageStage | undefined;
let hook: WebhookReceiver | undefined;

describe.skipIf(browserPath === undefined)("the page", () => {
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
  describe("keyboard only", () => {
    testKeyboard(shared);
  });
  describe("approvals", () => {
    testApprovals(shared);
  });
  describe("page security", () => {
    testSecurity(shared);
  });
  describe("reconnecting and several windows", () => {
    testReconnect(shared);
  });
});
