import { newId, RequestError } from "@tandem/protocol";
import { thisHost, type SessionRow, type WorkerRow } from "@tandem/storage";
import { expect, onTestFinished, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { HttpPeers } from "./http-peers.ts";

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
  const peers = new HttpPeers({ list: async () => [...rows] }, self);
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
  const peers = new HttpPeers({ list: () => Promise.reject(away) }, self);
  await expect(peers.refresh()).rejects.toThrow("The database is away.");
  expect([...(await peers.contested([ANYWHERE, HERE], "default"))]).toEqual([ANYWHERE.id, HERE.id]);
});

test("the former holder of a lease is asked, whether it has a database or not, and answers when its process has ended", async () => {
  const session = newId("session");
  const taken: string[] = [];
  const end = Promise.withResolvers<void>();
  const server = await startTestServer({
    engine: new MemoryEngine().engine,
    check: () => Promise.reject(away),
    endTaken: async (asked) => {
      await end.promise;
      taken.push(asked);
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const rows = [
    worker({ holder: "former", address: server.url, alive: false }),
    worker({ holder: "dead", address: null }),
  ];
  const peers = new HttpPeers({ list: async () => rows }, self);
  const asked = peers.ended("former", session).then(() => void taken.push("told"));
  await peers.ended("dead", session);
  await peers.ended("unknown", session);
  expect(taken).toEqual([]);
  end.resolve();
  await asked;
  expect(taken).toEqual([session, "told"]);
});

test("a former holder that does not answer delays a takeover by a bounded time only", async () => {
  const server = await startTestServer({ engine: new MemoryEngine().engine, endTaken: () => new Promise(() => {}) });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const peers = new HttpPeers({ list: async () => [worker({ holder: "former", address: server.url })] }, self);
  await expect(peers.ended("former", newId("session"))).resolves.toBeUndefined();
  const lost = new HttpPeers({ list: () => Promise.reject(away) }, self);
  await expect(lost.ended("former", newId("session"))).resolves.toBeUndefined();
});
