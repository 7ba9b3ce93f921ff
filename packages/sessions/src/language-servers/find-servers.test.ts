import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, expect, test } from "vitest";
import { findServers, serverFor } from "./find-servers.ts";
import { FolderChanges } from "./source-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await scratchFolder();
});

async function put(path: string, content = ""): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

async function program(path: string): Promise<string> {
  const file = await put(path, "#!/bin/sh\n");
  await chmod(file, 0o755);
  return file;
}

async function typescript(version: string): Promise<string> {
  const target = await program("node_modules/typescript/bin/tsc");
  await put("node_modules/typescript/package.json", JSON.stringify({ name: "typescript", version }));
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  const link = join(folder, "node_modules/.bin/tsc");
  await symlink(target, link);
  return link;
}

const find = (path = "", configured: Parameters<typeof findServers>[1]["configured"] = []) =>
  findServers(folder, { path, configured });

test("TypeScript from 7 on is its own language server; before that another program is needed", async () => {
  await put("src/deep/a.ts");
  expect(await find()).toEqual([]);
  const tsc = await typescript("7.0.2");
  expect(await find()).toMatchObject([{ name: "typescript", command: tsc, args: ["--lsp", "--stdio"] }]);
  await put("node_modules/typescript/package.json", JSON.stringify({ name: "typescript", version: "5.9.3" }));
  expect(await find()).toEqual([]);
  const server = await program("tools/typescript-language-server");
  expect(await find(dirname(server))).toMatchObject([{ command: server, args: ["--stdio"] }]);
});

test("only servers for files that the folder has are found, and programs in it come first", async () => {
  const elsewhere = await program("elsewhere/pyright-langserver");
  await typescript("7.1.0");
  expect(await find(dirname(elsewhere))).toEqual([]);
  await put("tool.py");
  expect(await find(dirname(elsewhere))).toMatchObject([{ name: "python", command: elsewhere, settings: {} }]);
  const own = await program(".venv/bin/pyright-langserver");
  const pythonPath = await program(".venv/bin/python");
  expect(await find(dirname(elsewhere))).toMatchObject([{ command: own, settings: { python: { pythonPath } } }]);
});

test("files of node_modules and hidden folders do not count", async () => {
  await typescript("7.0.2");
  for (const path of ["node_modules/x/a.ts", ".cache/b.ts", "venv/c.ts"]) await put(path);
  expect(await find()).toEqual([]);
});

test("a configured server is found by name or path, and replaces the known one of its name", async () => {
  await put("a.ts");
  await put("b.rs");
  await typescript("7.0.2");
  const server = await program("bin/mine");
  const configured = [
    { name: "typescript", command: [server, "--x"], extensions: [".ts"], languageId: "ts" },
    { name: "rust", command: ["mine"], extensions: [".rs"], languageId: "rust" },
    { name: "gone", command: [join(folder, "nowhere")], extensions: [".rs"], languageId: "rust" },
  ];
  const found = await find(dirname(server), configured);
  expect(found).toEqual([
    { name: "typescript", command: server, args: ["--x"], languages: { ".ts": "ts" }, settings: {} },
    { name: "rust", command: server, args: [], languages: { ".rs": "rust" }, settings: {} },
  ]);
  expect(serverFor(found, "/x/y.rs")?.name).toBe("rust");
  expect(serverFor(found, "/x/y.toString")).toBeUndefined();
});

test("changed, new and deleted files are noticed", async () => {
  const [a, b] = [await put("a.ts", "1"), await put("b.ts", "1")];
  await put("c.txt", "1");
  const changes = new FolderChanges(folder, new Set([".ts"]), 1_000);
  expect(await changes.look()).toEqual([]);
  await put("a.ts", "22");
  await put("c.txt", "22");
  await rm(b);
  const config = await put("tsconfig.json", "{}");
  const seen = await changes.look();
  expect(seen.toSorted((x, y) => x.path.localeCompare(y.path))).toEqual([
    { path: a, type: 2 },
    { path: b, type: 3 },
    { path: config, type: 1 },
  ]);
  expect(await changes.look()).toEqual([]);
});
