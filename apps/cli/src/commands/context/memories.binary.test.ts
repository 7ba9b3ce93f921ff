import { openStore } from "@tandem/storage";
import { always, object, planLimit, startRehearsal } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { openUp } from "../../testing/session-machine.ts";

const NO_MODEL = "llm:\n  provider:\n    backend: none\n";

test("remembers, lists, shows, keeps and forgets a memory, and undoes that", async () => {
  await using machine = await scratchMachine(NO_MODEL);
  const said = await machine.run([
    "context",
    "remember",
    "Revenue excludes refunds.",
    "--tag",
    "finance",
    "--expires",
    "90d",
  ]);
  expect(said).toMatchObject({ code: 0, stderr: "" });
  expect(said.stdout).toMatch(
    /^Saved\. Undo: tandem context proposals undo prop_\w+\nmem_\w+  project, \d+ s ago, for 90 d, #finance\n/,
  );
  expect(said.stdout).toMatch(/↳ added by \w+, \d{4}-\d\d-\d\d\n$/);
  const again = await machine.run(["context", "remember", "--json"], { stdin: "revenue excludes refunds\n" });
  const { memory, known } = JSON.parse(again.stdout) as { memory: { id: string }; known: boolean };
  expect(known).toBe(true);
  expect((await machine.run(["context", "memories", "list"])).stdout).toMatch(
    new RegExp(`^${memory.id}  project  Revenue excludes refunds\\.  \\d+ s ago, for 90 d, #finance\\n$`),
  );
  expect((await machine.run(["context", "memories", "set", memory.id])).stdout).toBe("Never expires.\n");
  expect((await machine.run(["context", "memories", "show", memory.id])).stdout).toContain("never expires");
  const forgotten = await machine.run(["context", "memories", "remove", memory.id, "--json"]);
  const { proposal } = JSON.parse(forgotten.stdout) as { proposal: string };
  expect((await machine.run(["context", "memories", "list"])).stdout).toBe(
    'No memories yet. Add one: tandem context remember "…"\n',
  );
  expect(await machine.run(["context", "proposals", "undo", proposal, "--yes"])).toMatchObject({ code: 0 });
  const listed = await machine.run(["context", "memories", "list", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ memories: [{ id: memory.id, expiresAt: null, contradicts: [] }] });
});

test("shows contradicting memories side by side", async () => {
  await using rehearsal = await startRehearsal([object({ contradicts: [{ id: "m1", why: "Another time." }] })]);
  const provider = `backend: anthropic\n    anthropic: { apiKey: "env:KEY", baseUrl: "${rehearsal.url}" }`;
  await using machine = await scratchMachine(`llm:\n  provider:\n    ${provider}\n`);
  await machine.trust();
  const env = { KEY: "made-up" };
  expect(await machine.run(["context", "remember", "Refunds take 30 days."], { env })).toMatchObject({ code: 0 });
  const second = await machine.run(["context", "remember", "--agent", "analyst", "Refunds take 14 days."], { env });
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toMatch(
    /Contradicted:\nmem_\w+ +│ mem_\w+\nRefunds take 14 days\. +│ Refunds take 30 days\.\n/,
  );
  const listed = (await machine.run(["context", "memories", "list"], { env })).stdout;
  expect(listed).toMatch(/agent analyst  Refunds take 14 days\..*\n  ≠ mem_\w+  Refunds take 30 days\.\n/);
  expect(listed).toMatch(/project +Refunds take 30 days\..*\n  ≠ mem_\w+  Refunds take 14 days\.\n/);
  expect(rehearsal.modelRequests).toHaveLength(1);
});

test.each([
  ["nothing to remember", ["remember"], 2, "The prompt is missing."],
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
  await machine.run(["context", "memories", "list"]);
  await using store = await openStore(machine.folder.join("home", ".tandem", "tandem.db"));
  expect(await store.sessions.get("sesn_none")).toBeUndefined();
  const gone = await machine.run(["context", "memories", "capture", "sesn_none"]);
  expect(gone).toMatchObject({
    code: 2,
    stdout: "The session could not be processed: There is no session sesn_none.\n",
  });
});

/** A project whose running server has a context, with one memory. */
async function withMemory(url: string) {
  const provider = `backend: anthropic\n    anthropic: { apiKey: "env:KEY", baseUrl: "${url}" }`;
  const machine = await scratchMachine(
    `llm:\n  provider:\n    ${provider}\n  limits: { patience: 0s }\nconnections: { shop: { driver: sqlite, path: shop.sqlite } }\n`,
  );
  await machine.trust();
  const env = { KEY: "made-up" };
  await machine.run(["context", "remember", "Refunds take 30 days."], { env });
  const up = (variables: Record<string, string> = env) =>
    openUp(machine.open(["up", "--json", "--port", "0"], { env: variables }));
  const remember = (text: string) => machine.run(["context", "remember", text], { env });
  return { machine, up, remember };
}

test("remember learns a quota in this process and in the server, and each respects what the other learned", async () => {
  const unchecked = { code: 0, stdout: expect.stringContaining("Contradictions were not checked: "), stderr: "" };
  for (const first of ["here", "server"]) {
    await using rehearsal = await startRehearsal([always(planLimit())]);
    const { machine, up, remember } = await withMemory(rehearsal.url);
    await using _ = machine;
    const inServer = async (text: string) => {
      await using _server = await up();
      return await remember(text);
    };
    const [one, two] = first === "here" ? [remember, inServer] : [inServer, remember];
    expect(await one("Refunds take 14 days.")).toMatchObject(unchecked);
    const asked = rehearsal.modelRequests.length;
    expect(asked).toBeGreaterThan(0);
    expect(await two("Refunds take 7 days.")).toMatchObject(unchecked);
    expect(rehearsal.modelRequests).toHaveLength(asked);
  }
});

test("remember names a secret that the caller has and the running server lacks", async () => {
  await using rehearsal = await startRehearsal([]);
  const { machine, up, remember } = await withMemory(rehearsal.url);
  await using _ = machine;
  await using _server = await up({});
  const { code, stderr } = await remember("Refunds take 14 days.");
  expect({ code, stderr }).toMatchObject({ code: 3 });
  expect(stderr).toContain("its environment has no KEY");
});
