import { expect, it } from "vitest";
import { backendsTable } from "./backends-table.ts";
import { BEHAVIOURS } from "./behaviours.ts";

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
