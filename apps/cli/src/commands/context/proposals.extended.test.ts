import { openContext, type Draft } from "@tandem/context";
import { configSchema } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const REFUNDS = "# Refunds\n\nMoney goes back within 30 days.\n";
const source = (citation: string, quote: string) => ({
  type: "source" as const,
  source: "handbook",
  path: "handbook/refunds.md",
  sha256: "ab",
  citation,
  quote,
});

/** A machine whose project has a proposal. */
async function machineWith(drafts: readonly Draft[], quarantine?: string) {
  const machine = await scratchMachine("llm:\n  provider:\n    backend: none\n");
  const location = machine.folder.join("home", ".tandem", "tandem.db");
  // The command creates the database.
  expect(await machine.run(["context", "proposals", "list"])).toMatchObject({
    code: 0,
    stdout: "No open proposals.\n",
  });
  await using store = await openStore(location);
  const { accept } = configSchema.parse({}).context;
  const context = await openContext({ path: machine.folder.join("project", "context"), git: "own", store, accept });
  const proposal = await context.proposals.propose({
    job: null,
    title: "What the handbook says",
    summary: "Read from handbook.",
    drafts,
    quarantine,
    decisions: [
      { id: "1", kind: "contradiction", about: "page:refunds", question: "30 or 14 days?", sides: [], answer: null },
    ],
  });
  return {
    id: proposal!.id,
    run: machine.run.bind(machine),
    at: machine.folder.join.bind(machine.folder),
    page: (name: string) => readFile(machine.folder.join("project", "context", "wiki", name), "utf8"),
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}

const pages = (): Draft[] => [
  {
    path: "wiki/refunds.md",
    before: null,
    after: REFUNDS,
    support: [{ from: 1, to: 3, aspect: "wiki", evidence: [source("handbook/refunds#policy", "within 30 days")] }],
  },
  {
    path: "wiki/orders.md",
    before: null,
    after: "# Orders\n",
    support: [{ from: 1, to: 1, aspect: "wiki", evidence: [source("handbook/orders#top", "")] }],
  },
];

describe("tandem context proposals", () => {
  test("shows a diff with its evidence; accepts a part, answers, edits, rejects the rest and undoes", async () => {
    await using machine = await machineWith(pages());
    const { id } = machine;
    const listed = await machine.run(["context", "proposals", "list"]);
    expect(listed.stdout).toMatch(
      new RegExp(`^${id}  open  What the handbook says  2 open, 1 question in 2 files  \\d+ s ago\\n$`),
    );

    const shown = (await machine.run(["context", "proposals", "show", "last"])).stdout;
    expect(shown).toContain(
      "wiki/refunds.md (new)\n  1  wiki  open\n    + # Refunds\n    + \n    + Money goes back within 30 days.\n",
    );
    expect(shown).toContain("      ↳ handbook, handbook/refunds#policy: “within 30 days”\n");
    expect(shown).toContain("question 1  contradiction  page:refunds  open\n    30 or 14 days?");
    expect(JSON.parse((await machine.run(["context", "proposals", "show", id, "--json"])).stdout)).toMatchObject({
      id,
      counts: { open: 2 },
      changes: [{ path: "wiki/refunds.md", hunks: [{ id: "1", state: "open" }] }, {}],
    });

    const orders = ["context", "proposals", "accept", id, "--path", "ord*"];
    expect((await machine.run([...orders, "--kind", "wiki", "--dry-run"])).stdout).toBe(
      "  Wiki pages from documents  wiki  1 open in 1 file  --kind wiki --origin source\n1 open hunk matches, in 1 file.\n",
    );
    expect(await machine.run([...orders, "--kind", "page"])).toMatchObject({ code: 2 });
    expect(await machine.run(orders)).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await machine.run([...orders, "--yes"])).toMatchObject({ code: 0 });
    expect(await machine.page("orders.md")).toBe("# Orders\n");
    expect(await machine.run(["context", "proposals", "accept", id, "2"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Hunk 2 was accepted already by \w+/),
    });
    expect(await machine.run(["context", "proposals", "accept", id, "two"])).toMatchObject({ code: 2 });
    expect(await machine.run(["context", "proposals", "answer", id, "1", "14", "days"])).toMatchObject({
      stdout: expect.stringContaining("answered: 14 days"),
    });

    await writeFile(machine.at("project", "mine.md"), REFUNDS.replace("30", "14"));
    const edited = await machine.run(["context", "proposals", "edit", id, "wiki/refunds.md", "--file", "mine.md"]);
    expect(edited.stdout).toMatch(
      / {2}3 {2}wiki {2}open\n.*\n.*\n {4}\+ Money goes back within 14 days\.\n {6}↳ added by \w+, \d{4}-\d\d-\d\d/,
    );
    expect(await machine.run(["context", "proposals", "edit", id, "wiki/refunds.md"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--file"),
    });
    expect(await machine.run(["context", "proposals", "reject", id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    const rejected = await machine.run(["context", "proposals", "reject", id, "3", "--reason", "Not ours"]);
    expect(rejected.stdout).toContain(`${id}  partly  1 accepted, 1 rejected in 2 files`);
    expect((await machine.run(["context", "proposals", "show", id, "--all"])).stdout).toContain("rejected");

    expect(await machine.run(["context", "proposals", "undo", id])).toMatchObject({ code: 2 });
    expect((await machine.run(["context", "proposals", "undo", id, "--yes"])).stdout).toContain(`${id}  rejected`);
    await expect(machine.page("orders.md")).rejects.toThrow("ENOENT");
    expect((await machine.run(["context", "proposals", "list", "--all", "--json"])).stdout).toContain(id);
  });

  test("asks before accepting a quarantined hunk, and reports a conflict by its exit code", async () => {
    await using machine = await machineWith(pages(), "It tells the reader to run a command.");
    const { id } = machine;
    expect(await machine.run(["context", "proposals", "accept", id, "1"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    await writeFile(machine.at("project", "context", "wiki.txt"), "not ours");
    await machine.run(["context", "proposals", "accept", id, "2", "--yes"]);
    await writeFile(machine.at("project", "context", "wiki", "refunds.md"), "# Mine\n");
    const outcome = await machine.run(["context", "proposals", "accept", id, "1", "--yes"]);
    expect(outcome).toMatchObject({ code: 1, stdout: expect.stringContaining("conflict") });
    expect(await machine.page("refunds.md")).toBe("# Mine\n");
  });

  test("reports missing arguments", async () => {
    await using machine = await scratchMachine("llm:\n  provider:\n    backend: none\n");
    expect(await machine.run(["context", "proposals", "show", "last"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There are no proposals yet."),
    });
    expect(await machine.run(["context", "proposals", "accept", "prop_x", "--json"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"not_found"'),
    });
    await using empty = await scratchMachine();
    await chmod(empty.project, 0o755);
    expect(await empty.run(["context", "proposals", "list"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tandem.yaml"),
    });
  });
});
