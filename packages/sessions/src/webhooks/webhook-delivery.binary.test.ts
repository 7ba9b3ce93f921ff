import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { openStore, readKeyFile, SecretBox, type Store } from "@tandem/storage";
import { scratchFolder, scratchStore } from "@tandem/storage/testing/scratch-store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { listenForWebhooks, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { WebhookService } from "./webhook-service.ts";

const HOUR = 60 * 60_000;
const FIELDS = { name: "", description: "", enabled_events: ["agent.archived" as const] };

let folder: string;
let store: Store;
let clock: MovableClock;
let receiver: WebhookReceiver;
let warnings: string[];
let services: WebhookService[];
beforeEach(async () => {
  folder = await scratchFolder();
  store = await scratchStore(folder);
  clock = new MovableClock();
  receiver = await listenForWebhooks();
  warnings = [];
  services = [];
});
afterEach(async () => {
  for (const service of services) await service.stop();
  await receiver[Symbol.asyncDispose]();
});

async function open(settings: Partial<ConstructorParameters<typeof WebhookService>[1]> = {}, on = store) {
  const log = {
    warn: (details: object, message: string) => void warnings.push(`${message} ${JSON.stringify(details)}`),
  };
  const secrets = new SecretBox(() => readKeyFile(join(folder, "secrets.key")));
  const service = new WebhookService(on, { clock, log, hostVariables: {}, roots: [folder], secrets, ...settings });
  services.push(service);
  await service.start();
  return service;
}

const announce = (id = "agent_1") => store.announcements.add([{ type: "agent.archived", id }]);
const only = async (service: WebhookService, id: string) => (await service.deliveries(id, { limit: 10 }))[0];

test("a delivery has Anthropic's body and one signature per secret during a rotation", async () => {
  const service = await open();
  const { endpoint, secret } = await service.create({ ...FIELDS, url: receiver.url });
  expect(await readFile(join(folder, "tandem.db-wal"), "latin1")).not.toContain(secret);
  await announce();
  await expect.poll(() => receiver.received.length).toBe(1);
  const { headers, body } = receiver.received[0]!;
  expect(JSON.parse(body)).toEqual({
    type: "event",
    id: headers["webhook-id"],
    created_at: expect.any(String) as string,
    data: { type: "agent.archived", id: "agent_1", organization_id: "org_tandem", workspace_id: "wrkspc_default" },
  });
  const sign = (key: string, { headers: its, body: text } = receiver.received[0]!) =>
    `v1,${createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"))
      .update(`${String(its["webhook-id"])}.${String(its["webhook-timestamp"])}.${text}`)
      .digest("base64")}`;
  expect(headers["webhook-signature"]).toBe(sign(secret));

  const renewed = await service.rotate(endpoint.id);
  await announce();
  await expect.poll(() => receiver.received.length).toBe(2);
  const second = receiver.received[1]!;
  expect(second.headers["webhook-signature"]).toBe(`${sign(renewed, second)} ${sign(secret, second)}`);
  clock.advance(25 * HOUR);
  await announce();
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[2]!.headers["webhook-signature"]).toBe(sign(renewed, receiver.received[2]));

  const shown = JSON.stringify([await service.list(), await service.deliveries(endpoint.id, { limit: 10 }), warnings]);
  for (const each of [secret, renewed]) expect(shown).not.toContain(each.slice("whsec_".length));
});

test("a failed delivery is tried for a day, with the same id; then the endpoint is disabled", async () => {
  const service = await open();
  const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
  receiver.answer = 500;
  await announce();
  await expect.poll(() => only(service, endpoint.id)).toMatchObject({ state: "pending", attempts: 1, status: 500 });
  const waits: number[] = [];
  for (let attempts = 1; attempts <= 10; attempts += 1) {
    const { next_at: next } = (await only(service, endpoint.id))!;
    waits.push((Date.parse(next!) - clock.now()) / 1_000);
    clock.advance(Date.parse(next!) - clock.now() + 1_000);
    await expect.poll(() => only(service, endpoint.id)).toMatchObject({ attempts: attempts + 1 });
  }
  for (const [index, seconds] of [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800].entries()) {
    expect(waits[index]).toBeGreaterThan(seconds * 0.8 - 5);
    expect(waits[index]).toBeLessThan(seconds * 1.2 + 1);
  }
  expect(await only(service, endpoint.id)).toMatchObject({ state: "failed", attempts: 11, detail: "it answered 500" });
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  await expect.poll(() => service.get(endpoint.id)).toMatchObject({ state: "disabled", pending: 0 });
  expect((await service.get(endpoint.id)).disabled_reason).toContain("every delivery failed for a day");

  // Nothing that happens meanwhile is delivered.
  await announce("agent_2");
  receiver.answer = 204;
  const enabled = await service.update(endpoint.id, { state: "enabled" });
  expect(enabled).toMatchObject({ state: "enabled", disabled_reason: "", pending: 0 });
  await announce("agent_3");
  await expect.poll(() => receiver.received.at(-1)?.body).toContain("agent_3");
  expect(receiver.received.some(({ body }) => body.includes("agent_2"))).toBe(false);
});

