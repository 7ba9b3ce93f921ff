import { mkdir, open, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { itemPaths, listed, makeFiles, skippedCodes } from "./testing/make-files.ts";

it("finds documents, and skips other, hidden and installed files", async () => {
  await using files = await makeFiles({
    "b.md": "b",
    "a/c.txt": "c",
    "a.html": "<p>a</p>",
    "logo.png": "PNG",
    ".git/config.md": "no",
    ".hidden.md": "no",
    "node_modules/x/readme.md": "no",
  });
  const entries = await listed(files.source());
  expect(itemPaths(entries)).toEqual(["a.html", "a/c.txt", "b.md"]);
  expect(entries.filter(({ type }) => type === "ignored")).toEqual([{ type: "ignored", path: "logo.png" }]);
});

it.each([
  [{ include: ["*.md"] }, ["guides/a.md", "guides/old/b.md", "x.md"]],
  [{ include: ["guides/**"] }, ["guides/a.md", "guides/old/b.md"]],
  [{ exclude: ["guides/old/"] }, ["guides/a.md", "x.md", "y.txt"]],
  [{ exclude: ["old"] }, ["guides/a.md", "x.md", "y.txt"]],
  [{ include: ["**/*.md"], exclude: ["x.*"] }, ["guides/a.md", "guides/old/b.md"]],
])("%j chooses files", async (config, paths) => {
  await using files = await makeFiles({ "guides/a.md": "a", "guides/old/b.md": "b", "x.md": "x", "y.txt": "y" });
  expect(itemPaths(await listed(files.source(config)))).toEqual(paths);
});

it("skips the context itself, which is not a source", async () => {
  await using files = await makeFiles({ "a.md": "a", "context/wiki/a.md": "a", "guides/context/b.md": "b" });
  expect(itemPaths(await listed(files.source()))).toEqual(["a.md", "guides/context/b.md"]);
  // An explicitly named path is read.
  expect(itemPaths(await listed(files.source({ path: "context/wiki" })))).toEqual(["a.md"]);
});

it("reports a single file that is not a document", async () => {
  await using files = await makeFiles({ "logo.png": "PNG" });
  const entries = await listed(files.source({ path: "logo.png" }));
  expect(skippedCodes(entries)).toEqual({ "logo.png": "not_supported" });
});

it("follows no links, out of the source or in a circle", async () => {
  await using outside = await makeFiles({ "secret.md": "secret" });
  await using files = await makeFiles({ "a/b.md": "b" });
  await symlink(join(outside.path, "secret.md"), join(files.path, "leak.md"));
  await symlink(outside.path, join(files.path, "elsewhere"));
  await symlink(files.path, join(files.path, "a", "loop"));
  const entries = await listed(files.source());
  expect(itemPaths(entries)).toEqual(["a/b.md"]);
  expect(entries.filter(({ type }) => type === "ignored")).toHaveLength(3);
});

it("does not open a too large file, and reads the rest", async () => {
  await using files = await makeFiles({ "small.md": "# Small" });
  const big = await open(join(files.path, "big.md"), "w");
  // A sparse file: reading it would exhaust memory.
  await big.truncate(200 * 1024 * 1024);
  await big.close();
  const before = process.memoryUsage().arrayBuffers;
  const entries = await listed(files.source());
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024);
  expect(itemPaths(entries)).toEqual(["small.md"]);
  expect(entries).toContainEqual(
    expect.objectContaining({
      path: "big.md",
      error: expect.objectContaining({ code: "too_large", message: expect.stringContaining("200 MB") }),
    }),
  );
});

it("does not read more of a file that has grown", async () => {
  await using files = await makeFiles({ "log.md": "short" });
  const [entry] = await listed(files.source({}, { maxFileMb: 1 }));
  await files.write("log.md", "x".repeat(2 * 1024 * 1024));
  expect(entry?.type).toBe("item");
  if (entry?.type === "item") await expect(entry.item.read()).rejects.toMatchObject({ code: "too_large" });
});

it("reports a file deleted before reading, and a missing folder", async () => {
  await using files = await makeFiles({ "a.md": "a" });
  const [entry] = await listed(files.source());
  await files.remove("a.md");
  if (entry?.type === "item") {
    await expect(entry.item.read()).rejects.toMatchObject({
      code: "unreadable",
      message: expect.stringContaining("a.md"),
    });
  }
  await expect(listed(files.source({ path: "nowhere" }))).rejects.toMatchObject({ code: "source_missing" });
  await expect(listed(files.source({ path: "export.zip" }))).rejects.toMatchObject({ code: "packed" });
});

it("accepts a single file as a source", async () => {
  await using files = await makeFiles({ "a.md": "a", "b.md": "b" });
  expect(itemPaths(await listed(files.source({ path: "b.md" })))).toEqual(["b.md"]);
});

it("continues after an unreadable folder", async () => {
  await using files = await makeFiles({ "a.md": "a" });
  await mkdir(join(files.path, "locked"), { mode: 0o000 });
  const entries = await listed(files.source());
  expect(itemPaths(entries)).toEqual(["a.md"]);
  // Root can read everything.
  if (process.getuid?.() !== 0) expect(skippedCodes(entries)).toEqual({ "locked/": "unreadable" });
});
