import { newId, RequestError } from "@tandem/protocol";
import { thisHost, type Lease, type SessionRow, type WorkerRow } from "@tandem/storage";
import { expect, onTestFinished, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { oneRecord } from "../testing/one-record.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { SharedKey } from "../http/access/shared-key.ts";
import { HttpPeers } from "./http-peers.ts";
import { askAboutTaken, type TakenLease } from "./taken-question.ts";

type Listed = WorkerRow & { alive: boolean; silentMs: number };

const self = newId("worker");
const worker = (more: Partial<Listed>): Listed => ({
  id: newId("worker"),
  holder: "tandem up there",
  role: "worker",
  host: thisHost(),
  machine: "alpha",
  labels: {},
  tenants: null,
  roots: [],
  address: null,
  version: "1.2.3",
  schema: 1,
  maxSessions: 4,
  sessions: 0,
  draining: false,
  startedAt: new Date().toISOString(),
  seenAt: "",
  payer: null,
  alive: true,
  silentMs: 0,
  ...more,
});

/** Of the fleet's database. */
const records = oneRecord();

const peersOf = (list: () => Promise<Listed[]>) =>
  new HttpPeers({ workers: { list }, self, key: new SharedKey(records), log: { warn: () => undefined } });

/** Another worker. It has a database, or the trouble with it that an error tells. */
async function serve(trouble?: RequestError) {
  const peer = { promises: 0, address: "" };
  const server = await startTestServer({
    engine: new MemoryEngine().engine,
    check: () => (trouble ? Promise.reject(trouble) : Promise.resolve()),
    promiseNoTakeover: () => void (peer.promises += 1),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  peer.address = server.url;
  return peer;
}

const at = (place: string | null) => ({ id: newId("session"), place }) as SessionRow;
const [ANYWHERE, THERE, HERE] = [at(null), at("machine:alpha"), at("machine:here")];

async function contested(rows: readonly Listed[], tenant = "default") {
  const peers = peersOf(async () => [...rows]);
  await peers.refresh();
  const found = await peers.contested([ANYWHERE, THERE, HERE], tenant);
  return [ANYWHERE, THERE, HERE].map(({ id }) => found.has(id));
}

const away = new RequestError("unavailable", "The database is away.");
const full = new RequestError("unavailable", "The disk is full.", { detail: "disk_full" });

test.each([
  ["database is away", away],
  ["disk is full", full],
])("a worker whose %s takes over nothing, and promises that when it says so", async (_, trouble) => {
  const peer = await serve(trouble);
  expect((await fetch(`${peer.address}/readyz`)).status).toBe(503);
  expect(peer.promises).toBe(0);
  expect(await contested([worker({ address: peer.address })])).toEqual([false, false, false]);
  expect(peer.promises).toBe(1);
});

test("a worker with a database may take over the sessions that match it", async () => {
  const [able, unable] = [await serve(), await serve(away)];
  const rows = [worker({ address: able.address }), worker({ address: unable.address, machine: "here" })];
  expect(await contested(rows)).toEqual([true, true, false]);
  expect(able.promises).toBe(0);
  expect(await contested([worker({ address: able.address, tenants: ["acme"] })])).toEqual([false, false, false]);
});

test("a worker that cannot be asked may take over; servers, dead and leaving workers and this one do not", async () => {
  for (const address of [null, "http://127.0.0.1:9"]) {
    expect(await contested([worker({ address })])).toEqual([true, true, false]);
  }
  const { address } = await serve();
  const others = [{ role: "server" as const }, { alive: false }, { draining: true }, { id: self }];
  expect(await contested(others.map((more) => worker({ address, ...more })))).toEqual([false, false, false]);
});

test("as long as the others are not known, they may take over every session", async () => {
  const peers = peersOf(() => Promise.reject(away));
  await expect(peers.refresh()).rejects.toThrow("The database is away.");
  expect([...(await peers.contested([ANYWHERE, HERE], "default"))]).toEqual([ANYWHERE.id, HERE.id]);
});

/** The former holder of a lease. Its database does not answer. */
async function formerHolder(endTaken: (lease: TakenLease) => Promise<void>) {
  const server = await startTestServer({
    engine: new MemoryEngine().engine,
    check: () => new Promise(() => {}),
    records,
    endTaken,
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const taken = (): Lease => ({ session: newId("session"), token: 7 });

test("the former holder of a lease answers when its process has ended, whether it has a database or not", async () => {
  const lease = taken();
  const said: unknown[] = [];
  const end = Promise.withResolvers<void>();
  const { url } = await formerHolder(async ({ session, token }) => {
    await end.promise;
    said.push({ session, token });
  });
  const rows = [worker({ holder: "former", address: url, alive: false }), worker({ holder: "dead", address: null })];
  const peers = peersOf(async () => rows);
  const asked = peers.ended("former", lease).then(() => void said.push("told"));
  await peers.ended("dead", lease);
  await peers.ended("unknown", lease);
  expect(said).toEqual([]);
  end.resolve();
  await asked;
  expect(said).toEqual([lease, "told"]);
});

test("an unknown former holder may be any of the others", async () => {
  const lease = taken();
  const asked: string[] = [];
  const other = async (name: string, more: Partial<Listed> = {}) =>
    worker({ holder: name, address: (await formerHolder(async () => void asked.push(name))).url, ...more });
  const rows = [await other("one"), await other("two"), await other("self", { id: self })];
  await peersOf(async () => rows).ended(undefined, lease);
  expect(asked.toSorted()).toEqual(["one", "two"]);
});

test("only processes of the fleet can end a session that was taken over", async () => {
  const lease = taken();
  const ended: unknown[] = [];
  const server = await startTestServer({
    engine: new MemoryEngine().engine,
    records,
    endTaken: async (asked) => void ended.push(asked),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const path = await askAboutTaken(lease, new SharedKey(records));
  const foreign = await askAboutTaken(lease, new SharedKey(undefined));
  const forged = [
    `/readyz?taken=${lease.session}`,
    `/readyz?taken=${lease.session}&lease=7`,
    foreign,
    path.replace("lease=7", "lease=8"),
    path.replace(lease.session, newId("session")),
    path.replace(/proof=.*/, "proof="),
  ];
  for (const each of forged) expect((await fetch(`${server.url}${each}`)).status, each).toBe(204);
  expect(ended).toEqual([]);
  await fetch(`${server.url}${path}`);
  expect(ended).toEqual([lease]);
});

test("a former holder that does not answer, or cannot be found, delays a takeover by a bounded time only", async () => {
  const { url } = await formerHolder(() => new Promise(() => {}));
  const lists: (() => Promise<Listed[]>)[] = [
    async () => [worker({ holder: "former", address: url })],
    () => Promise.reject(away),
    () => new Promise(() => {}),
  ];
  for (const list of lists) await expect(peersOf(list).ended("former", taken())).resolves.toBeUndefined();
});
