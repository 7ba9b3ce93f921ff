import { expect, test } from "vitest";
import { kindIn, placeIn, queueName, tenantIn } from "./queue-name.ts";

test.each([
  ["any", "default"],
  ["machine:Björn's laptop", "a/b"],
  ["needs:gpu=yes,region=eu", "a.2f.b"],
  ["machine:😀.local", "…"],
])("encodes and decodes the queue name of %s and %s", (place, tenant) => {
  const sessions = queueName({ kind: "session", place, tenant });
  const jobs = queueName({ kind: "job", place, tenant });
  expect([kindIn(sessions), kindIn(jobs)]).toEqual(["session", "job"]);
  for (const name of [sessions, jobs]) {
    expect(name).toMatch(/^[\w.\-/]+$/);
    expect([placeIn(name), tenantIn(name)]).toEqual([place, tenant]);
  }
});

test("queues of sessions keep the names of version 0.1.0", () => {
  expect(queueName({ kind: "session", place: "machine:one", tenant: "default" })).toBe("machine.3a.one/default");
});
