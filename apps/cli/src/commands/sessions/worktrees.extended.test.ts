import { reply, text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const run = promisify(execFile);

const COMMAND =
  "echo two >> a.txt; git -c user.name=Bot -c user.email=b@x commit -qam two; echo loose > loose; echo port $TANDEM_PORT";

const worker = ({ toolResults }: ModelRequest) =>
  toolResults.length > 0
    ? text(toolResults[0]!.text)
    : reply([toolUse("Bash", { command: COMMAND, description: "Work" })]);

async function machineWithRepository(settings: string) {
  const machine = await sessionMachine(worker, settings);
  const git = async (...args: string[]) => {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
    const env = { PATH: process.env["PATH"], HOME: machine.variables.HOME };
    return (await run("git", [...who, ...args], { cwd: machine.project, env })).stdout.trim();
  };
  await writeFile(`${machine.project}/a.txt`, "one\n");
  await git("init", "--quiet");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "first");
  return { ...machine, git };
}

/** With a server first, then without one: a session that the server made belongs to both. */
test("tandem run --worktree works in a worktree; lists, merges, undoes, patches and removes it; audits all of it", async () => {
  const settings = `worktrees: { setup: "echo ready > .git-ignored-anyway", ports: { from: 45000, size: 3 } }`;
  await using machine = await machineWithRepository(settings);
  const server = await machine.up();
  const first = await machine.git("rev-parse", "main");
  const ran = await machine.run(["run", "--worktree", "fix-it", "--allow", "bash", "--json", "Work"]);
  const { session_id: session, result } = JSON.parse(ran.stdout) as { session_id: string; result: string };
  expect(result).toMatch(/^port 45\d\d\d/);
  expect(await machine.git("log", "-1", "--format=%s", "tandem/fix-it")).toBe("two");
  expect(await readFile(`${machine.project}/a.txt`, "utf8")).toBe("one\n");
  expect((await machine.run(["sessions", "worktrees", "list"])).stdout).toMatch(
    new RegExp(`^${session}  idle  tandem/fix-it  from main  ports 45`),
  );
  expect((await machine.run(["sessions", "worktrees", "show", "last"])).stdout).toContain(
    "1 uncommitted, 1 commit on no other branch",
  );

  expect((await machine.run(["sessions", "worktrees", "merge", session])).stdout).toContain(
    "Merged 1 commit into main",
  );
  expect(await readFile(`${machine.project}/a.txt`, "utf8")).toBe("one\ntwo\n");
  expect((await machine.run(["sessions", "worktrees", "merge", session, "--undo"])).code).toBe(0);
  expect(await machine.git("rev-parse", "main")).toBe(first);
  await server.stop();
  expect((await machine.run(["sessions", "worktrees", "patch", "last"])).stdout).toContain("Changed 2 files");
  expect(await readdir(machine.project)).toContain("loose");
  expect((await machine.run(["sessions", "worktrees", "patch", "last", "--undo"])).code).toBe(0);
  expect(await machine.git("status", "--porcelain", "--untracked-files=no")).toBe("");

  const kept = await machine.run(["sessions", "worktrees", "remove", session]);
  expect(kept).toMatchObject({ code: 1, stderr: expect.stringContaining("not committed, such as loose") });
  expect(await machine.run(["sessions", "worktrees", "remove", session, "--discard", "--yes"])).toMatchObject({
    code: 0,
  });
  expect(await machine.git("worktree", "list")).not.toContain(session);
  expect(await machine.git("branch", "--list", "tandem/fix-it")).toContain("fix-it");

  const listed = await machine.run(["audit", "list", "--json", "--session", session, "--limit", "100"]);
  const { entries } = JSON.parse(listed.stdout) as { entries: { kind: string; actor: string }[] };
  const kinds = entries.map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining([
      "session.created",
      "message.sent",
      "call.requested",
      "worktree.merged",
      "worktree.removed",
    ]),
  );
  const sender = entries.find(({ kind }) => kind === "message.sent")!.actor;
  expect(sender).toMatch(/^(?!local:|unknown)./);

  expect((await machine.run(["audit", "export", "-o", "audit.jsonl"])).code).toBe(0);
  expect(await machine.run(["audit", "verify", "audit.jsonl"])).toMatchObject({ code: 0 });
  expect(await machine.run(["audit", "verify", "--against", "audit.jsonl"])).toMatchObject({ code: 0 });
  const lines = (await readFile(`${machine.project}/audit.jsonl`, "utf8")).split("\n");
  await writeFile(`${machine.project}/cut.jsonl`, lines.toSpliced(3, 1).join("\n"));
  const broken = await machine.run(["audit", "verify", "cut.jsonl"]);
  expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining("Entry 3 is missing") });
});

test("reports the last lines of a failed setup, before any model request", async () => {
  await using machine = await machineWithRepository(`worktrees: { setup: "echo no network; exit 9" }`);
  const { code, stderr } = await machine.run(["run", "--worktree", "Do the work, please"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/ended with 9.*no network/s) });
  expect(machine.rehearsal.modelRequests).toEqual([]);
  expect(await machine.git("branch", "--list", "tandem/*")).toBe("");
});

test("a fork uses its own worktree, and the session stays unchanged", async () => {
  await using machine = await machineWithRepository("");
  const first = await machine.run(["run", "--allow", "bash", "--json", "Work"]);
  const { session_id: parent } = JSON.parse(first.stdout) as { session_id: string };
  const before = (await machine.run(["sessions", "export", parent])).stdout;
  const wrong = await machine.run(["run", "--fork", parent, "--cwd", ".", "hi"]);
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--cwd cannot be given together with --fork"),
  });
  const forked = await machine.run([
    "run",
    "--fork",
    parent,
    "--worktree",
    "--json",
    "--allow",
    "bash",
    "Go on, please",
  ]);
  const { session_id: fork } = JSON.parse(forked.stdout) as { session_id: string };
  expect(fork).not.toBe(parent);
  expect(machine.rehearsal.modelRequests.at(-1)!.messages.length).toBeGreaterThan(2);
  expect((await machine.run(["sessions", "export", parent])).stdout).toBe(before);
  expect((await machine.run(["sessions", "worktrees", "list"])).stdout).toContain(fork);
  const listed = await machine.run(["audit", "list", "--json", "--session", fork, "--limit", "100"]);
  const { entries } = JSON.parse(listed.stdout) as { entries: { kind: string; actor: string }[] };
  // The fork's history belongs to the parent.
  expect(entries.filter(({ kind }) => kind === "message.sent")).toHaveLength(1);
  expect(entries.at(-1)).toMatchObject({ kind: "session.forked", actor: expect.stringMatching(/^local:/) });
});
