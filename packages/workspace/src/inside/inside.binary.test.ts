import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rename, rm, symlink, truncate } from "node:fs/promises";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listFolder } from "../list-folder.ts";
import { readInside } from "./read-inside.ts";
import { searchFolder } from "../search-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const all = { maxBytes: 1_000_000 };

describe("reading", () => {
  it("returns text as text and other content as base64, and reports truncation", async () => {
    await using tree = await temporaryFolder();
    const bytes = new Uint8Array([0xff, 0xfe, 1, 2]);
    await tree.write({ "a/text": "grüße\n", empty: "", nul: "a\0b", bytes });
    const read = (path: string, maxBytes = 1_000) => readInside(tree.path, path, { maxBytes });
    expect(await read("a/text")).toEqual({ path: "a/text", size: 8, truncated: false, text: "grüße\n" });
    expect(await read("./a/../a//text")).toMatchObject({ path: "a/text", text: "grüße\n" });
    expect(await read("empty")).toEqual({ path: "empty", size: 0, truncated: false, text: "" });
    expect(await read("nul")).toMatchObject({ base64: "YQBi" });
    expect(await read("bytes")).toMatchObject({ base64: Buffer.from(bytes).toString("base64") });
    // The cut splits the ü: it is dropped, and the file is still text.
    expect(await read("a/text", 3)).toEqual({ path: "a/text", size: 8, truncated: true, text: "gr" });
    expect(await read("a/text", 8)).toMatchObject({ truncated: false });
  });

  it("bounds memory for any file size", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ huge: "x" });
    await truncate(tree.at("huge"), 2 ** 40);
    const content = await readInside(tree.path, "huge", { maxBytes: 100_000 });
    expect(content).toMatchObject({ size: 2 ** 40, truncated: true });
    expect("base64" in content && Buffer.from(content.base64, "base64").length).toBe(100_000);
  });

  it("follows links that stay inside", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/a/file": "inside" });
    await symlink("a", tree.at("root/alias"));
    await symlink("../root/a/file", tree.at("root/round-about"));
    expect(await readInside(tree.at("root"), "alias/file", all)).toMatchObject({ path: "alias/file", text: "inside" });
    expect(await readInside(tree.at("root"), "round-about", all)).toMatchObject({ text: "inside" });
  });

  it.each([
    ["missing", "not_found"],
    ["file/below", "not_found"],
    ["folder", "invalid_request"],
    ["", "invalid_request"],
    ["x".repeat(300), "invalid_request"],
  ])("explains what is wrong with %j", async (path, code) => {
    await using tree = await temporaryFolder();
    await tree.write({ file: "", "folder/file": "" });
    await expect(readInside(tree.path, path, all)).rejects.toMatchObject({ code });
  });
});