test("a delivery is sent once although the database is away for a moment when it has arrived", async () => {
  let failures = 0;
  const write: Store["records"]["write"] = async (space, changes) => {
    const isSettled = changes.some((change) => change.type === "put" && change.kind === "delivery");
    if (isSettled && failures < 3) {
      failures += 1;
      throw new RequestError("unavailable", "The database cannot be used.");
    }
    return store.records.write(space, changes);
  };
  const service = await open({}, { ...store, records: { ...store.records, write } });
  const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
  await announce();
  await expect.poll(() => receiver.received.length).toBe(1);
  // The claim ends after half a minute: later, another process would send the delivery again.
  await expect
    .poll(() => {
      clock.advance(1_000);
      return only(service, endpoint.id);
    })
    .toMatchObject({ state: "delivered", attempts: 1 });
  clock.advance(HOUR);
  await announce("agent_2");
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(failures).toBe(3);
});

test("a redirect and 410 disable the endpoint at once", async () => {
  const service = await open();
  for (const status of [307, 410]) {
    receiver.answer = status;
    const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
    await announce();
    await expect.poll(() => service.get(endpoint.id)).toMatchObject({ state: "disabled" });
    expect((await service.get(endpoint.id)).disabled_reason).toBe(`Disabled: it answered ${status}.`);
    expect(await only(service, endpoint.id)).toMatchObject({ state: "failed", attempts: 1, status });
  }
  expect(receiver.received).toHaveLength(2);
});

test("a private address disables an endpoint of another tenant, also behind a name that changes", async () => {
  let asked = 0;
  const lookup = ((_name: string, _options: object, callback: (error: null, found: object[]) => void) => {
    asked += 1;
    callback(null, [{ address: "127.0.0.1", family: 4 }]);
  }) as never;
  const service = await open({ publicMcpServers: true, tenant: "acme", lookup });
  await expect(service.create({ ...FIELDS, url: receiver.url })).rejects.toThrow("expected an https URL");
  for (const url of [
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://169.254.169.254/",
    "https://hooks.example.com/",
  ]) {
    const { endpoint } = await service.create({ ...FIELDS, url });
    await announce();
    await expect.poll(() => service.get(endpoint.id)).toMatchObject({ state: "disabled" });
    expect((await service.get(endpoint.id)).disabled_reason).toContain("loopback, private or reserved address");
  }
  // The address that was checked is the one that is connected to.
  expect(asked).toBe(1);
  expect(receiver.received).toEqual([]);
});

test("an endpoint that does not answer delays no other one", async () => {
  await using slow = await listenForWebhooks();
  slow.answer = "hang";
  const service = await open();
  await service.create({ ...FIELDS, url: slow.url });
  await service.create({ ...FIELDS, url: receiver.url });
  for (let index = 0; index < 20; index += 1) await announce(`agent_${index}`);
  await expect.poll(() => receiver.received.length).toBe(20);
  expect(slow.received.length).toBeLessThanOrEqual(4);
});

test("several processes make each delivery once", async () => {
  const stores = await Promise.all([1, 2, 3].map(() => openStore(join(folder, "tandem.db"))));
  const [service] = await Promise.all(stores.map((each) => open({}, each)));
  await service!.create({ ...FIELDS, url: receiver.url });
  for (let index = 0; index < 20; index += 1) await announce(`agent_${index}`);
  for (let round = 0; round < 3; round += 1) clock.advance(11_000);
  await expect.poll(() => receiver.received.length).toBe(20);
  await Promise.all(services.map((each) => each.stop()));
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(20);
  expect([receiver.received.length, warnings]).toEqual([20, []]);
  for (const each of stores) await each[Symbol.asyncDispose]();
});

