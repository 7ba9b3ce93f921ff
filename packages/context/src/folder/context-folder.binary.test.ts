import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, inject, it } from "vitest";
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
const WRITES = inject("soak") ? 12 : 6;

describe.each(["own", "project"] as const)("a context with git: %s", (kind) => {
  async function begun() {
    const at = await scratchFolder();
    await at.write("project/readme.md", "hello\n");
    await at.git("project", "init", "--quiet");
    await at.git("project", "add", "--all");
    await at.git("project", "commit", "--quiet", "--message", "First");
    return at;
  }

  it("is created on first use and keeps its id", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    expect(folder.id).toMatch(/^ctx_/);
    expect(await at.read("project/context/context.yaml")).toContain(folder.id);
    expect((await at.open(kind)).id).toBe(folder.id);
    expect(await folder.list()).toEqual(["context.yaml"]);
  });

  it("does not take over a foreign folder", async () => {
    await using at = await begun();
    await at.write("project/context/provider.tsx", "export {};\n");
    await expect(at.open(kind)).rejects.toMatchObject({
      code: "context_invalid",
      fix: expect.stringContaining("context.folder"),
    });
    expect(await readdir(at.at("project/context"))).toEqual(["provider.tsx"]);
  });

  it("writes, changes and removes files as commits", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    const text = "# Rückgaben\r\n\r\n退款\r\n";
    const first = await folder.commit([adding("wiki/a b.md", text), adding("wiki/sub/ü.md", "x\n")], OURS);
    expect(await at.read("project/context/wiki/a b.md")).toBe(text);
    expect(await folder.list("wiki/")).toEqual(["wiki/a b.md", "wiki/sub/ü.md"]);
    expect(await folder.head()).toBe(first);
    const second = await folder.commit([{ path: "wiki/sub/ü.md", expected: "x\n", content: null }], OURS);
    expect(await folder.list("wiki/")).toEqual(["wiki/a b.md"]);
    expect((await folder.log(10)).map(({ commit, proposal }) => [commit, proposal]).slice(0, 2)).toEqual([
      [second, "prop_1"],
      [first, "prop_1"],
    ]);
  });

  it("writes nothing if one file has unexpected content", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    await at.write("project/context/wiki/b.md", "a person's\n");
    const head = await folder.head();
    const both = [adding("wiki/a.md", "ours\n"), adding("wiki/b.md", "ours\n")];
    await expect(folder.commit(both, OURS)).rejects.toMatchObject({ code: "conflict", message: /wiki\/b\.md/ });
    expect(await folder.read("wiki/a.md")).toBeUndefined();
    expect(await folder.head()).toBe(head);
  });

  it("commits people's changes separately, and knows the author of each line", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    await folder.commit([adding("wiki/a.md", "one\ntwo\nthree\n"), adding("wiki/b.md", "ours\n")], OURS);
    await at.write("project/context/wiki/a.md", "one\nZWEI\nthree\n");
    await folder.commit(
      [{ path: "wiki/a.md", expected: "one\nZWEI\nthree\n", content: "one\nZWEI\nthree\nfour\n" }],
      OURS,
    );
    expect((await folder.log(10)).map(({ subject }) => subject).slice(0, 3)).toEqual([
      "Add pages",
      "Edited by hand",
      "Add pages",
    ]);
    expect(await folder.handLines(["wiki/a.md", "wiki/b.md", "wiki/none.md"])).toEqual(
      new Map([["wiki/a.md", new Set([2])]]),
    );
  });

  it("treats a person's text in a proposal as theirs", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    const trailers = { ...OURS.trailers, "Words-By": "Ann" };
    await folder.commit([adding("wiki/a.md", "hers\n")], { subject: "Add", trailers });
    expect((await folder.handLines(["wiki/a.md"])).get("wiki/a.md")).toEqual(new Set([1]));
  });

  it("reverts a commit around later changes, or rejects", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    await folder.commit([adding("wiki/a.md", "one\ntwo\nthree\n")], OURS);
    const changed = { path: "wiki/a.md", expected: "one\ntwo\nthree\n", content: "one\nTWO\nthree\n" };
    const commit = await folder.commit([changed, adding("wiki/new.md", "new\n")], OURS);
    await at.write("project/context/wiki/a.md", "one\nTWO\nthree\nfour\n");
    await folder.revert(commit);
    expect(await folder.read("wiki/a.md")).toBe("one\ntwo\nthree\nfour\n");
    expect(await folder.read("wiki/new.md")).toBeUndefined();
    const again = await folder.commit([{ ...changed, expected: "one\ntwo\nthree\nfour\n" }], OURS);
    await at.write("project/context/wiki/a.md", "one\nTwo, she said\nthree\n");
    await expect(folder.revert(again)).rejects.toMatchObject({ code: "conflict" });
    expect(await folder.read("wiki/a.md")).toBe("one\nTwo, she said\nthree\n");
  });

  it("creates private copies, and removes those of dead processes", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    await folder.commit([adding("wiki/a.md", "a\n"), adding("catalogue/shop/main.t.yaml", "x: 1\n")], OURS);
    const before = await folder.head();
    {
      await using copy = await folder.worktree("unit: wiki/a", { under: ["wiki/"] });
      expect(await readdir(copy.path)).toEqual(["wiki"]);
      await writeFile(join(copy.path, "wiki/a.md"), "changed\n");
      await writeFile(join(copy.path, "wiki/b.md"), "new\n");
      expect(await copy.changes()).toEqual([
        { path: "wiki/a.md", expected: "a\n", content: "changed\n" },
        { path: "wiki/b.md", expected: null, content: "new\n" },
      ]);
    }
    expect(await readdir(at.at(`scratch/${folder.id}`))).toEqual([]);
    expect([await folder.head(), await folder.read("wiki/a.md")]).toEqual([before, "a\n"]);
    const dead = (await run(process.execPath, ["-p", "process.pid"])).stdout.trim();
    await mkdir(at.at(`scratch/${folder.id}/${dead}-left`));
    await at.open(kind);
    expect(await readdir(at.at(`scratch/${folder.id}`))).toEqual([]);
  });

  it("rejects paths out of the folder, and links", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
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
    await mkdir(at.at("project/context/wiki"));
    await symlink(at.at("secret.md"), at.at("project/context/wiki/link.md"));
    await symlink(at.path, at.at("project/context/wiki/out"));
    await expect(folder.read("wiki/link.md")).rejects.toMatchObject({ code: "forbidden" });
    await expect(folder.read("wiki/out/secret.md")).rejects.toMatchObject({ code: "forbidden" });
    await expect(folder.commit([adding("wiki/out/new.md", "x")], OURS)).rejects.toMatchObject({ code: "forbidden" });
    expect(await folder.list()).toEqual(["context.yaml"]);
    expect(await at.read("secret.md")).toBe("secret\n");
  });

  it("completes a dead process's commit without losing a person's line", async () => {
    await using at = await begun();
    const folder = await at.open(kind);
    const base = await folder.commit([adding("wiki/a.md", "a\n"), adding("wiki/b.md", "b\n")], OURS);
    const made = await folder.commit(
      [
        { path: "wiki/a.md", expected: "a\n", content: "A\n" },
        { path: "wiki/b.md", expected: "b\n", content: "B\n" },
      ],
      OURS,
    );
    // Simulates a process that died after writing one of two files, while a person saved the other.
    const repository = kind === "own" ? "project/context" : "project";
    const ref = kind === "own" ? "refs/heads/main" : "refs/tandem/context";
    await at.git(repository, "update-ref", "refs/tandem/context-pending", made);
    await at.git(repository, "update-ref", ref, base);
    await at.write("project/context/wiki/b.md", "hers\n");
    await at.write("project/context/wiki/a.md", "a\n");
    const again = await at.open(kind);
    expect(await again.read("wiki/a.md")).toBe("A\n");
    expect(await again.read("wiki/b.md")).toBe("hers\n");
    expect((await again.log(3)).map(({ subject }) => subject)).toEqual(["Edited by hand", "Add pages", "Add pages"]);
    expect(await again.handLines(["wiki/a.md", "wiki/b.md"])).toEqual(new Map([["wiki/b.md", new Set([1])]]));
    await expect(at.git(repository, "rev-parse", "--verify", "refs/tandem/context-pending")).rejects.toThrow(
      "Command failed",
    );
  });

  it("is consistent after a kill at any moment, and attributes nothing to a person", async () => {
    await using at = await begun();
    await at.open(kind);
    for (const round of inject("soak") ? [0, 1, 2, 3, 4, 5] : [0, 3]) {
      const script = fileURLToPath(new URL("testing/committing-process.ts", import.meta.url));
      const child = spawn(process.execPath, [script, at.at("project/context"), kind], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await sleep(40 * round);
      child.kill("SIGKILL");
      await once(child, "exit");
      const folder = await at.open(kind);
      // Open first: a git process of the killed one may still be running, and its result is picked up on the next read.
      const [last] = await folder.log(1);
      const [a, b] = [await folder.read("wiki/a.md"), await folder.read("wiki/b.md")];
      expect(a).toMatch(/^\d+\n$/);
      expect(b).toBe(a);
      expect(last!.subject).toBe(`Count ${a!.trim()}`);
      expect(await folder.handLines(["wiki/a.md", "wiki/b.md"])).toEqual(new Map());
    }
  });

  it("serialises two writers without losing changes", async () => {
    await using at = await begun();
    const folders = await Promise.all([at.open(kind), at.open(kind)]);
    const paths = Array.from({ length: WRITES }, (_, i) => `wiki/${i}.md`);
    await Promise.all(paths.map((path, i) => folders[i % 2]!.commit([adding(path, `${i}\n`)], OURS)));
    expect((await folders[0].list("wiki/")).length).toBe(WRITES);
    expect((await folders[0].log(50)).filter(({ proposal }) => proposal !== null).length).toBe(WRITES);
  });
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

  it("owns its changes within our commit", async () => {
    await using at = await scratchFolder();
    const folder = await at.open("own");
    await folder.commit([adding("wiki/a.md", "ours\n")], OURS);
    await at.write("project/context/wiki/a.md", "ours\nhers\n");
    await at.git("project/context", "commit", "--quiet", "--all", "--amend", "--no-edit");
    expect((await folder.handLines(["wiki/a.md"])).get("wiki/a.md")).toContain(2);
  });

  it("may commit there itself, and ours follow", async () => {
    await using at = await scratchFolder();
    const folder = await at.open("own");
    await folder.commit([adding("wiki/a.md", "a\n")], OURS);
    await at.write("project/context/wiki/a.md", "hers\n");
    await at.git("project/context", "commit", "--quiet", "--all", "--message", "Hers");
    await folder.commit([adding("wiki/b.md", "b\n")], OURS);
    expect((await folder.log(3)).map(({ subject }) => subject)).toEqual(["Add pages", "Hers", "Add pages"]);
    expect((await folder.handLines(["wiki/a.md"])).get("wiki/a.md")).toEqual(new Set([1]));
    await at.git("project/context", "checkout", "--quiet", "--detach");
    await expect(folder.commit([adding("wiki/c.md", "c\n")], OURS)).rejects.toMatchObject({ fix: /git switch main/ });
  });

  it("is required for a context in the project's repository", async () => {
    await using at = await scratchFolder();
    await expect(at.open("project")).rejects.toMatchObject({ code: "invalid_request", fix: /context\.git to own/ });
  });
});
