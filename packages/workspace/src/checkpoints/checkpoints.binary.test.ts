import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { asUser, commitAll } from "../testing/commit.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.ts";
import { CheckpointStores, type CheckpointLimits } from "./checkpoint-stores.ts";
import type { Checkpoint, CheckpointStore } from "./checkpoint-store.ts";
import { folderSignature } from "./folder-signature.ts";

const LIMITS: CheckpointLimits = {
  maxFiles: 1_000,
  maxFileBytes: 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  keepMs: 60_000,
};
const WHOLE = { patch: true, maxFiles: 100, maxPatchBytes: 1024 * 1024 };

let root: TemporaryFolder;
let folder: string;
let store: CheckpointStore;
beforeEach(async () => {
  root = await temporaryFolder();
  folder = root.at("work");
  await mkdir(folder);
  store = await new CheckpointStores(root.at("checkpoints"), LIMITS).of(folder);
});
afterEach(() => root[Symbol.asyncDispose]());

const write = (files: Record<string, string | Uint8Array>) =>
  root.write(Object.fromEntries(Object.entries(files).map(([name, content]) => [`work/${name}`, content])));
const read = (path: string) => readFile(join(folder, path), "utf8");
const remove = (path: string) => rm(join(folder, path), { recursive: true });

async function restore(target: Checkpoint, paths: string[]): Promise<Checkpoint> {
  const present = await store.take("tester", "test");
  return store.restore("tester", "test", { present, target, paths: new Set(paths) });
}
const pathsBetween = async (from: Checkpoint, to: Checkpoint) =>
  (await store.changes(from, to)).map(({ path }) => path).sort();

