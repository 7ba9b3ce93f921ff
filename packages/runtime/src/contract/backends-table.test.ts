import { expect, it } from "vitest";
import { backendsReference, backendsTable } from "./backends-table.ts";
import { BEHAVIOURS } from "./runtime-behaviours.ts";
import { claudeCodeFixture } from "./claude-code-fixture.ts";
import { anthropicFixture, gatewayFixture, vertexFixture } from "./fixtures.ts";

it("has one row per behaviour and a note per exception", () => {
  const table = backendsTable([
    { name: "anthropic" },
    { name: "claude-code", exceptions: { "text.slash": "It has no slashes.", "loop.misuse": "It has no slashes." } },
  ]);
  for (const { title } of BEHAVIOURS) expect(table.split(`| ${title} |`)).toHaveLength(2);
  expect(table).toContain("| Sends a prompt that starts with / as text, not as a command | ✓ | no [1] |");
  expect(table.match(/no \[\d\]/g)).toEqual(["no [1]", "no [1]"]);
  expect(table.trimEnd().endsWith("[1] It has no slashes.")).toBe(true);
});

it("has unique behaviour ids", () => {
  const ids = BEHAVIOURS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

// Update with `vitest run -u`.
it("docs/reference/backends.md matches the contract suite", async () => {
  const page = backendsReference([claudeCodeFixture, anthropicFixture, vertexFixture, gatewayFixture]);
  await expect(page).toMatchFileSnapshot("../../../../docs/reference/backends.md");
});