describe("listing", () => {
  it("lists folders first, then files and links, with sizes", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "src/z": "12345", "src/a/deep": "", "src/.hidden": "1" });
    await symlink("/etc/passwd", tree.at("src/link"));
    expect(await listFolder(tree.path, "src")).toEqual([
      { name: "a", path: "src/a", type: "folder", size: 0 },
      { name: ".hidden", path: "src/.hidden", type: "file", size: 1 },
      { name: "link", path: "src/link", type: "link", size: 0 },
      { name: "z", path: "src/z", type: "file", size: 5 },
    ]);
    for (const root of ["", ".", "./", "src/.."]) {
      expect(await listFolder(tree.path, root)).toEqual([{ name: "src", path: "src", type: "folder", size: 0 }]);
    }
    await expect(listFolder(tree.path, "src/z")).rejects.toMatchObject({ code: "invalid_request" });
    await expect(listFolder(tree.path, "nowhere")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("paths out of the root", () => {
  it.each([
    "..",
    "../secret",
    "a/../../secret",
    "a/../../root-too/secret",
    "/etc/passwd",
    "//etc/passwd",
    "./../secret",
    "link",
    "folder-link/secret",
    "chain",
    "absolute-link",
  ])("rejects %j", async (path) => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/a/file": "", secret: "secret", "root-too/secret": "secret" });
    await symlink("../secret", tree.at("root/link"));
    await symlink("..", tree.at("root/folder-link"));
    await symlink("link", tree.at("root/chain"));
    await symlink(tree.at("secret"), tree.at("root/absolute-link"));
    await expect(readInside(tree.at("root"), path, all)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("are not listed", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/a/file": "", "secret/file": "" });
    await symlink("../secret", tree.at("root/link"));
    for (const path of ["..", "link", "/", tree.at("secret"), "a/../../secret"]) {
      await expect(listFolder(tree.at("root"), path), path).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  it("with a NUL are rejected", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ file: "" });
    await expect(readInside(tree.path, "file\0.txt", all)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(listFolder(tree.path, "\0")).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("include the root itself after it was replaced by a link", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/file": "inside", "secret/file": "secret" });
    await rename(tree.at("root"), tree.at("moved"));
    await symlink(tree.at("secret"), tree.at("root"));
    await expect(readInside(tree.at("root"), "file", all)).rejects.toMatchObject({ code: "forbidden" });
    await expect(listFolder(tree.at("root"), "")).rejects.toMatchObject({ code: "forbidden" });
    expect(await searchFolder(tree.at("root"), { text: "secret", limit: 9 })).toEqual([]);
    expect(await searchFolder(tree.at("root"), { name: "file", limit: 9 })).toEqual([]);
  });
});

describe("special files", () => {
  it("are neither opened nor waited for", async () => {
    await using tree = await temporaryFolder();
    await promisify(execFile)("mkfifo", [tree.at("pipe")]);
    const server = createServer().listen(tree.at("socket"));
    await once(server, "listening");
    await symlink("/dev/zero", tree.at("zero"));
    try {
      for (const path of ["pipe", "socket", "zero"]) {
        await expect(readInside(tree.path, path, all), path).rejects.toMatchObject({ code: "forbidden" });
      }
      expect(await listFolder(tree.path, "")).toEqual([{ name: "zero", path: "zero", type: "link", size: 0 }]);
      expect(await searchFolder(tree.path, { text: "a", limit: 9 })).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe.each(["linux", "darwin"])("a race, as on %s", (platform) => {
  const { platform: real } = process;
  beforeAll(() => void Object.defineProperty(process, "platform", { value: platform }));
  afterAll(() => void Object.defineProperty(process, "platform", { value: real }));

  /** Alternates between two targets of a name as fast as possible, until disposed. */
  async function swapping(folder: string, name: string, targets: [string, string]): Promise<AsyncDisposable> {
    const script = `
      const { renameSync, symlinkSync, rmSync } = require("node:fs");
      const [name, ...targets] = process.argv.slice(1);
      process.stdout.write("ready");
      for (let i = 0; ; i += 1) {
        rmSync(name + ".next", { force: true });
        symlinkSync(targets[i % 2], name + ".next");
        renameSync(name + ".next", name);
      }`;
    const child = spawn(process.execPath, ["-e", script, name, ...targets], {
      cwd: folder,
      env: {},
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    return {
      [Symbol.asyncDispose]: async () => {
        child.kill("SIGKILL");
        await exited;
      },
    };
  }

  const outcomes = async (attempt: () => Promise<string>): Promise<Record<string, number>> => {
    const seen: Record<string, number> = {};
    const until = Date.now() + 15_000;
    // Until both sides of the race were hit many times.
    while (Date.now() < until && ((seen["inside"] ?? 0) < 300 || (seen["forbidden"] ?? 0) < 300)) {
      const outcome = await attempt().catch((error: { code?: string }) => error.code ?? "error");
      seen[outcome] = (seen[outcome] ?? 0) + 1;
    }
    return seen;
  };

  it("for a file never reads outside", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/file": "inside", secret: "SECRET" });
    await symlink("file", tree.at("root/link"));
    await using _ = await swapping(tree.at("root"), "link", ["file", "../secret"]);
    const seen = await outcomes(async () => {
      const content = await readInside(tree.at("root"), "link", all);
      return "text" in content ? content.text : "base64";
    });
    // On other systems than Linux, a replacement may be detected as a conflict.
    const { conflict: _conflict, ...others } = seen;
    expect(Object.keys(platform === "linux" ? seen : others).sort()).toEqual(["forbidden", "inside"]);
  });

  it("for a parent folder never reads outside", async () => {
    await using tree = await temporaryFolder();
    await tree.write({ "root/real/inside": "inside", "out/SECRET": "SECRET" });
    await mkdir(tree.at("root/sub"));
    await rm(tree.at("root/sub"), { recursive: true });
    await symlink("real", tree.at("root/sub"));
    await using _ = await swapping(tree.at("root"), "sub", ["real", "../out"]);
    const seen = await outcomes(async () => (await listFolder(tree.at("root"), "sub")).map(({ name }) => name).join());
    // On other systems than Linux, a replacement may be detected as a conflict.
    const { conflict: _conflict, ...others } = seen;
    expect(Object.keys(platform === "linux" ? seen : others).sort()).toEqual(["forbidden", "inside"]);
  });
});