describe("a checkpoint", () => {
  test("restores deleted, changed, created, moved, linked and executable files in a folder without git", async () => {
    await write({ "a.txt": "one\n", "deep/er/b.txt": "two\n", "c.sh": "echo\n", "e.txt": "end\r\nof\r\n" });
    await symlink("a.txt", join(folder, "link"));
    const before = await store.take("tester", "test");
    await remove("a.txt");
    await remove("deep");
    await remove("link");
    await write({ link: "not a link", "new/file.txt": "new", "e.txt": "end\nof\n" });
    await chmod(join(folder, "c.sh"), 0o755);
    const after = await store.take("tester", "test");
    const touched = await pathsBetween(before, after);
    expect(touched).toEqual(["a.txt", "c.sh", "deep/er/b.txt", "e.txt", "link", "new/file.txt"]);
    await restore(before, touched);
    expect(await read("a.txt")).toBe("one\n");
    expect(await read("deep/er/b.txt")).toBe("two\n");
    expect(await read("e.txt")).toBe("end\r\nof\r\n");
    expect(await readlink(join(folder, "link"))).toBe("a.txt");
    expect((await lstat(join(folder, "c.sh"))).mode & 0o111).toBe(0);
    expect(existsSync(join(folder, "new"))).toBe(false);
    await restore(after, touched);
    expect(await read("link")).toBe("not a link");
    expect(existsSync(join(folder, "a.txt"))).toBe(false);
  });

  test("is readable by its owner only, also if an earlier version made it", async () => {
    await write({ "secret.env": "KEY=1\n" });
    await store.take("tester", "test");
    const files = async (place: string) =>
      (await readdir(place, { recursive: true, withFileTypes: true })).map((entry) =>
        join(entry.parentPath, entry.name),
      );
    const kept = root.at("checkpoints");
    for (const path of await files(kept)) {
      if (path.includes("/objects/")) await chmod(path, (await lstat(path)).mode | 0o044);
    }
    for (const made of (await files(kept)).filter((path) => path.includes("tandem-checkpoints-"))) await rm(made);
    await write({ "secret.env": "KEY=2\n" });
    await store.take("tester", "test");
    const open = [];
    for (const path of await files(kept)) if ((await lstat(path)).mode & 0o077) open.push(path);
    expect(open).toEqual([]);
  });

  test("restores only the given paths", async () => {
    await write({ "mine.txt": "1", "yours.txt": "1" });
    const before = await store.take("tester", "test");
    await write({ "mine.txt": "2", "yours.txt": "2" });
    await restore(before, ["mine.txt"]);
    expect([await read("mine.txt"), await read("yours.txt")]).toEqual(["1", "2"]);
  });

  test("restores files that were touched, or copied from a backup, without a change of their content", async () => {
    await write({ "changed.txt": "1", "same.txt": "1" });
    const before = await store.take("tester", "test");
    await write({ "changed.txt": "2" });
    await store.take("tester", "test");
    for (const name of ["changed.txt", "same.txt"]) await utimes(join(folder, name), 1, 1);
    await restore(before, ["changed.txt"]);
    expect([await read("changed.txt"), await read("same.txt")]).toEqual(["1", "1"]);
  });

  test("restores a file replaced by a folder, and the reverse", async () => {
    await write({ "x/y.txt": "inner", z: "file" });
    const before = await store.take("tester", "test");
    await remove("x");
    await remove("z");
    await write({ x: "file now", "z/inner.txt": "inner now" });
    const touched = await pathsBetween(before, await store.take("tester", "test"));
    await restore(before, touched);
    expect([await read("x/y.txt"), await read("z")]).toEqual(["inner", "file"]);
  });

  test("does not write through a link out of the folder", async () => {
    await write({ "d/secret.txt": "inside" });
    const before = await store.take("tester", "test");
    await mkdir(root.at("outside"));
    await writeFile(root.at("outside", "secret.txt"), "outside");
    await remove("d");
    await symlink(root.at("outside"), join(folder, "d"));
    await restore(before, await pathsBetween(before, await store.take("tester", "test")));
    expect(await readFile(root.at("outside", "secret.txt"), "utf8")).toBe("outside");
    expect(await read("d/secret.txt")).toBe("inside");
    expect((await lstat(join(folder, "d"))).isDirectory()).toBe(true);
  });

  test("covers small ignored files, but no ignored folders", async () => {
    await write({
      ".gitignore": ".env\ndist/\n",
      ".env": "KEY=1",
      "app/.env": "KEY=2",
      "app/index.js": "",
      "dist/out.js": "built",
      "node_modules/x/index.js": "installed",
    });
    const before = await store.take("tester", "test");
    for (const path of [".env", "app/.env", "dist", "node_modules"]) await remove(path);
    const touched = await pathsBetween(before, await store.take("tester", "test"));
    expect(touched).toEqual([".env", "app/.env"]);
    await restore(before, touched);
    expect(await read(".env")).toBe("KEY=1");
  });

  test("skips and reports large files, and never restores or deletes them", async () => {
    await write({ "big.bin": new Uint8Array(2 * 1024 * 1024), "grows.txt": "small" });
    const before = await store.take("tester", "test");
    expect(before).toMatchObject({ skipped: ["big.bin"], skippedCount: 1 });
    await write({ "grows.txt": new Uint8Array(2 * 1024 * 1024), "other.txt": "o" });
    const after = await store.take("tester", "test");
    expect(after.skipped).toEqual(["big.bin", "grows.txt"]);
    expect(await pathsBetween(before, after)).toEqual(["other.txt"]);
    await restore(before, ["big.bin", "grows.txt", "other.txt"]);
    expect((await lstat(join(folder, "grows.txt"))).size).toBe(2 * 1024 * 1024);
    expect(existsSync(join(folder, "other.txt"))).toBe(false);
  });

  test("rejects a folder with too many files", async () => {
    await write(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}.txt`, "x"])));
    const small = await new CheckpointStores(root.at("other-checkpoints"), { ...LIMITS, maxFiles: 20 }).of(folder);
    await expect(small.take("tester", "test")).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("more than 20 files"),
    });
  });

  test("detects a change of equal length within the same clock tick", async () => {
    for (let round = 0; round < (inject("soak") ? 20 : 4); round += 1) {
      await write({ "same.txt": `${round % 10}` });
      const one = await store.take("tester", "test");
      await write({ "same.txt": `${(round + 1) % 10}` });
      expect(await pathsBetween(one, await store.take("tester", "test"))).toEqual(["same.txt"]);
    }
  });

  test("can be taken concurrently", async () => {
    await write({ "a.txt": "1" });
    const taken = await Promise.all(Array.from({ length: 8 }, () => store.take("tester", "test")));
    expect(new Set(taken.map(({ tree }) => tree)).size).toBe(1);
    expect(await store.list("tester")).toHaveLength(8);
  });
});

describe("in a git repository", () => {
  const fingerprint = async () => ({
    refs: await asUser(folder, "for-each-ref"),
    status: await asUser(folder, "--no-optional-locks", "status", "--porcelain=v2", "--branch"),
    index: await readFile(join(folder, ".git/index"), "base64"),
    config: await read(".git/config"),
    objects: await asUser(folder, "count-objects", "-v"),
  });

  test("leaves the user's refs, index, status, config and objects unchanged", async () => {
    await write({ "a.txt": "1\n", "staged.txt": "1\n" });
    await commitAll(folder, "first");
    await write({ "staged.txt": "2\n" });
    await asUser(folder, "add", "staged.txt");
    await write({ "untracked.txt": "u" });
    const before = await store.take("tester", "test");
    const was = await fingerprint();
    await write({ "a.txt": "changed\n" });
    await remove("untracked.txt");
    await restore(before, await pathsBetween(before, await store.take("tester", "test")));
    expect(await read("untracked.txt")).toBe("u");
    expect(await fingerprint()).toEqual(was);
    expect(before.head).toBe(await asUser(folder, "rev-parse", "HEAD"));
  });

  test("runs no filters, attributes or hooks, and hides nothing from a diff", async () => {
    const trace = root.at("ran");
    await write({ ".gitattributes": "* filter=evil text eol=crlf ident -diff\n", "a.txt": "$Id$\nx\n" });
    await asUser(folder, "init", "--quiet");
    await asUser(folder, "config", "filter.evil.clean", `touch ${trace}; cat`);
    await asUser(folder, "config", "filter.evil.smudge", `touch ${trace}; cat`);
    const before = await store.take("tester", "test");
    await write({ "a.txt": "$Id$\ny\n" });
    const after = await store.take("tester", "test");
    expect((await store.diff(before, after, WHOLE)).files[0]).toMatchObject({ binary: false, added: 1, removed: 1 });
    await restore(before, ["a.txt"]);
    expect(await read("a.txt")).toBe("$Id$\nx\n");
    expect(existsSync(trace)).toBe(false);
  });

  test("leaves nested repositories alone", async () => {
    await write({ "a.txt": "1", "inner/b.txt": "inner" });
    await commitAll(join(folder, "inner"), "inner");
    const before = await store.take("tester", "test");
    expect(before.nested).toEqual(["inner"]);
    await write({ "a.txt": "2", "inner/b.txt": "inner changed" });
    await restore(before, await pathsBetween(before, await store.take("tester", "test")));
    expect([await read("a.txt"), await read("inner/b.txt")]).toEqual(["1", "inner changed"]);
    expect(await asUser(join(folder, "inner"), "status", "--porcelain")).toBe("M b.txt");
  });
});

describe("a diff", () => {
  test("has renames, counts, patches and binary markers", async () => {
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n");
    await write({ "old.txt": long, "gone.txt": "bye\n", "pic.bin": new Uint8Array([0, 1, 2]) });
    const before = await store.take("tester", "test");
    await remove("old.txt");
    await remove("gone.txt");
    await write({ "moved.txt": `${long}\nmore\n`, "pic.bin": new Uint8Array([0, 9]), "ü b.txt": "new\n" });
    const diff = await store.diff(before, await store.take("tester", "test"), WHOLE);
    expect(diff.files).toEqual([
      { path: "gone.txt", status: "deleted", binary: false, added: 0, removed: 1, patch: expect.any(String) },
      {
        path: "moved.txt",
        old_path: "old.txt",
        status: "renamed",
        binary: false,
        added: 2,
        removed: 1,
        patch: expect.stringContaining("rename from old.txt"),
      },
      { path: "pic.bin", status: "modified", binary: true, added: null, removed: null, patch: expect.any(String) },
      { path: "ü b.txt", status: "added", binary: false, added: 1, removed: 0, patch: expect.stringContaining("+new") },
    ]);
    expect(diff).toMatchObject({ added: 3, removed: 2, truncated: false });
  });

  test("respects its limits and reports truncation", async () => {
    const before = await store.take("tester", "test");
    await write({ "a.txt": "a\n".repeat(1_000), "b.txt": "b\n".repeat(1_000), "c.txt": "c\n" });
    const after = await store.take("tester", "test");
    const few = await store.diff(before, after, { ...WHOLE, maxFiles: 2 });
    expect(few.files.map(({ path, patch }) => [path, patch !== undefined])).toEqual([
      ["a.txt", true],
      ["b.txt", true],
    ]);
    expect(few.truncated).toBe(true);
    const short = await store.diff(before, after, { ...WHOLE, maxPatchBytes: 3_500 });
    expect(short.files.map(({ patch }) => patch !== undefined)).toEqual([true, false, false]);
    expect(short).toMatchObject({ truncated: true, added: 2_001 });
  });
});

describe("an unchanged folder", () => {
  const settled = async () => {
    // Until then, a second change could leave the same times.
    await expect.poll(() => folderSignature(folder)).toBeDefined();
    return store.take("tester", "test");
  };

  test("is not read again, and has the same tree for every owner", async () => {
    await write({ "a.txt": "one", "deep/b.txt": "two" });
    const former = await settled();
    await root.write({ "bin/git": '#!/bin/sh\necho "$@" >> "${0}.log"\nPATH=${PATH#*:} exec git "$@"\n' });
    await chmod(root.at("bin/git"), 0o755);
    const path = process.env["PATH"];
    process.env["PATH"] = `${root.at("bin")}:${path}`;
    const again = await store.take("other", "test").finally(() => (process.env["PATH"] = path));
    expect(await readFile(root.at("bin/git.log"), "utf8")).not.toContain("ls-files");
    expect(again).toMatchObject({ owner: "other", tree: former.tree });
    expect(await store.find("other", again.id)).toEqual(again);
  });

  test.each([
    [
      "equal size and time",
      async () => {
        const { atime, mtime } = await lstat(join(folder, "a.txt"));
        await write({ "a.txt": "eno" });
        await utimes(join(folder, "a.txt"), atime, mtime);
      },
    ],
    ["another mode", () => chmod(join(folder, "a.txt"), 0o755)],
    ["a new file", () => write({ "deep/c.txt": "three" })],
    ["a deleted file", () => remove("deep/b.txt")],
  ] as const)("is noticed to have changed: %s", async (_, change) => {
    await write({ "a.txt": "one", "deep/b.txt": "two" });
    const former = await settled();
    await change();
    const after = await store.take("tester", "test");
    expect(after.tree).not.toBe(former.tree);
    expect(await pathsBetween(former, after)).toHaveLength(1);
  });

  test("is noticed to have another HEAD", async () => {
    await write({ "a.txt": "one" });
    await commitAll(folder, "a change");
    const former = await settled();
    await write({ "a.txt": "two" });
    await commitAll(folder, "a change");
    await write({ "a.txt": "one" });
    const after = await store.take("tester", "test");
    expect(after.head).not.toBe(former.head);
  });
});

describe("interruptions", () => {
  test("a killed take does not affect the next one", async () => {
    await write(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}.txt`, `${i}`.repeat(2_000)])));
    for (let round = 0; round < 5; round += 1) {
      const signal = AbortSignal.timeout(5 + round * 10);
      await store.take("tester", "test", signal).catch(() => undefined);
    }
    const { tree } = await store.take("tester", "test");
    const fresh = await new CheckpointStores(root.at("fresh"), LIMITS).of(folder);
    expect(tree).toBe((await fresh.take("tester", "test")).tree);
  });

  test("rebuilds an index whose objects are lost", async () => {
    await write({ "a.txt": "precious" });
    await store.take("tester", "test");
    const [name] = execFileSync("ls", [root.at("checkpoints")], { encoding: "utf8" }).split("\n");
    execFileSync("sh", ["-c", `rm -rf ${root.at("checkpoints", name!, "git/objects")}/[0-9a-f][0-9a-f]`]);
    await write({ "b.txt": "b" });
    const target = await store.take("tester", "test");
    await remove("a.txt");
    await restore(target, ["a.txt"]);
    expect(await read("a.txt")).toBe("precious");
  });

  test("an unsaved file in the way stops a restore before it starts", async () => {
    await write({ "a.txt": "1", out: "a file" });
    const before = await store.take("tester", "test");
    await remove("out");
    await write({ ".gitignore": "out/\n", "a.txt": "2", "out/large.bin": "ignored" });
    await expect(restore(before, ["a.txt", "out"])).rejects.toMatchObject({ code: "conflict" });
    expect([await read("a.txt"), await read("out/large.bin")]).toEqual(["2", "ignored"]);
  });
});

describe("pruning", () => {
  test("drops old checkpoints and frees the disk", async () => {
    const checkpointStores = new CheckpointStores(root.at("checkpoints"), LIMITS);
    await write({ "a.txt": "1" });
    await store.take("tester", "test");
    expect(await checkpointStores.prune()).toMatchObject({ dropped: 0 });
    expect(await checkpointStores.prune(Date.now() + 2 * LIMITS.keepMs)).toEqual({ dropped: 1, bytes: 0 });
    expect((await store.list()).length).toBe(0);
  });

  test("drops the oldest when over the limit, but never an owner's latest", async () => {
    const checkpointStores = new CheckpointStores(root.at("checkpoints"), { ...LIMITS, maxTotalBytes: 1 });
    const same = await checkpointStores.of(folder);
    const taken: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      await write({ "a.txt": String(i) });
      taken.push((await same.take(i === 0 ? "other" : "tester", "test")).id);
    }
    await checkpointStores.prune();
    const kept = (await same.list()).map(({ id }) => id);
    expect(kept).toEqual(expect.arrayContaining([taken[0], ...taken.slice(-4)]));
    expect(kept.length).toBeLessThan(8);
  });
});
