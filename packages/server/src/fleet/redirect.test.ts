import type { WorkerRow } from "@tandem/storage";
import { expect, test } from "vitest";
import { Redirect, type RedirectDependencies } from "./redirect.ts";

const row = (machine: string, change: Partial<WorkerRow>): WorkerRow =>
  ({
    holder: machine,
    machine,
    role: "worker",
    labels: {},
    tenants: null,
    roots: ["/data"],
    address: `http://${machine}:4760`,
    maxSessions: 20,
    sessions: 0,
    draining: false,
    ...change,
  }) as WorkerRow;

const redirectAmong = (rows: readonly WorkerRow[]): Redirect =>
  new Redirect({
    self: { holder: "server", role: "server", store: {} },
    roster: { living: async () => rows },
    tenant: "default",
    hasContext: () => false,
  } as unknown as RedirectDependencies);

const newEnvironment = (metadata: Record<string, string>) =>
  ({ at: "worker", params: {}, search: new URLSearchParams(), body: { name: "e", metadata } }) as const;

test("a new environment on a volume goes to a worker that mounts it, though another one has more room", async () => {
  const redirect = redirectAmong([row("private", {}), row("shared", { labels: { volume: "data" }, sessions: 5 })]);
  const metadata = { "tandem.path": "/data/work", "tandem.volume": "data" };
  expect(await redirect.destination(newEnvironment(metadata), undefined)).toMatchObject({ machine: "shared" });
  const elsewhere = { ...metadata, "tandem.volume": "other" };
  await expect(redirect.destination(newEnvironment(elsewhere), undefined)).rejects.toThrow(
    "a worker with volume=other",
  );
});

test("a worker that takes no work gets no new environment", async () => {
  const redirect = redirectAmong([row("full", { problem: "the disk is full" }), row("busy", { sessions: 19 })]);
  const place = newEnvironment({ "tandem.path": "/data/work" });
  expect(await redirect.destination(place, undefined)).toMatchObject({ machine: "busy" });
});

test("a request of the context goes to a worker that has it, though another one has more room", async () => {
  const redirect = redirectAmong([
    row("without", { hasContext: false }),
    row("with", { hasContext: true, sessions: 5 }),
  ]);
  const input = { at: "context", params: {}, search: new URLSearchParams(), body: undefined } as const;
  expect(await redirect.destination(input, undefined)).toMatchObject({ machine: "with" });
});
