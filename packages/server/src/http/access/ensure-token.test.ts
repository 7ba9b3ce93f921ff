import { chmod, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, describe, expect, test } from "vitest";
import { memoryTokens } from "../../testing/memory-tokens.ts";
import { sha256 } from "./sha256.ts";
import { createToken } from "./create-token.ts";
import { ensureToken } from "./ensure-token.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await scratchFolder();
  file = join(folder, "home", "token");
});

const secret = async (): Promise<string> => (await readFile(file, "utf8")).trim();

describe("createToken", () => {
  test("returns the secret once and stores only its hash", async () => {
    const tokens = memoryTokens();
    const made = await createToken(tokens, { name: "app", scopes: ["run"] });
    expect(made.secret).toMatch(/^tandem_[\w-]{43}$/);
    const [row] = await tokens.list();
    expect(row).toMatchObject({ name: "app", scopes: ["run"], sha256: sha256(made.secret), lastUsedAt: null });
    expect(JSON.stringify(row)).not.toContain(made.secret);
    expect((await createToken(tokens, { name: "app", scopes: ["run"] })).secret).not.toBe(made.secret);
  });

  test("requires a scope", async () => {
    await expect(createToken(memoryTokens(), { name: "app", scopes: [] })).rejects.toMatchObject({
      code: "invalid_token",
    });
  });
});

describe("ensureToken", () => {
  test("creates an admin token at the first start, readable by the owner only", async () => {
    const tokens = memoryTokens();
    expect(await ensureToken(file, tokens)).toEqual({ created: true });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await tokens.findByHash(sha256(await secret()))).toMatchObject({ scopes: ["admin"] });
    expect(await readdir(join(folder, "home"))).toEqual(["token"]);
  });

  test("keeps it at the next start", async () => {
    const tokens = memoryTokens();
    await ensureToken(file, tokens);
    const before = await secret();
    expect(await ensureToken(file, tokens)).toEqual({ created: false });
    expect(await secret()).toBe(before);
    expect(await tokens.list()).toHaveLength(1);
  });

  test("concurrent servers agree on one token", async () => {
    const tokens = memoryTokens();
    const results = await Promise.all(Array.from({ length: 5 }, () => ensureToken(file, tokens)));
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect((await tokens.list()).map((row) => row.sha256)).toEqual([sha256(await secret())]);
  });

  test("a revoked token is not reactivated", async () => {
    const tokens = memoryTokens();
    await ensureToken(file, tokens);
    const before = await secret();
    const [row] = await tokens.list();
    await tokens.delete(row!.id);
    expect(await ensureToken(file, tokens)).toEqual({ created: true });
    expect(await secret()).not.toBe(before);
    expect(await tokens.findByHash(sha256(before))).toBeUndefined();
  });

  test.skipIf(process.platform === "win32")("fixes a file that others could read, and reports it", async () => {
    const tokens = memoryTokens();
    await ensureToken(file, tokens);
    await chmod(file, 0o644);
    expect((await ensureToken(file, tokens)).warning).toContain("was readable by other users");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await ensureToken(file, tokens)).warning).toBeUndefined();
  });

  test.skipIf(process.platform === "win32")("does not follow a symlink", async () => {
    const tokens = memoryTokens();
    await ensureToken(file, tokens);
    await rm(file);
    await writeFile(join(folder, "elsewhere"), "tandem_planted");
    await symlink(join(folder, "elsewhere"), file);
    await expect(ensureToken(file, tokens)).rejects.toMatchObject({
      code: "token_file",
      message: expect.stringContaining("link"),
    });
  });
});
