import { mkdir, readFile, writeFile } from "node:fs/promises";
import { startEmulator } from "@tandem/emulator";
import { formatCassette, type Cassette } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { scratchMachine } from "../testing/run-tandem.ts";
import { recordSession } from "./testing/record-session.ts";

async function recordedRun(claudeCode = false): Promise<Cassette> {
  await using emulator = await startEmulator({
    script: [
      toolUse("Bash", { command: "echo 12 passed" }),
      toolUse("Bash", { command: "echo two > notes.txt" }),
      text("All 12 tests pass."),
    ],
    tools: { Bash: () => "12 passed" },
    claudeCode,
  });
  return await recordSession(emulator, "Test it.");
}

test("cases pass, fail with a sentence per assertion, and report to JUnit and GitHub", async () => {
  await using machine = await scratchMachine();
  const cases = machine.folder.join("project", "cases");
  await mkdir(cases);
  const write = (name: string, content: string) => writeFile(machine.folder.join("project", "cases", name), content);
  const cassette = await recordedRun(true);
  await write("run.jsonl", formatCassette(cassette));
  await write("bare.jsonl", formatCassette(cassette));
  await write(
    "good.case.yaml",
    `cassette: run.jsonl
mode: real-tools
tools:
  - called: Bash
    input: 12 passed
  - called: Bash
    input: { command: /notes\\.txt$/ }
  - not_called: WebFetch
files:
  - { path: notes.txt, contains: two }
  - { path: other.txt, absent: true }
approvals: none
cost_below: 1
answer: /\\d+ tests pass/
program: test "$(cat notes.txt)" = two
`,
  );
  await write(
    "bad.case.ts",
    `export default {
  cassette: "run.jsonl",
  tools: [{ called: "Bash", input: "npm run" }, { not_called: "Bash", input: "two" }],
  files: [{ path: "other.txt" }, { path: "notes.txt", contains: "three" }],
  approvals: ["Bash"],
  cost_below: 0.0000001,
  answer: /fail/,
};
`,
  );
  const run = await machine.run(["cassettes", "test", "cases", "--junit", "report.xml"], {
    env: { GITHUB_ACTIONS: "true" },
  });
  expect(run).toMatchObject({ code: 1, stderr: "" });
  expect(run.stdout).toMatch(/^✓ cases\/bare\.jsonl/m);
  expect(run.stdout).toMatch(/^✓ cases\/good\.case\.yaml/m);
  expect(run.stdout).toContain("2 passed, 1 failed\n");
  expect(run.stdout).toContain("::error file=cases/bad.case.ts,");
  for (const failure of [
    'The tool Bash with "npm run" was not called. It was called with',
    'The tool Bash with "two" was called in step ',
    "The file other.txt does not exist.",
    'The file notes.txt does not contain "three". It has: "two\\n"',
    "The tool Bash did not ask for an approval.",
    "The run cost $",
    'The answer does not match /fail/. It is: "All 12 tests pass."',
  ]) {
    expect(run.stdout).toContain(`  ${failure}`);
  }
  const report = await readFile(machine.folder.join("project", "report.xml"), "utf8");
  expect(report).toContain('<testsuites tests="3" failures="1"');
  expect(report).toContain('does not contain "three"');

  await write("good.case.yaml", "cassette: run.jsonl\ncost: 1\n");
  const wrong = await machine.run(["cassettes", "test", "cases/good.case.yaml"]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('Unrecognized key: "cost"');
});

test("an update replaces a cassette that differs by the whole new run", async () => {
  await using machine = await scratchMachine();
  const file = machine.folder.join("project", "run.jsonl");
  await writeFile(file, formatCassette(await recordedRun()).replaceAll("12 passed", "13 passed"));
  expect(await machine.run(["cassettes", "test", "run.jsonl", "--update"])).toMatchObject({ code: 2 });
  const updated = await machine.run(["cassettes", "test", "run.jsonl", "--update", "--yes"]);
  expect(updated).toMatchObject({ code: 0, stderr: "" });
  expect(updated.stdout).toContain("Step 3 of 7 (call) differs.");
  expect(updated.stdout).toContain("0 passed, 1 updated, 0 failed\n");
  expect(await readFile(file, "utf8")).toContain("All 12 tests pass.");
  const again = await machine.run(["cassettes", "test", "run.jsonl", "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ passed: 1, failed: 0, cases: [{ name: "run.jsonl", steps: 7 }] });

  await writeFile(machine.folder.join("project", "answers.yaml"), "- text: Two tests fail.\n");
  const change = ["--step", "3", "--result", "2 failed", "--script", "answers.yaml"];
  const forked = await machine.run(["cassettes", "fork", "run.jsonl", ...change, "-o", "fork.jsonl"]);
  expect(forked).toMatchObject({ code: 0, stderr: "" });
  const compared = await machine.run(["cassettes", "compare", "run.jsonl", "fork.jsonl"]);
  expect(compared.stdout).toMatch(/^≠ +answer 1 +All 12 tests pass\. +Two tests fail\.$/m);
  expect(compared.stdout).toMatch(/^≠ +call 2 +Bash .* -$/m);
  const data = await machine.run(["cassettes", "compare", "run.jsonl", "fork.jsonl", "--json"]);
  expect(JSON.parse(data.stdout)).toMatchObject({
    different: ["answers", "tools", "results", "usd", "tokens"],
    files: null,
  });
});
