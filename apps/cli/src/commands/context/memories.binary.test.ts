import { openStore } from "@tandem/storage";
import { object, startRehearsal } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const NO_MODEL = "llm:\n  provider:\n    backend: none\n";

test("remembers, lists, shows, keeps and forgets a memory, and undoes that", async () => {
  await using machine = await scratchMachine(NO_MODEL);
  const said = await machine.run(["remember", "Revenue excludes refunds.", "--tag", "finance", "--expires", "90d"]);
  expect(said).toMatchObject({ code: 0, stderr: "" });
  expect(said.stdout).toMatch(
    /^Remembered\. Undo: tandem proposals undo prop_\w+\nmem_\w+  project, \d+ s ago, for 90 d, #finance\n/,
  );
  expect(said.stdout).toMatch(/↳ \w+, \d{4}-\d\d-\d\d: in their own words\n$/);
  const again = await machine.run(["remember", "--json"], { stdin: "revenue excludes refunds\n" });
  const { memory, known } = JSON.parse(again.stdout) as { memory: { id: string }; known: boolean };
  expect(known).toBe(true);
  expect((await machine.run(["memories", "list"])).stdout).toMatch(
    new RegExp(`^${memory.id}  project  Revenue excludes refunds\\.  \\d+ s ago, for 90 d, #finance\\n$`),
  );
  expect((await machine.run(["memories", "keep", memory.id])).stdout).toBe("Kept for good.\n");
  expect((await machine.run(["memories", "show", memory.id])).stdout).toContain("holds for good");
  const forgotten = await machine.run(["memories", "forget", memory.id, "--json"]);
  const { proposal } = JSON.parse(forgotten.stdout) as { proposal: string };
  expect((await machine.run(["memories", "list"])).stdout).toBe('Nothing is remembered yet: tandem remember "…"\n');
  expect(await machine.run(["proposals", "undo", proposal, "--yes"])).toMatchObject({ code: 0 });
  const listed = await machine.run(["memories", "list", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ memories: [{ id: memory.id, expiresAt: null, contradicts: [] }] });
});

test("shows contradicting memories side by side", async () => {
  await using rehearsal = await startRehearsal([object({ contradicts: [{ id: "m1", why: "Another time." }] })]);
  const provider = `backend: anthropic\n    anthropic: { apiKey: "env:KEY", baseUrl: "${rehearsal.url}" }`;
  await using machine = await scratchMachine(`llm:\n  provider:\n    ${provider}\n`);
  await machine.trust();
  const env = { KEY: "made-up" };
  expect(await machine.run(["remember", "Refunds take 30 days."], { env })).toMatchObject({ code: 0 });
  const second = await machine.run(["remember", "--agent", "analyst", "Refunds take 14 days."], { env });
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toMatch(
    /Contradicted:\nmem_\w+ +│ mem_\w+\nRefunds take 14 days\. +│ Refunds take 30 days\.\n/,
  );
  const listed = (await machine.run(["memories", "list"], { env })).stdout;
  expect(listed).toMatch(/agent analyst  Refunds take 14 days\..*\n  ≠ mem_\w+  Refunds take 30 days\.\n/);
  expect(listed).toMatch(/project +Refunds take 30 days\..*\n  ≠ mem_\w+  Refunds take 14 days\.\n/);
  expect(rehearsal.modelRequests).toHaveLength(1);
});

test.each([
  ["nothing to remember", ["remember"], 2, "There is no prompt."],
  ["a time that is none", ["remember", "x is y", "--expires", "soon"], 2, '--expires is "soon".'],
  ["a scope that is none", ["remember", "x is y", "--scope", "world"], 2, "Allowed choices"],
  ["an agent without a name", ["remember", "x is y", "--scope", "agent"], 2, "none is named"],
  ["a memory that is not there", ["memories", "show", "mem_none"], 2, "There is no memory mem_none."],
  ["a path for an id", ["memories", "forget", "../wiki/x"], 2, "There is no memory ../wiki/x."],
  ["a session while reading is off", ["memories", "capture", "sesn_x"], 2, "memory.capture is off"],
])("refuses %s", async (_, args, code, message) => {
  await using machine = await scratchMachine(NO_MODEL);
  expect(await machine.run(args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
});

test("captures a session's memories, and reports obstacles", async () => {
  await using machine = await scratchMachine(`${NO_MODEL}memory:\n  capture: propose\n`);
  await machine.trust();
  await machine.run(["memories", "list"]);
  await using store = await openStore(machine.folder.join("home", ".tandem", "tandem.db"));
  expect(await store.sessions.get("sesn_none")).toBeUndefined();
  const gone = await machine.run(["memories", "capture", "sesn_none"]);
  expect(gone).toMatchObject({
    code: 2,
    stdout: "It could not be read, and counts as unread: There is no session sesn_none.\n",
  });
});
