import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readKeyFile, SecretBox } from "./secret-box.ts";
import { scratchFolder } from "./testing/scratch-store.ts";

test("a secret opens for its owner only, and not with another key", async () => {
  const home = await scratchFolder();
  const box = new SecretBox(() => readKeyFile(join(home, "secrets.key")));
  const sealed = await box.seal("s3cret-ü", "vlt_1");
  expect(JSON.stringify(sealed)).not.toContain("s3cret");
  expect(await new SecretBox(() => readKeyFile(join(home, "secrets.key"))).open(sealed, "vlt_1")).toBe("s3cret-ü");
  await expect(box.open(sealed, "vlt_2")).rejects.toThrow("damaged");
  await expect(box.open({ ...sealed, text: "AAAA" }, "vlt_1")).rejects.toThrow("damaged");
  const other = new SecretBox(() => readKeyFile(join(home, "other.key")));
  await expect(other.open(sealed, "vlt_1")).rejects.toThrow("another key");
  expect((await box.seal("same", "a")).text).not.toBe((await box.seal("same", "a")).text);
});

test("processes that start together get one key, in a file that others cannot read", async () => {
  const home = await scratchFolder();
  const path = join(home, "secrets.key");
  const keys = await Promise.all(Array.from({ length: 8 }, () => readKeyFile(path)));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(["secrets.key"]);
});

test("a key that others can read is refused", async () => {
  const path = join(await scratchFolder(), "secrets.key");
  const key = await readKeyFile(path);
  await chmod(path, 0o644);
  await expect(readKeyFile(path)).rejects.toMatchObject({ fix: expect.stringContaining("chmod 600") as string });
  await chmod(path, 0o600);
  expect(await readKeyFile(path)).toEqual(key);
});
