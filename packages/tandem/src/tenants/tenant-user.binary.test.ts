import { execFileSync } from "node:child_process";
import { mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@tandem/storage";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureTenantFolders, tenantFolders } from "./tenant-folders.ts";
import { tenantSeparation, tenantUser } from "./tenant-user.ts";

const RANGE = { first: 2_000_000_000, count: 2 };
const separation = tenantSeparation();

describe.skipIf(separation.by !== "users")(
  `OS users of tenants${separation.by === "users" ? "" : ` (${separation.reason})`}`,
  () => {
    let home: string;
    let store: Awaited<ReturnType<typeof openStore>>;

    beforeAll(async () => {
      home = await realpath(await mkdtemp(join(tmpdir(), "tandem-users-")));
      store = await openStore(join(home, "tandem.db"));
    });
    afterAll(async () => {
      await store[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true });
    });

    const userOf = async (id: string, project?: string) => {
      const env = { TANDEM_HOME: home, HOME: home };
      const folders = tenantFolders(env, { id, settings: project === undefined ? {} : { project } });
      await ensureTenantFolders(env, folders);
      return { folders, user: await tenantUser(env, store.records, id, folders, RANGE) };
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
  },
);
