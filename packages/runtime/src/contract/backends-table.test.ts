import { expect, it } from "vitest";
import { backendsReference, backendsTable } from "./backends-table.ts";
import { BEHAVIOURS } from "./runtime-behaviours.ts";
import { claudeCodeFixture } from "./claude-code-fixture.ts";
import { anthropicFixture, gatewayFixture, vertexFixture } from "./fixtures.ts";

it("has one row per behaviour and a note per exception", () => {
  const titles = Object.values(BEHAVIOURS).flatMap((group) => Object.keys(group));
  const slash = "Sends a prompt that starts with / as text, not as a command";
  const exceptions = { [slash]: "It has no slashes.", [titles.at(-1)!]: "It has no slashes." };
  const table = backendsTable([{ name: "anthropic" }, { name: "claude-code", exceptions }]);
  for (const title of titles) expect(table.split(`| ${title} |`)).toHaveLength(2);
  expect(table).toContain(`| ${slash} | ✓ | no [1] |`);
  expect(table.match(/no \[\d\]/g)).toEqual(["no [1]", "no [1]"]);
  expect(table.trimEnd().endsWith("[1] It has no slashes.")).toBe(true);
});

it("has exceptions only for behaviours of the contract", () => {
  const titles = Object.values(BEHAVIOURS).flatMap((group) => Object.keys(group));
  expect(titles).toEqual(expect.arrayContaining(Object.keys(gatewayFixture.exceptions!)));
});

// Update with `vitest run -u`.
it("docs/reference/backends.md matches the contract suite", async () => {
  const page = backendsReference([claudeCodeFixture, anthropicFixture, vertexFixture, gatewayFixture]);
  await expect(page).toMatchFileSnapshot("../../../../docs/reference/backends.md");
});
