import { chmod, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { redactText } from "@tandem/protocol";
import { expect, test } from "vitest";
import { CheckpointStores } from "./checkpoints/checkpoint-stores.ts";
import { createFolderBundle, diffFolderBundles, restoreFolderBundle } from "./folder-bundle.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const LIMITS = { maxFiles: 100, maxFileBytes: 1_000_000, maxTotalBytes: 10_000_000, keepMs: 1_000_000 };
const HOW = { redact: redactText, limits: { maxBytes: 100_000, maxFiles: 10 } };

test("a bundle restores both sides of a folder, with links, modes and bytes, and redacts credentials", async () => {
  await using root = await temporaryFolder();
  const folder = join(root.path, "project");
  await mkdir(join(folder, "sub"), { recursive: true });
  await writeFile(join(folder, 'sub/a "quoted" ünï.txt'), "one\r\n");
  await writeFile(join(folder, "binary"), Buffer.from([0, 255, 10, 13]));
  await writeFile(join(folder, "run.sh"), "#!/bin/sh\n");
  await chmod(join(folder, "run.sh"), 0o755);
  await symlink("run.sh", join(folder, "link"));
  const secret = `sk-ant-api03-${"a1B2".repeat(12)}`;
  await writeFile(join(folder, "keys.txt"), `key: ${secret}\n`);
  const store = await new CheckpointStores(join(root.path, "checkpoints"), LIMITS).of(folder);
  const before = await store.take("owner", "before");
  await rm(join(folder, "binary"));
  await writeFile(join(folder, "new.txt"), "new\n");
  const after = await store.take("owner", "after");

  const made = await createFolderBundle(store, { before, after }, HOW);
  const again = await createFolderBundle(store, { before, after }, HOW);
  expect(again.bundle.equals(made.bundle)).toBe(true);
  expect(made).toMatchObject({ before: { files: 5 }, after: { files: 5 }, redacted: ["keys.txt"] });

  const copy = join(root.path, "copy");
  await mkdir(copy);
  await restoreFolderBundle(made.bundle, "before", copy);
  expect(await readFile(join(copy, 'sub/a "quoted" ünï.txt'), "utf8")).toBe("one\r\n");
  expect([...(await readFile(join(copy, "binary")))]).toEqual([0, 255, 10, 13]);
  expect((await stat(join(copy, "run.sh"))).mode & 0o111).toBe(0o111);
  expect(await readlink(join(copy, "link"))).toBe("run.sh");
  expect(await readFile(join(copy, "keys.txt"), "utf8")).toBe("key: [redacted]\n");

  const late = join(root.path, "late");
  await mkdir(late);
  await restoreFolderBundle(made.bundle, "after", late);
  expect((await readdir(late)).sort()).toEqual(["keys.txt", "link", "new.txt", "run.sh", "sub"]);

  await writeFile(join(folder, "new.txt"), "newer\n");
  const other = await createFolderBundle(store, { before, after: await store.take("owner", "after") }, HOW);
  expect(await diffFolderBundles(made.bundle, made.bundle)).toBe("");
  expect(await diffFolderBundles(made.bundle, other.bundle)).toContain("-new\n+newer\n");
});

test("a folder over the limits and a damaged bundle are refused", async () => {
  await using root = await temporaryFolder();
  const folder = join(root.path, "project");
  await mkdir(folder);
  await writeFile(join(folder, "big"), "x".repeat(200_000));
  const store = await new CheckpointStores(join(root.path, "checkpoints"), LIMITS).of(folder);
  const taken = await store.take("owner", "before");
  await expect(createFolderBundle(store, { before: taken, after: taken }, HOW)).rejects.toMatchObject({
    code: "too_large",
    message: "The folder has 0.2 MB in 1 files, more than 0.1 MB in 10 files.",
  });
  await expect(restoreFolderBundle(Buffer.from("nonsense"), "before", folder)).rejects.toMatchObject({
    message: "The folder's git bundle is damaged.",
  });
});
