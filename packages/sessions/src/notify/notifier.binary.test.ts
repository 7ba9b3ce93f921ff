import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { untilAsked } from "../testing/until-asked.ts";
import { setEngineStage, type EngineStage } from "../testing/engine-stage.ts";
import type { NotifySettings } from "./notify-settings.ts";

let stage: EngineStage;
beforeAll(async () => {
  stage = await setEngineStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Somebody who is told: away at first, there later, at the same address. */
async function listenAt(port: number, status = 204) {
  const received: { id: string; type: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push(JSON.parse(body) as { id: string; type: string });
      response.writeHead(status, { location: "http://127.0.0.1:9/elsewhere" }).end();
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => new Promise((resolve) => server.close(resolve));
  return { received, port: (server.address() as AddressInfo).port, close };
}

const settings = (port: number): NotifySettings => ({
  webhooks: [{ url: `http://127.0.0.1:${port}/`, on: ["approval", "completed", "failed"] }],
  desktop: false,
  link: () => undefined,
});

test("an undelivered notification is delivered once after a restart", async () => {
  const { port, close } = await listenAt(0);
  await close();
  const first = await stage.open({ notify: settings(port) });
  stage.rehearsal.use([toolUse("Bash", { command: "touch told.txt" })]);
  await untilAsked(first, await first.session());
  const told = async (engine: typeof first) => (await engine.engine.notifications.list())[0];
  const refusal = { delivered: false, detail: expect.stringContaining("ECONNREFUSED") as string };
  await expect.poll(() => told(first)).toMatchObject({ waiting: 1, last: refusal });
  await first.stop();
  const receiver = await listenAt(port);
  const second = await stage.open({ notify: settings(port) });
  await expect.poll(() => receiver.received).toMatchObject([{ type: "approval" }]);
  await expect.poll(() => told(second)).toMatchObject({ waiting: 0, last: { delivered: true, detail: null } });
  await second.stop();
  const third = await stage.open({ notify: settings(port) });
  stage.rehearsal.use([text("Done.")]);
  await third.turn(await third.session(), "Hello.");
  await expect.poll(() => receiver.received.map(({ type }) => type)).toEqual(["approval", "completed"]);
  // A delivery that an exit aborts is repeated by the next engine.
  await expect.poll(() => third.engine.notifications.list()).toMatchObject([{ waiting: 0 }]);
  await third.stop();
  await receiver.close();
});

test("several processes with the same notification deliver it once, without warnings", async () => {
  const receiver = await listenAt(0);
  const quiet = await stage.open({ notify: { ...settings(receiver.port), webhooks: [] } });
  stage.rehearsal.use([toolUse("Bash", { command: "touch told.txt" })]);
  await untilAsked(quiet, await quiet.session());
  const warnings: string[] = [];
  const log = { warn: (_: unknown, message: string) => void warnings.push(message) };
  const engines = await Promise.all(
    Array.from({ length: inject("soak") ? 4 : 2 }, () => stage.open({ notify: settings(receiver.port), log })),
  );
  await expect.poll(() => receiver.received).toMatchObject([{ type: "approval" }]);
  // Each has processed its events by then.
  for (const engine of [...engines, quiet]) await engine.stop();
  expect([receiver.received.length, warnings]).toEqual([1, []]);
  await receiver.close();
});

test("a redirect is neither followed nor retried", async () => {
  const elsewhere = await listenAt(0, 307);
  const warnings: string[] = [];
  const engine = await stage.open({
    notify: settings(elsewhere.port),
    log: { warn: (details, message) => warnings.push(`${message}: ${JSON.stringify(details)}`) },
  });
  stage.rehearsal.use([text("Done.")]);
  await engine.turn(await engine.session(), "Hello.");
  await expect.poll(() => warnings.join("\n")).toContain("it answered 307");
  expect(elsewhere.received.filter(({ type }) => type === "completed")).toHaveLength(1);
  await engine.stop();
  await elsewhere.close();
});

test("targets are listed without secrets, and a test reports each result", async () => {
  const receiver = await listenAt(0);
  const at = `http://127.0.0.1:${receiver.port}`;
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
    { ...desktop, last: { delivered: false, detail: expect.any(String) } },
  ]);
  await engine.stop();
  await receiver.close();
});
