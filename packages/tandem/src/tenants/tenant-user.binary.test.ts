import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@tandem/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureTenantFolders, tenantFolders } from "./tenant-folders.ts";
import type { Host } from "../config/host.ts";
import { openProjectOrDefaults } from "../project/open-project.ts";
import { retireTenantUser, tenantSeparation, tenantUser } from "./tenant-user.ts";

const RANGE = { first: 2_000_000_000, count: 2 };
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(!isRoot)(`OS users of tenants${isRoot ? "" : " (needs root)"}`, () => {
  let project: Awaited<ReturnType<typeof openProjectOrDefaults>>;
  let home: string;
  let store: Awaited<ReturnType<typeof openStore>>;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "tandem-users-")));
    store = await openStore(join(home, "tandem.db"));
    const host = { env: { HOME: home, TANDEM_HOME: home }, cwd: home, signal: new AbortController().signal };
    const { config, ...opened } = await openProjectOrDefaults(host as unknown as Host);
    project = { ...opened, config: { ...config, sandbox: { ...config.sandbox, tenantUsers: RANGE } } };
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await rm(home, { recursive: true, force: true });
  });

  const userOf = async (id: string, chosen?: string) => {
    const env = { TANDEM_HOME: home, HOME: home };
    const folders = tenantFolders(env, { id, settings: chosen === undefined ? {} : { project: chosen } });
    await ensureTenantFolders(env, folders);
    return { folders, user: await tenantUser(env, project, store.records, id, folders) };
  };
  const as = (user: { uid: number; gid: number }, ...args: string[]): string => {
    try {
      return execFileSync("/bin/sh", ["-c", args.join(" ")], { ...user, cwd: "/", encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      return String(error);
    }
  };

  it("differ, stay the same, and cannot read the files of other tenants or of the server", async () => {
    const [a, b] = [await userOf("a"), await userOf("b")];
    expect(a.user).toEqual({ uid: RANGE.first + 1, gid: RANGE.first });
    expect(b.user).toEqual({ uid: RANGE.first + 2, gid: RANGE.first });
    expect((await userOf("a")).user).toEqual(a.user);
    await writeFile(join(b.folders.project, "secret"), "of b", { mode: 0o644 });
    await writeFile(join(a.folders.project, "own"), "of a", { mode: 0o644 });
    expect(as(a.user!, `cat ${join(a.folders.project, "own")}`)).toBe("of a");
    expect(as(a.user!, `cat ${join(b.folders.project, "secret")}`)).toContain("Permission denied");
    expect(as(a.user!, `ls ${home}`)).toContain("Permission denied");
    expect(as(a.user!, `cat ${join(home, "tandem.db")}`)).toContain("Permission denied");
    expect((await stat(a.folders.project)).uid).toBe(a.user!.uid);
  });

  it("are refused when all numbers are allocated, and absent for a folder that the operator chose", async () => {
    await expect(userOf("c")).rejects.toMatchObject({ fix: expect.stringContaining("sandbox.tenantUsers") });
    expect((await userOf("d", tmpdir())).user).toBeUndefined();
  });

  it("are not used again after a tenant was deleted", async () => {
    await retireTenantUser(store.records, "a");
    await expect(userOf("a")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("are absent where another user cannot reach Tandem's folder, and the reason says so", async () => {
    const closed = join(home, "closed");
    await mkdir(join(closed, "tandem"), { recursive: true });
    await chmod(closed, 0o700);
    const env = { HOME: closed, TANDEM_HOME: join(closed, "tandem") };
    expect(await tenantSeparation(env, project)).toEqual({
      by: "mounts",
      reason: `other users cannot enter ${closed}; set TANDEM_HOME to a folder such as /var/lib/tandem`,
    });
    expect(await tenantSeparation({ HOME: home, TANDEM_HOME: home }, project)).toEqual({ by: "users" });
  });
});
