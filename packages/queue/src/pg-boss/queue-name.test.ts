import { expect, test } from "vitest";
import { placeIn, queueName, tenantIn } from "./queue-name.ts";

test.each([
  ["any", "default"],
  ["machine:Björn's laptop", "a/b"],
  ["needs:gpu=yes,region=eu", "a.2f.b"],
  ["machine:😀.local", "…"],
])("encodes and decodes the queue name of %s and %s", (place, tenant) => {
  const name = queueName(place, tenant);
  expect(name).toMatch(/^[\w.\-/]+$/);
  expect([placeIn(name), tenantIn(name)]).toEqual([place, tenant]);
});
