import { expect, test } from "vitest";
import { describePlace, fits, placeOf, placeWanted } from "./place.ts";

const worker = { role: "worker" as const, machine: "alpha", labels: { gpu: "yes", region: "eu" }, tenants: null };
const metadata = (more: Record<string, string>) => ({ metadata: more });

test("a folder needs the machine that prepared it, unless it is on a volume", () => {
  expect(placeOf(metadata({ "tandem.path": "/srv/shop" }), "alpha")).toBe("machine:alpha");
  expect(placeOf(metadata({ "tandem.needs": "gpu=yes" }), "alpha")).toBe("machine:alpha");
  expect(placeOf(metadata({ "tandem.volume": "data", "tandem.needs": "region=eu, gpu=yes" }), "alpha")).toBe(
    "needs:gpu=yes,region=eu,volume=data",
  );
});

test("a new session's requirements name no machine", () => {
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

test("a server takes no runs, and a worker takes only its tenants'", () => {
  expect(fits({ ...worker, role: "server" }, "any", "default")).toBe(false);
  expect(fits({ ...worker, tenants: ["acme"] }, "any", "default")).toBe(false);
  expect(fits({ ...worker, tenants: ["acme"] }, "any", "acme")).toBe(true);
});

test("describes the requirement", () => {
  expect(describePlace("machine:alpha")).toBe("a worker on alpha, where its folder is");
  expect(describePlace("needs:gpu=yes,region=eu")).toBe("a worker with gpu=yes, region=eu");
});
