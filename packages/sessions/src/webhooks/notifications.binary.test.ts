import { createHash, createHmac } from "node:crypto";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { setEngineStage } from "../testing/engine-stage.ts";
import { MovableClock } from "../host/movable-clock.ts";
import { untilAsked } from "../testing/until-asked.ts";
import { listenForWebhooks } from "../testing/webhook-receiver.ts";
import type { NotifySettings } from "./webhook-settings.ts";

const stage = await setEngineStage();
afterAll(() => stage[Symbol.asyncDispose]());

const settings = (url: string): NotifySettings => ({
  webhooks: [{ url, on: ["approval", "completed", "failed"], secret: async () => "s" }],
  desktop: false,
  link: () => undefined,
});
const told = (received: readonly { body: string }[]) =>
  received.map(({ body }) => JSON.parse(body) as { type: string; id: string; tool?: string });

test("webhooks of notify keep their body and signature, and are delivered after a restart", async () => {
  const away = await listenForWebhooks();
  await away[Symbol.asyncDispose]();
  const first = await stage.open({ notify: settings(away.url) });
  stage.rehearsal.use([toolUse("Bash", { command: "touch told.txt" })]);
  await untilAsked(first, await first.session());
  const target = async (engine: typeof first) => (await engine.engine.notifications.list())[0];
  const refusal = { delivered: false, detail: expect.stringContaining("ECONNREFUSED") as string };
  await expect.poll(() => target(first)).toMatchObject({ waiting: 1, last: refusal });
  await first.stop();
  await using receiver = await listenForWebhooks(away.port);
  const clock = new MovableClock();
  const second = await stage.open({ notify: settings(away.url), clock });
  clock.advance(60_000);
  await expect.poll(() => told(receiver.received)).toMatchObject([{ type: "approval", tool: "Bash" }]);
  await expect.poll(() => target(second)).toMatchObject({ waiting: 0, last: { delivered: true, detail: null } });
  const { headers, body } = receiver.received[0]!;
  const signature = createHmac("sha256", "s")
    .update(`${String(headers["tandem-timestamp"])}.${body}`)
    .digest("hex");
  expect(headers).toMatchObject({
    "tandem-signature": `v1=${signature}`,
    "tandem-delivery": told(receiver.received)[0]!.id,
  });
  stage.rehearsal.use([text("Done.")]);
  await second.turn(await second.session(), "Hello.");
  await expect.poll(() => told(receiver.received).map(({ type }) => type)).toEqual(["approval", "completed"]);
  await second.stop();
});

test("deliveries that 0.1.0 still had to retry are made under the same id, but for those that are too old", async () => {
  await using receiver = await listenForWebhooks();
  const first = await stage.open();
  stage.rehearsal.use([text("Done.")]);
  const session = await first.session();
  const events = await first.turn(session, "Hello.");
  const end = events.find(({ event }) => event.type === "session.status_idle")!.event.id;
  const keyOf = (url: string) => createHash("sha256").update(url).digest("hex").slice(0, 16);
  const key = `${end}/${keyOf(receiver.url)}`;
  const due = (until: number) => ({
    url: receiver.url,
    notification: { type: "completed", at: new Date().toISOString(), text: "Done.", session_id: session.id },
    attempts: 3,
    next_at: Date.now() + 60_000,
    until,
  });
  const { records } = first.store;
  await records.write("notifications", [
    { type: "put", kind: "due", key, value: due(Date.now() + 3_600_000) },
    { type: "put", kind: "due", key: `sevt_old/${keyOf(receiver.url)}`, value: due(Date.now() - 1) },
    { type: "put", kind: "told", key: end, value: { at: Date.now() } },
  ]);
  await first.stop();
  const second = await stage.open({ notify: settings(receiver.url) });
  await expect.poll(() => told(receiver.received)).toMatchObject([{ type: "completed", id: key }]);
  expect(receiver.received[0]!.headers).toMatchObject({ "tandem-delivery": key });
  expect(await second.store.records.list("notifications", "due", { limit: 10 })).toEqual([]);
  const target = async () => (await second.engine.notifications.list())[0];
  await expect.poll(target).toMatchObject({ waiting: 0, last: { delivered: true } });
  await second.stop();
});

test("a redirect is neither followed nor retried, and the webhook of notify stays", async () => {
  await using receiver = await listenForWebhooks();
  receiver.answer = 307;
  const warnings: string[] = [];
  const log = {
    warn: (details: object, message: string) => void warnings.push(`${message}: ${JSON.stringify(details)}`),
  };
  const engine = await stage.open({ notify: settings(receiver.url), log });
  stage.rehearsal.use([text("Done.")]);
  await engine.turn(await engine.session(), "Hello.");
  await expect.poll(() => warnings.join("\n")).toContain("it answered 307");
  receiver.answer = 204;
  stage.rehearsal.use([text("Done.")]);
  await engine.turn(await engine.session(), "Hello.");
  await expect.poll(() => told(receiver.received).map(({ type }) => type)).toEqual(["completed", "completed"]);
  await engine.stop();
});

test("targets are listed without secrets, and a test reports each result", async () => {
  await using receiver = await listenForWebhooks();
  const at = new URL(receiver.url).origin;
  const engine = await stage.open({
    hostVariables: { PATH: "/nowhere" },
    notify: {
      webhooks: [
        { url: `${at}/services/T0/abcdefghijklmnopqrstuvwx?key=secret`, on: ["failed"], secret: async () => "s" },
      ],
      desktop: true,
      link: () => undefined,
    },
  });
  const hook = { target: `${at}/services/T0/…`, on: ["failed"], signed: true, waiting: 0 };
  const desktop = { target: "desktop", on: ["approval", "completed", "failed"], signed: false, waiting: 0 };
  expect(await engine.engine.notifications.list()).toEqual([
    { ...hook, last: null },
    { ...desktop, last: null },
  ]);
  await engine.engine.notifications.test();
  expect(await engine.engine.notifications.list()).toMatchObject([
    { ...hook, last: { delivered: true, detail: null } },
    { ...desktop, last: { delivered: false, detail: expect.any(String) as string } },
  ]);
  // They are settings of notifications, not endpoints of the API.
  expect(await engine.engine.webhooks.list()).toEqual([]);
  await engine.stop();
});
