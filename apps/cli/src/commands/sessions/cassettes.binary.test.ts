import { readFile, stat, writeFile } from "node:fs/promises";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

test("tandem cassettes exports a session, replays it, and names the step that was changed", async () => {
  const secret = `sk-ant-api03-${"a1B2".repeat(12)}`;
  await using machine = await sessionMachine([
    toolUse("Bash", { command: `echo two >> notes.txt; cat notes.txt; echo ${secret}` }),
    text("Done."),
  ]);
  await writeFile(machine.folder.join("project", "notes.txt"), "one\n");
  await machine.run(["run", "Add a line", "--bypass-permissions"]);

  const file = machine.folder.join("project", "run.jsonl");
  const exported = await machine.run(["cassettes", "export", "last", "-o", file]);
  expect(exported).toMatchObject({ code: 0, stderr: "" });
  expect(exported.stdout).toMatch(/^6 steps of sesn_\w+ in .*run\.jsonl\n$/);
  expect((await stat(file)).mode & 0o077).toBe(0);
  const cassette = await readFile(file, "utf8");
  expect(cassette).not.toContain(secret);
  expect(cassette).not.toContain(machine.folder.join("project"));

  expect(await machine.run(["cassettes", "replay", file])).toMatchObject({
    code: 0,
    stdout: "✓ run.jsonl: 6 steps, identical (recorded tools).\n",
  });
  await writeFile(file, cassette.replaceAll(String.raw`one\ntwo`, String.raw`one\ntoo`));
  const changed = await machine.run(["cassettes", "replay", file]);
  expect(changed).toMatchObject({ code: 1 });
  expect(changed.stdout).toContain("✗ run.jsonl: Step 4 of 6 (call) differs.\n");
  const json = await machine.run(["cassettes", "replay", file, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ identical: false, divergence: { step: 4, kind: "call" } });
  expect(json.code).toBe(1);
  await writeFile(file, "nonsense\n");
  expect(await machine.run(["cassettes", "replay", file])).toMatchObject({ code: 2 });
});
