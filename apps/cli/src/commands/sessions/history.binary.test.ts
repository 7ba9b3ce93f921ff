import { text, toolUse } from "@tandem/rehearsal";
import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

test("tandem diff, rewind and fork show changes, undo and redo them; a command without a server continues", async () => {
  await using machine = await sessionMachine([
    text("Hello."),
    toolUse("Bash", { command: "echo two >> notes.txt && rm gone.txt" }),
    text("Done."),
    text("On the other way."),
  ]);
  const file = (name: string) => machine.folder.join("project", name);
  await writeFile(file("notes.txt"), "one\n");
  await writeFile(file("gone.txt"), "precious\n");

  const server = await machine.up();
  const first = await machine.run(["run", "Say hello", "--json"]);
  const { session_id: session } = JSON.parse(first.stdout) as { session_id: string };
  await machine.run(["run", "--resume", "last", "Tidy up", "--bypass-permissions"]);
  expect((await machine.run(["diff", "last", "--turns"])).stdout).toMatch(
    /1 +Say hello +0 files.*\n2 +Tidy up +2 files/,
  );
  expect((await machine.run(["diff", "last", "--stat"])).stdout).toBe(
    " D gone.txt       1  -\n M notes.txt      1  +\n 2 files, +1 -1\n",
  );
  const patch = await machine.run(["diff", "last", "--turn", "2"]);
  expect(patch.stdout).toContain("-precious\n");
  expect(patch.stdout.startsWith("diff --git a/gone.txt b/gone.txt\n")).toBe(true);
  expect((await machine.run(["diff", "last", "--turn", "1"])).stdout).toBe("");

  const dry = await machine.run(["rewind", "last", "--files", "--dry-run"]);
  expect(dry.stdout).toContain("Would rewind the files to before turn 2.");
  expect(dry.stdout).toContain("+precious");
  expect(await readFile(file("notes.txt"), "utf8")).toBe("one\ntwo\n");
  const done = await machine.run(["rewind", "last", "--to", "2"]);
  expect(done.stdout).toContain("Rewound the files and conversation to before turn 2; the agent forgets 1 turn.");
  expect(await readFile(file("gone.txt"), "utf8")).toBe("precious\n");
  await server.stop();
  expect((await machine.run(["sessions", "show", "last"])).stdout).toContain("Rewound: files and conversation");
  expect((await machine.run(["rewind", "last", "--undo"])).stdout).toContain(
    "Restored the files and conversation of before the rewind",
  );
  expect(await readFile(file("notes.txt"), "utf8")).toBe("one\ntwo\n");
  expect(await machine.run(["rewind", "last", "--to", "9"])).toMatchObject({ code: 2 });
  const fork = await machine.run(["fork", session, "--at", "2", "--json"]);
  const { id } = JSON.parse(fork.stdout) as { id: string };
  expect((await machine.run(["run", "--resume", id, "And now?"])).stdout).toBe("On the other way.\n");
  const { messages } = machine.rehearsal.modelRequests.at(-1)!;
  expect(JSON.stringify(messages)).toContain("Say hello");
  expect(JSON.stringify(messages)).not.toContain("Tidy up");
});