test("the next process delivers the pending events of a stopped or dead one", async () => {
  const first = await open();
  const { endpoint } = await first.create({ ...FIELDS, url: receiver.url });
  receiver.answer = "hang";
  await announce();
  await expect.poll(() => receiver.received.length).toBe(1);
  // The attempt is aborted by the exit, and does not count.
  await first.stop();
  receiver.answer = 204;
  await announce("agent_2");
  const second = await open();
  await expect.poll(() => receiver.types().length).toBe(3);
  await expect
    .poll(async () => (await second.deliveries(endpoint.id, { limit: 10 })).map(({ state }) => state))
    .toEqual(["delivered", "delivered"]);
  expect(await second.deliveries(endpoint.id, { limit: 10 })).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
});

test("a delivery of the log is sent again under its id, and a test tells the result at once", async () => {
  const service = await open();
  const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
  await announce();
  await expect.poll(() => only(service, endpoint.id)).toMatchObject({ state: "delivered" });
  const { id } = (await only(service, endpoint.id))!;
  expect(await service.resend(endpoint.id, id)).toMatchObject({ id, state: "pending" });
  await expect.poll(() => receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
  await expect.poll(() => only(service, endpoint.id)).toMatchObject({ state: "delivered" });
  await expect(service.resend(endpoint.id, "whe_none")).rejects.toMatchObject({ code: "not_found" });

  expect(await service.test(endpoint.id)).toEqual({ delivered: true, status: 204, detail: null });
  receiver.answer = 500;
  expect(await service.test(endpoint.id)).toEqual({ delivered: false, status: 500, detail: "it answered 500" });
  expect(receiver.types()).toEqual(["agent.archived", "agent.archived", "tandem.test", "tandem.test"]);
  expect(await service.get(endpoint.id)).toMatchObject({ state: "enabled", last: { delivered: false, status: 500 } });

  receiver.answer = 204;
  await service.update(endpoint.id, { state: "disabled" });
  await expect(service.resend(endpoint.id, id)).rejects.toMatchObject({ code: "conflict" });
  await service.delete(endpoint.id);
  await expect(service.get(endpoint.id)).rejects.toMatchObject({ code: "not_found" });
  const left = await Promise.all(
    ["endpoint", "wanted", "secret", "due", "delivery", "status", "success"].map((kind) =>
      store.records.list("webhooks", kind, { limit: 10 }),
    ),
  );
  expect(left.flat()).toEqual([]);
});

test("endpoints of the file are signed with its secret, and managed by the file", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const webhook = { name: "ops", url: receiver.url, events: ["agent.archived" as const], secret: async () => secret };
  const service = await open({ webhooks: [webhook] });
  const [endpoint] = await service.list();
  expect(endpoint).toMatchObject({ name: "ops", source: "config", state: "enabled" });
  await expect(service.update(endpoint!.id, { name: "other" })).rejects.toMatchObject({ code: "forbidden" });
  await expect(service.rotate(endpoint!.id)).rejects.toMatchObject({ code: "forbidden" });
  await announce();
  await expect.poll(() => receiver.received.length).toBe(1);
  await service.update(endpoint!.id, { state: "disabled" });
  await service.stop();
  // A person disabled it; a restart does not enable it.
  const again = await open({ webhooks: [webhook] });
  expect(await again.list()).toMatchObject([{ id: endpoint!.id, state: "disabled" }]);
  await again.stop();
  expect(await (await open()).list()).toEqual([]);
});

test("the log keeps a bounded number of deliveries", async () => {
  const service = await open();
  const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
  await announce();
  await expect.poll(() => only(service, endpoint.id)).toMatchObject({ state: "delivered" });
  clock.advance(8 * 24 * HOUR);
  await expect.poll(() => service.deliveries(endpoint.id, { limit: 10 })).toEqual([]);
});

test("after the clock was set back by an hour, what was due before is delivered, and retries keep their waits", async () => {
  const service = await open();
  const { endpoint } = await service.create({ ...FIELDS, url: receiver.url });
  receiver.answer = 500;
  await announce();
  await expect.poll(async () => (await only(service, endpoint.id))?.state).toBe("pending");
  const tries = receiver.received.length;
  await service.stop();
  await announce("agent_2");
  clock.step(-HOUR);
  receiver.answer = 200;
  await open();
  await expect.poll(() => receiver.received.length).toBe(tries + 2);
});
