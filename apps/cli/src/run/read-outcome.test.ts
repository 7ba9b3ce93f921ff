import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readOutcome } from "./read-outcome.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-outcome-"));
  await writeFile(join(folder, "rubric.md"), "- It rains.\n");
});
afterAll(() => rm(folder, { recursive: true }));

test("an outcome has a rubric from a file, or a command that grades it", async () => {
  expect(await readOutcome(folder, [], { outcome: "A haiku", rubric: "rubric.md", maxIterations: "5" })).toEqual({
    type: "user.define_outcome",
    description: "A haiku",
    rubric: { type: "text", content: "- It rains.\n" },
    max_iterations: 5,
  });
  expect(await readOutcome(folder, [], { outcome: "Green tests", gradeCommand: "npm test" })).toMatchObject({
    rubric: { content: "`npm test` ends with exit code 0." },
    tandem: { grader: { type: "command", command: "npm test" } },
  });
  expect(await readOutcome(folder, ["Hello"], {})).toBeUndefined();
});

test.each([
  ["no rubric", [], { outcome: "A haiku" }],
  ["a missing file", [], { outcome: "A haiku", rubric: "none.md" }],
  ["a prompt besides", ["Hello"], { outcome: "A haiku", rubric: "rubric.md" }],
  ["too many evaluations", [], { outcome: "A haiku", rubric: "rubric.md", maxIterations: "21" }],
  ["no outcome", [], { rubric: "rubric.md" }],
])("%s is an error of usage", async (_, words, options) => {
  await expect(readOutcome(folder, words, options)).rejects.toMatchObject({ code: "usage", fix: expect.any(String) });
});
