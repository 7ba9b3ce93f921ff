import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
);

// A log is deleted with its session or job, and never changed otherwise.
test("no statement changes an event, or removes one alone", () => {
  const statements = sources.flatMap((file) =>
    [
      ...readFileSync(join(root, file), "utf8").matchAll(/\b(update|delete\s+from|replace\s+into)\s+event\b[^`]*/gi),
    ].map(([statement]) => `${file}: ${statement}`),
  );
  expect(statements.toSorted()).toEqual([
    "operations/jobs.ts: delete from event where log = ${log.number}",
    "operations/sessions.ts: delete from event where log = ${number}",
  ]);
  const inserts = sources.flatMap(
    (file) => readFileSync(join(root, file), "utf8").match(/insert\s+into\s+event\b[^`]*/gi) ?? [],
  );
  expect(inserts).toHaveLength(1);
  expect(inserts[0]).not.toMatch(/on\s+conflict/i);
});
