import Anthropic from "@anthropic-ai/sdk";
import { APIResource } from "@anthropic-ai/sdk/core/resource";
import { expect, test } from "vitest";
import { routeTable } from "../route-table.ts";
import { apiReference } from "./api-reference.ts";
import { refusedResources, sdkMethods } from "./sdk-methods.ts";

// `vitest run -u` rewrites it.
test("docs/reference/api.md matches the routes", async () => {
  await expect(apiReference()).toMatchFileSnapshot("../../../../../docs/reference/api.md");
});

/** The methods of a client resource and its subresources, such as `agents.versions.list`. */
function methodsOf(resource: APIResource, path: string): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== "constructor");
  const below = Object.entries(resource).filter(
    (entry): entry is [string, APIResource] => entry[1] instanceof APIResource && !entry[0].startsWith("_"),
  );
  return [
    ...own.map((name) => `${path}${name}`),
    ...below.flatMap(([name, part]) => methodsOf(part, `${path}${name}.`)),
  ];
}

test("every method of the official client has a line", () => {
  const { beta } = new Anthropic({ apiKey: "none" });
  const all = methodsOf(beta, "");
  expect(all.length).toBeGreaterThan(100);
  const [refused, others] = [true, false].map((wanted) =>
    all.filter((name) => refusedResources.some((part) => name.startsWith(`${part}.`)) === wanted),
  );
  expect(refused!.length).toBeGreaterThan(50);
  expect(others!.filter((name) => !name.startsWith("webhooks.")).toSorted()).toEqual(
    Object.keys(sdkMethods).toSorted(),
  );
});

test("every route in Anthropic's API is one of its methods", () => {
  const routes = routeTable.filter(({ extension }) => !extension).map(({ name }) => name);
  expect(routes.filter((name) => !(name in sdkMethods))).toEqual([]);
});
