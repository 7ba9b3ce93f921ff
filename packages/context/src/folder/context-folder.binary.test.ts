import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openContextFolder } from "./open-context-folder.ts";

const run = promisify(execFile);

async function scratchFolder() {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-folder-")));
  const git = async (where: string, ...args: string[]): Promise<string> => {
    const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_OPTIONAL_LOCKS: "0" };
    return (await run("git", [...who, ...args], { cwd: join(path, where), env })).stdout;
  };
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  };
  return {
    path,
    at: (name: string) => join(path, name),
    git,
    write,
    read: (name: string) => readFile(join(path, name), "utf8"),
    open: (kind: "own" | "project" = "own") =>
      openContextFolder({ path: join(path, "project/context"), git: kind, scratch: join(path, "scratch") }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

const OURS = { subject: "Add pages", trailers: { "Tandem-Proposal": "prop_1" } };
const adding = (path: string, content: string) => ({ path, expected: null, content });

/** Of two writers at once. */
const WRITES = inject("soak") ? 12 : 4;

describe.each(["own", "project"] as const)("a context with git: %s", (kind) => {
  /** Shared by the tests of this kind, each with its own files. */
  let at: Awaited<ReturnType<typeof scratchFolder>>;
  let folder: Awaited<ReturnType<typeof at.open>>;
  beforeAll(async () => {
    at = await begun();
    folder = await at.open(kind);
  });
  afterAll(() => at[Symbol.asyncDispose]());

  async function begun() {
    const made = await scratchFolder();
    await made.write("project/readme.md", "hello\n");
    await made.git("project", "init", "--quiet");
    await made.git("project", "add", "--all");
    await made.git("project", "commit", "--quiet", "--message", "First");
    return made;
  }

  it("is created on first use and keeps its id", async () => {
    expect(folder.id).toMatch(/^ctx_/);
    expect(await at.read("project/context/context.yaml")).toContain(folder.id);
    expect((await at.open(kind)).id).toBe(folder.id);
    expect(await folder.list()).toContain("context.yaml");
  });

  it("writes, changes and removes files as commits", async () => {
    const text = "# Rückgaben\r\n\r\n退款\r\n";
    const first = await folder.commit([adding("wiki/new/a b.md", text), adding("wiki/new/sub/ü.md", "x\n")], OURS);
    expect(await at.read("project/context/wiki/new/a b.md")).toBe(text);
    expect(await folder.list("wiki/new/")).toEqual(["wiki/new/a b.md", "wiki/new/sub/ü.md"]);
    expect(await folder.head()).toBe(first);
    const second = await folder.commit([{ path: "wiki/new/sub/ü.md", expected: "x\n", content: null }], OURS);
    expect(await folder.list("wiki/new/")).toEqual(["wiki/new/a b.md"]);
    expect((await folder.log(10)).map(({ commit, proposal }) => [commit, proposal]).slice(0, 2)).toEqual([
      [second, "prop_1"],
      [first, "prop_1"],
    ]);
  });

  it("writes nothing if one file has unexpected content", async () => {
    await at.write("project/context/wiki/none/b.md", "a person's\n");
    const head = await folder.head();
    const both = [adding("wiki/none/a.md", "ours\n"), adding("wiki/none/b.md", "ours\n")];
    await expect(folder.commit(both, OURS)).rejects.toMatchObject({ code: "conflict", message: /wiki\/none\/b\.md/ });
    expect(await folder.read("wiki/none/a.md")).toBeUndefined();
    expect(await folder.head()).toBe(head);
  });

  it("commits people's changes separately, and knows the author of each line", async () => {
    const [a, b, c] = ["wiki/lines/a.md", "wiki/lines/b.md", "wiki/lines/c.md"] as const;
    await folder.commit([adding(a, "one\ntwo\nthree\n"), adding(b, "ours\n")], OURS);
    await at.write(`project/context/${a}`, "one\nZWEI\nthree\n");
    // A person's text in a proposal is theirs as well.
    const trailers = { ...OURS.trailers, "Words-By": "Ann" };
    await folder.commit([adding(c, "hers\n")], { subject: "Add hers", trailers });
    await folder.commit([{ path: a, expected: "one\nZWEI\nthree\n", content: "one\nZWEI\nthree\nfour\n" }], OURS);
    expect((await folder.log(10)).map(({ subject }) => subject).slice(0, 4)).toEqual([
      "Add pages",
      "Add hers",
      "Edited by hand",
      "Add pages",
    ]);
    expect(await folder.handLines([a, b, c, "wiki/none.md"])).toEqual(
      new Map([
        [a, new Set([2])],
        [c, new Set([1])],
      ]),
    );
  });

  it("reverts a commit around later changes, or rejects", async () => {
    const path = "wiki/revert/a.md";
    await folder.commit([adding(path, "one\ntwo\nthree\n")], OURS);
    const changed = { path, expected: "one\ntwo\nthree\n", content: "one\nTWO\nthree\n" };
    const commit = await folder.commit([changed, adding("wiki/revert/new.md", "new\n")], OURS);
    await at.write(`project/context/${path}`, "one\nTWO\nthree\nfour\n");
    await folder.revert(commit);
    expect(await folder.read(path)).toBe("one\ntwo\nthree\nfour\n");
    expect(await folder.read("wiki/revert/new.md")).toBeUndefined();
    const again = await folder.commit([{ ...changed, expected: "one\ntwo\nthree\nfour\n" }], OURS);
    await at.write(`project/context/${path}`, "one\nTwo, she said\nthree\n");
    await expect(folder.revert(again)).rejects.toMatchObject({ code: "conflict" });
    expect(await folder.read(path)).toBe("one\nTwo, she said\nthree\n");
  });

  it("creates private copies, and removes those of dead processes", async () => {
    await folder.commit([adding("wiki/copy/a.md", "a\n"), adding("catalogue/shop/main.t.yaml", "x: 1\n")], OURS);
    const before = await folder.head();
    {
      await using copy = await folder.worktree("unit: wiki/a", { under: ["wiki/"] });
      expect(await readdir(copy.path)).toEqual(["wiki"]);
      await writeFile(join(copy.path, "wiki/copy/a.md"), "changed\n");
      await writeFile(join(copy.path, "wiki/copy/b.md"), "new\n");
      expect(await copy.changes()).toEqual([
        { path: "wiki/copy/a.md", expected: "a\n", content: "changed\n" },
        { path: "wiki/copy/b.md", expected: null, content: "new\n" },
      ]);
    }
    expect(await readdir(at.at(`scratch/${folder.id}`))).toEqual([]);
    expect([await folder.head(), await folder.read("wiki/copy/a.md")]).toEqual([before, "a\n"]);
    // A process that has just ended: its number is not in use.
    const dead = spawnSync("true").pid;
    await mkdir(at.at(`scratch/${folder.id}/${dead}-left`));
    await at.open(kind);
    expect(await readdir(at.at(`scratch/${folder.id}`))).toEqual([]);
  });

  it("rejects paths out of the folder, and links", async () => {
    const listed = await folder.list();
    await at.write("secret.md", "secret\n");
    for (const path of [
      "../readme.md",
      "wiki/../../readme.md",
      "/etc/passwd",
      "wiki/.git/x",
      "readme.md",
      "wiki\\x.md",
      "wiki/\n",
    ]) {
      await expect(folder.read(path), path).rejects.toMatchObject({ code: "invalid_request" });
      await expect(folder.commit([adding(path, "x")], OURS), path).rejects.toMatchObject({ code: "invalid_request" });
    }
    await mkdir(at.at("project/context/wiki"), { recursive: true });
    await symlink(at.at("secret.md"), at.at("project/context/wiki/link.md"));
    await symlink(at.path, at.at("project/context/wiki/out"));
    await expect(folder.read("wiki/link.md")).rejects.toMatchObject({ code: "forbidden" });
    await expect(folder.read("wiki/out/secret.md")).rejects.toMatchObject({ code: "forbidden" });
    await expect(folder.commit([adding("wiki/out/new.md", "x")], OURS)).rejects.toMatchObject({ code: "forbidden" });
    expect(await folder.list()).toEqual(listed);
    expect(await at.read("secret.md")).toBe("secret\n");
    await rm(at.at("project/context/wiki/link.md"));
    await rm(at.at("project/context/wiki/out"));
  });

  it("completes a dead process's commit without losing a person's line", async () => {
    const [a, b] = ["wiki/dead/a.md", "wiki/dead/b.md"];
    const base = await folder.commit([adding(a, "a\n"), adding(b, "b\n")], OURS);
    const made = await folder.commit(
      [
        { path: a, expected: "a\n", content: "A\n" },
        { path: b, expected: "b\n", content: "B\n" },
      ],
      OURS,
    );
    // Simulates a process that died after writing one of two files, while a person saved the other.
    const repository = kind === "own" ? "project/context" : "project";
    const ref = kind === "own" ? "refs/heads/main" : "refs/tandem/context";
    await at.git(repository, "update-ref", "refs/tandem/context-pending", made);
    await at.git(repository, "update-ref", ref, base);
    await at.write(`project/context/${b}`, "hers\n");
    await at.write(`project/context/${a}`, "a\n");
    const again = await at.open(kind);
    expect(await again.read(a)).toBe("A\n");
    expect(await again.read(b)).toBe("hers\n");
    expect((await again.log(3)).map(({ subject }) => subject)).toEqual(["Edited by hand", "Add pages", "Add pages"]);
    expect(await again.handLines([a, b])).toEqual(new Map([[b, new Set([1])]]));
    await expect(at.git(repository, "rev-parse", "--verify", "refs/tandem/context-pending")).rejects.toThrow(
      "Command failed",
    );
  });

  it("serialises two writers without losing changes", async () => {
    const folders = await Promise.all([at.open(kind), at.open(kind)]);
    const paths = Array.from({ length: WRITES }, (_, i) => `wiki/two/${i}.md`);
    const made = await Promise.all(paths.map((path, i) => folders[i % 2]!.commit([adding(path, `${i}\n`)], OURS)));
    expect((await folders[0].list("wiki/two/")).length).toBe(WRITES);
    const log = (await folders[0].log(50)).map(({ commit }) => commit);
    expect(log).toEqual(expect.arrayContaining(made));
  });

  it("is consistent after a kill at any moment, and attributes nothing to a person", async () => {
    await using own = await begun();
    await own.open(kind);
    const rounds = kind === "own" ? [3] : [0];
    for (const round of inject("soak") ? [0, 1, 2, 3, 4, 5] : rounds) {
      const script = fileURLToPath(new URL("testing/committing-process.ts", import.meta.url));
      const child = spawn(process.execPath, [script, own.at("project/context"), kind], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await sleep(40 * round);
      child.kill("SIGKILL");
      await once(child, "exit");
      const opened = await own.open(kind);
      // A git process of the killed one may still be running: its commit must not come between the reads.
      const read = async () => {
        const [last] = await opened.log(1);
        const [a, b] = [await opened.read("wiki/a.md"), await opened.read("wiki/b.md")];
        return { last, a, b, isSettled: (await opened.head()) === last?.commit };
      };
      let state = await read();
      while (!state.isSettled) state = await read();
      const { last, a, b } = state;
      expect(a).toMatch(/^\d+\n$/);
      expect(b).toBe(a);
      expect(last!.subject).toBe(`Count ${a!.trim()}`);
      expect(await opened.handLines(["wiki/a.md", "wiki/b.md"])).toEqual(new Map());
    }
  });
});

it("does not take over a foreign folder", async () => {
  await using at = await scratchFolder();
  await at.write("project/context/provider.tsx", "export {};\n");
  await expect(at.open("own")).rejects.toMatchObject({
    code: "context_invalid",
    fix: expect.stringContaining("context.folder"),
  });
  await at.git("project", "init", "--quiet");
  await expect(at.open("project")).rejects.toMatchObject({ code: "context_invalid" });
  expect(await readdir(at.at("project/context"))).toEqual(["provider.tsx"]);
});

describe("the user's own git", () => {
  it("sees only the files of a context in the project's repository", async () => {
    await using at = await scratchFolder();
    await at.write("project/readme.md", "hello\n");
    await at.write("project/staged.md", "staged\n");
    await at.git("project", "init", "--quiet");
    await at.git("project", "add", "readme.md");
    await at.git("project", "commit", "--quiet", "--message", "First");
    await at.git("project", "add", "staged.md");
    await at.write("project/context/wiki/mine.md", "mine\n");
    await at.git("project", "add", "context/wiki/mine.md");
    await at.git("project", "stash", "push", "--quiet", "--keep-index");
    await at.git("project", "stash", "apply", "--quiet");
    const seen = async () => ({
      index: await readFile(at.at("project/.git/index")),
      status: (await at.git("project", "status", "--porcelain"))
        .split("\n")
        .filter((line) => !line.includes("context/")),
      refs: (await at.git("project", "for-each-ref")).split("\n").filter((line) => !line.includes("refs/tandem/")),
      head: await at.read("project/.git/HEAD"),
    });
    const before = await seen();
    const folder = await at.open("project");
    await folder.commit([adding("wiki/ours.md", "ours\n")], OURS);
    await folder.commit([{ path: "wiki/mine.md", expected: "mine\n", content: "mine\nand ours\n" }], OURS);
    expect(await seen()).toEqual(before);
    expect(await at.git("project", "ls-tree", "-r", "--name-only", "refs/tandem/context")).toBe(
      "context.yaml\nwiki/mine.md\nwiki/ours.md\n",
    );
  });

  it("sees a clean context repository, and keeps what was staged", async () => {
    await using at = await scratchFolder();
    const folder = await at.open("own");
    await folder.commit([adding("wiki/a.md", "a\n"), adding("wiki/b.md", "b\n")], OURS);
    expect(await at.git("project/context", "status", "--porcelain")).toBe("");
    // Staged one version and saved another: the index keeps the first.
    await at.write("project/context/wiki/a.md", "staged\n");
    await at.git("project/context", "add", "wiki/a.md");
    await at.write("project/context/wiki/a.md", "saved\n");
    await at.write("project/context/notes.txt", "not ours\n");
    await folder.commit([{ path: "wiki/b.md", expected: "b\n", content: "B\n" }], OURS);
    expect(await at.git("project/context", "show", ":wiki/a.md")).toBe("staged\n");
    expect(await at.git("project/context", "show", ":wiki/b.md")).toBe("B\n");
    expect(await at.git("project/context", "status", "--porcelain")).toBe("MM wiki/a.md\n?? notes.txt\n");
  });

  it("may commit there itself, and amend our commits; ours follow, and its changes are its own", async () => {
    await using at = await scratchFolder();
    const folder = await at.open("own");
    await folder.commit([adding("wiki/a.md", "a\n")], OURS);
    await at.write("project/context/wiki/a.md", "hers\n");
    await at.git("project/context", "commit", "--quiet", "--all", "--message", "Hers");
    await folder.commit([adding("wiki/b.md", "b\n")], OURS);
    expect((await folder.log(3)).map(({ subject }) => subject)).toEqual(["Add pages", "Hers", "Add pages"]);
    expect((await folder.handLines(["wiki/a.md"])).get("wiki/a.md")).toEqual(new Set([1]));
    // Its changes within our commit are its own.
    await at.write("project/context/wiki/b.md", "b\nhers\n");
    await at.git("project/context", "commit", "--quiet", "--all", "--amend", "--no-edit");
    expect((await folder.handLines(["wiki/b.md"])).get("wiki/b.md")).toContain(2);
    await at.git("project/context", "checkout", "--quiet", "--detach");
    await expect(folder.commit([adding("wiki/c.md", "c\n")], OURS)).rejects.toMatchObject({ fix: /git switch main/ });
  });

  it("is required for a context in the project's repository", async () => {
    await using at = await scratchFolder();
    await expect(at.open("project")).rejects.toMatchObject({ code: "invalid_request", fix: /context\.git to own/ });
  });
});
