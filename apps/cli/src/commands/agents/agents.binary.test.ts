import { always, text } from "@tandem/rehearsal";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const FILE = `
name: reviewer
model: opus
description: Reads code.
system: |
  You review code.
tools:
  - type: agent_toolset_20260401
    configs:
      - { name: edit, enabled: false }
`;

describe.each(["without a server", "with a server"])("tandem agents, %s", (place) => {
  test("create, show, update, archive and list", async () => {
    await using machine = await sessionMachine([always(text("Hello."))]);
    await using _ = place === "with a server" ? await machine.up() : undefined;
    await writeFile(machine.folder.join("project", "agent.yaml"), FILE);
    const created = await machine.run(["agents", "add", "--file", "agent.yaml", "--model", "haiku", "--json"]);
    expect(created).toMatchObject({ code: 0 });
    expect(JSON.parse(created.stdout)).toMatchObject({
      name: "reviewer",
      version: 1,
      model: { id: expect.stringContaining("haiku") },
      system: "You review code.\n",
    });

    const updated = await machine.run(["agents", "set", "reviewer", "--allow", "bash,web_fetch", "--without", "write"]);
    expect(updated.stdout).toMatch(/version 2/);
    expect(updated.stdout).toMatch(/^ *(tools)? +bash, .*web_fetch.*allowed$/m);
    expect(updated.stdout).toMatch(/edit, write +off$/m);
    const older = await machine.run(["agents", "show", "reviewer", "--agent-version", "1", "--json"]);
    expect(JSON.parse(older.stdout)).toEqual(JSON.parse(created.stdout));

    expect(await machine.run(["agents", "show", "reviwer"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Did you mean reviewer?"),
    });
    expect(await machine.run(["agents", "archive", "reviewer"])).toMatchObject({ code: 0 });
    expect((await machine.run(["agents", "list"])).stdout).toContain("No agents yet");
    expect((await machine.run(["agents", "list", "--all"])).stdout).toMatch(/reviewer .* archived$/m);
  });
});

test("tandem agents add rejects an invalid agent in one sentence", async () => {
  await using machine = await sessionMachine([]);
  const refusals: [args: string[], file: string | undefined, message: string][] = [
    [["--model", "opus"], undefined, "name:"],
    [["--name", "a", "--model", "gpt-7"], undefined, '"gpt-7" is not known'],
    [["--name", "a", "--allow", "hammer"], undefined, "Unknown value hammer"],
    [["--file", "agent.yaml"], "name: a\nmodel: opus\ntool: []\n", "tool"],
    [["--file", "agent.yaml"], "- a\n", "does not describe an agent"],
    [["--file", "agent.yaml"], "name: [", "cannot be read"],
    [["--file", "nowhere.yaml"], undefined, "it does not exist"],
  ];
  for (const [args, file, message] of refusals) {
    if (file !== undefined) await writeFile(machine.folder.join("project", "agent.yaml"), file);
    const outcome = await machine.run(["agents", "add", ...args]);
    expect(outcome, args.join(" ")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  }
});
