import { expect, test } from "vitest";
import { describePlace, fits, placeOf, placeWanted } from "./place.ts";

const worker = { role: "worker" as const, machine: "alpha", labels: { gpu: "yes", region: "eu" }, tenants: null };
const metadata = (more: Record<string, string>) => ({ metadata: more });

test("a folder is where it was made ready, unless it is on a volume", () => {
  expect(placeOf(metadata({ "tandem.path": "/srv/shop" }), "alpha")).toBe("machine:alpha");
  expect(placeOf(metadata({ "tandem.needs": "gpu=yes" }), "alpha")).toBe("machine:alpha");
  expect(placeOf(metadata({ "tandem.volume": "data", "tandem.needs": "region=eu, gpu=yes" }), "alpha")).toBe(
    "needs:gpu=yes,region=eu,volume=data",
  );
});

test("what a new session asks for does not name a machine", () => {
  expect(placeWanted(metadata({ "tandem.path": "/srv/shop" }))).toBeUndefined();
  expect(placeWanted(metadata({ "tandem.needs": "region=eu,gpu=yes" }))).toBe("needs:gpu=yes,region=eu");
});

test.each([
  [null, true],
  ["any", true],
  ["machine:alpha", true],
  ["machine:alph", false],
  ["needs:gpu=yes", true],
  ["needs:gpu=yes,region=eu", true],
  ["needs:gpu=yes,region=us", false],
  ["needs:volume=data", false],
  ["planet:mars", false],
])("a worker fits %s: %s", (place, expected) => {
  expect(fits(worker, place, "default")).toBe(expected);
});

test("a server takes nothing, and a worker of one tenant nothing of another", () => {
  expect(fits({ ...worker, role: "server" }, "any", "default")).toBe(false);
  expect(fits({ ...worker, tenants: ["acme"] }, "any", "default")).toBe(false);
  expect(fits({ ...worker, tenants: ["acme"] }, "any", "acme")).toBe(true);
});

test("says what is needed", () => {
  expect(describePlace("machine:alpha")).toBe("a worker on alpha, where its folder is");
  expect(describePlace("needs:gpu=yes,region=eu")).toBe("a worker with gpu=yes, region=eu");
});
