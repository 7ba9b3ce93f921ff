import { mkdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { resolveHeader, resolveSecret, resolveToken } from "./resolve-secret.ts";

describe("a secret", () => {
  test("from a variable is trimmed", async () => {
    expect(await resolveSecret("env:KEY", { env: { KEY: "  s3cret\n" }, folder: "/" })).toBe("s3cret");
  });

  test("from a file is relative to the config or to the home folder", async () => {
    await using folder = await testFolder();
    await mkdir(folder.join("home"));
    await writeFile(folder.join("key"), "beside\n");
    await writeFile(folder.join("home", "key"), "at home\n");
    const place = { env: { HOME: folder.join("home") }, folder: folder.path };
    expect(await resolveSecret("file:key", place)).toBe("beside");
    expect(await resolveSecret("file:~/key", place)).toBe("at home");
    expect(await resolveSecret(`file:${folder.join("key")}`, place)).toBe("beside");
  });

  test.each([
    ["env:MISSING", "env:MISSING is not set"],
    ["env:EMPTY", "env:EMPTY is empty"],
    ["file:missing", "file:missing does not exist"],
    ["file:.", "is not a small file"],
  ])("%s: %s", async (reference, text) => {
    await using folder = await testFolder();
    await expect(resolveSecret(reference, { env: { EMPTY: " " }, folder: folder.path })).rejects.toMatchObject({
      code: "secret_unavailable",
      message: expect.stringContaining(text),
      fix: expect.stringMatching(/\S/),
    });
  });

  test("a key with a line break never reaches an HTTP client, whose error would repeat it", async () => {
    await expect(resolveToken("env:KEY", { env: { KEY: "sk-one\nsk-two" }, folder: "/" })).rejects.toThrow(
      /^The secret env:KEY is not one line of plain characters\.$/,
    );
  });

  test("a header value may contain spaces, as in `Bearer …`, but no line break", async () => {
    const place = { env: { VALUE: "Bearer s3cret", KEY: "sk-one\nsk-two" }, folder: "/" };
    expect(await resolveHeader("env:VALUE", place)).toBe("Bearer s3cret");
    await expect(resolveToken("env:VALUE", place)).rejects.toThrow("plain characters");
    await expect(resolveHeader("env:KEY", place)).rejects.toThrow("plain characters");
  });
});
