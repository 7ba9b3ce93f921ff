import { always, object } from "@tandem/rehearsal";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { makeShop, SHOP_CONFIG } from "../testing/scanned-shop.ts";
import type { RunningUp } from "../testing/session-machine.ts";
import { fleetMachine } from "./testing/fleet-machine.ts";

let machine: Awaited<ReturnType<typeof fleetMachine>>;
beforeAll(async () => {
  machine = await fleetMachine(SHOP_CONFIG, { hasJobModel: true });
  await makeShop({ join: (...names) => join(machine.folder, ...names) });
});
afterAll(() => machine?.[Symbol.asyncDispose]());
beforeEach(() => machine.reset([]));

/** Calls the API of a process. */
const apiOf =
  ({ url, token }: RunningUp) =>
  async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as Record<string, unknown>;
  };

/** Holds all answers of the model back until it is opened. */
function closedModel() {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  const model = { requests: 0, open };
  const nothing = object({ tables: [], joins: [] });
  machine.rehearsal.use([
    always(async (request) => {
      model.requests += 1;
      await promise;
      return typeof nothing.answer === "function" ? nothing.answer(request) : nothing.answer;
    }),
  ]);
  return model;
}

test("a job of a killed worker is resumed by another one", async () => {
  const model = closedModel();
  const first = await machine.upProcess("--as", "worker");
  const server = await machine.up("--as", "server");
  const api = apiOf(server);
  const scan = { kind: "scan", params: { connection: "shop" } };
  const { id } = await api("POST", "/v1/jobs", scan);
  const stateOf = async () => (await api("GET", `/v1/jobs/${String(id)}`))["state"];
  // The answer comes before a worker has the job if that takes long.
  await expect.poll(stateOf).toBe("running");
  await expect.poll(() => model.requests).toBeGreaterThan(0);
  await machine.up("--as", "worker");
  const { queue } = await api("GET", "/v1/fleet");
  expect(queue).toMatchObject([{ place: expect.stringMatching(/^context:/), running: 1, served: true }]);
  expect(await api("POST", "/v1/jobs", scan)).toMatchObject({
    error: { message: expect.stringMatching(/^Another scan is under way here: /) },
  });

  first.child.kill("SIGKILL");
  model.open();
  await expect.poll(stateOf, { interval: 250 }).toMatch(/^(done|partly)$/);
  const { data } = (await api("GET", `/v1/jobs/${String(id)}/events?limit=100`)) as {
    data: { event: { type: string; resumed?: boolean } }[];
  };
  const starts = data.filter(({ event }) => event.type === "started");
  expect(starts.map(({ event }) => event.resumed)).toEqual([false, true]);
});

test("another worker resumes the job of a draining worker at once", async () => {
  const model = closedModel();
  const first = await machine.up("--as", "worker");
  const { id } = await apiOf(first)("POST", "/v1/jobs", { kind: "scan", params: { connection: "shop" } });
  await expect.poll(() => model.requests).toBeGreaterThan(0);
  const second = await machine.up("--as", "worker");
  expect(await first.stop()).toMatchObject({ code: 0 });
  model.open();
  const stateOf = async () => (await apiOf(second)("GET", `/v1/jobs/${String(id)}`))["state"];
  await expect.poll(stateOf, { timeout: 20_000 * inject("slowness"), interval: 250 }).toMatch(/^(done|partly)$/);
});
