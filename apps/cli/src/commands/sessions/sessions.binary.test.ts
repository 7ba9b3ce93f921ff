import { always, text } from "@tandem/rehearsal";
import { readFile, stat, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const hello = [always(text("Hello from the rehearsal."))];

test("tandem sessions: list, show, export and remove with a server, import without one", async () => {
  await using machine = await sessionMachine(hello);
  const server = await machine.up();
  expect((await machine.run(["sessions", "list"])).stdout).toContain("No sessions");
  const run = await machine.run(["run", "Say hello, please", "--json"]);
  const { session_id: id } = JSON.parse(run.stdout) as { session_id: string };

  expect((await machine.run(["sessions", "list"])).stdout).toMatch(
    new RegExp(`^${id}  idle  Say hello, please  tandem run  \\$0\\.00  \\d+ s ago$`, "m"),
  );
  const shown = await machine.run(["sessions", "show", "last"]);
  expect(shown.stdout).toContain("› Say hello, please\n\nHello from the rehearsal.\n");
  expect(JSON.parse((await machine.run(["sessions", "show", id, "--json"])).stdout)).toMatchObject({
    session: { id, status: "idle" },
    messages: [{ role: "user" }, { role: "agent" }],
  });

  const file = machine.folder.join("project", "session.jsonl");
  expect((await machine.run(["sessions", "export", id, "-o", "session.jsonl"])).code).toBe(0);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await machine.run(["sessions", "export", id, "-o", "session.jsonl"]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("it exists already") });
  const piped = await machine.run(["sessions", "export", "last"]);
  expect(piped.stdout).toBe(await readFile(file, "utf8"));
  expect(await machine.run(["sessions", "import", "session.jsonl"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--as-new"),
  });

  expect(await machine.run(["sessions", "remove", id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--yes"),
  });
  expect(await machine.run(["sessions", "remove", id, "--yes"])).toMatchObject({ code: 0 });
  expect(await machine.run(["sessions", "show", id])).toMatchObject({ code: 2, stderr: expect.stringContaining(id) });

  await server.stop();
  // A truncated or foreign file is rejected as a whole.
  for (const content of [piped.stdout.slice(0, -40), "{}\n", ""]) {
    await writeFile(machine.folder.join("project", "broken.jsonl"), content);
    expect(await machine.run(["sessions", "import", "broken.jsonl"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not a whole export"),
    });
  }
  expect(await machine.run(["sessions", "import", "none.jsonl"])).toMatchObject({ code: 2 });
  expect((await machine.run(["sessions", "list", "--json"])).stdout).toBe('{\n  "sessions": []\n}\n');

  // An imported session resumes at its last state.
  expect(await machine.run(["sessions", "import"], { stdin: piped.stdout })).toMatchObject({ code: 0 });
  expect((await machine.run(["sessions", "export", id])).stdout).toBe(piped.stdout);
  expect((await machine.run(["run", "--resume", id, "And again"])).stdout).toBe("Hello from the rehearsal.\n");
  expect(machine.rehearsal.modelRequests.at(-1)?.messages.filter(({ role }) => role === "assistant")).toHaveLength(1);
});
