import { expect, it } from "vitest";
import { backendsReference, backendsTable } from "./backends-table.ts";
import { BEHAVIOURS } from "./runtime-behaviours.ts";
import { claudeCodeFixture } from "./claude-code-fixture.ts";
import { anthropicFixture, gatewayFixture, vertexFixture } from "./fixtures.ts";

it("has one row for each behaviour, and a note for each exception", () => {
  const table = backendsTable([
    { name: "anthropic" },
    { name: "claude-code", exceptions: { "text.slash": "It has no slashes.", "loop.misuse": "It has no slashes." } },
  ]);
  for (const { title } of BEHAVIOURS) expect(table.split(`| ${title} |`)).toHaveLength(2);
  expect(table).toContain("| A prompt that begins with / is sent, not run as a command | ✓ | no [1] |");
  expect(table.match(/no \[\d\]/g)).toEqual(["no [1]", "no [1]"]);
  expect(table.trimEnd().endsWith("[1] It has no slashes.")).toBe(true);
});

it("knows every behaviour by one id", () => {
  const ids = BEHAVIOURS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

// Written anew by `vitest run -u`.
it("docs/reference/backends.md is what the contract suite verifies", async () => {
  const page = backendsReference([claudeCodeFixture, anthropicFixture, vertexFixture, gatewayFixture]);
  await expect(page).toMatchFileSnapshot("../../../../docs/reference/backends.md");
});
