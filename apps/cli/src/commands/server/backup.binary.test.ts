import { text } from "@tandem/rehearsal";
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const guide = new URL("../../../../../docs/guides/backup.md", import.meta.url);

test("a backup of a running and of a stopped server restores sessions, tokens and the conversation", async () => {
  await using machine = await sessionMachine([text("First."), text("Second.")]);
  const { HOME: home, TANDEM_HOME: state } = machine.variables;
  const server = await machine.up();
  await machine.run(["run", "Remember the Aare"]);
  await machine.run(["tokens", "add", "phone"]);

  // `sqlite3 .backup` uses the same call.
  const online = machine.folder.join("online");
  await mkdir(online);
  using database = new DatabaseSync(join(state, "tandem.db"), { readOnly: true });
  await backup(database, join(online, "tandem.db"));
  for (const file of ["token", "trusted.json"]) await copyFile(join(state, file), join(online, file));
  const { stdout } = await machine.run(["sessions", "list"], { env: { TANDEM_HOME: online } });
  expect(stdout).toContain("Remember the Aare");
  await server.stop();

  const [save = "", restore = ""] = (await readFile(guide, "utf8")).match(/^tar .*$/gm) ?? [];
  const moved = machine.folder.join("moved");
  await mkdir(moved);
  execFileSync("sh", ["-c", save], { env: { ...machine.variables, HOME: home }, cwd: moved });
  execFileSync("sh", ["-c", restore], { env: { ...machine.variables, HOME: moved }, cwd: moved });
  const env = { HOME: moved, TANDEM_HOME: join(moved, ".tandem") };
  const restored = await machine.run(["run", "--resume", "last", "What was it?"], { env });
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("Second.") });
  const { messages } = machine.rehearsal.modelRequests.at(-1)!;
  expect(JSON.stringify(messages), "the conversation before the backup").toContain("Remember the Aare");
  const tokens = (await machine.run(["tokens", "list"], { env })).stdout;
  expect(tokens).toContain("phone");
  expect(await readFile(join(moved, ".tandem", "token"), "utf8")).toBe(await readFile(join(state, "token"), "utf8"));
});
