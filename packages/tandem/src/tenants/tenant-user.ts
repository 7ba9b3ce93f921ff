import { execFile } from "node:child_process";
import { chmod, chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { RequestError, type Config } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { z } from "zod";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import { isWithin, type TenantFolders } from "./tenant-folders.ts";

const SPACE = "server";
const KIND = "tenant_user";
const PAGE = 500;
const PROBE_MS = 5_000;
const ATTEMPTS = 20;
/** Its group can pass through a folder, but not list it. */
const PASSED = 0o710;

const allocation = z.object({ tenant: z.string() });

export interface OsUser {
  uid: number;
  gid: number;
}

/** How the programs of tenants are kept apart on this machine. */
export type TenantSeparation =
  /** Each tenant has an OS user, besides the mounts of its sandboxes. */
  | { by: "users" }
  /** One OS user: only the mounts of the sandboxes separate them. */
  | { by: "mounts"; reason: string };

/** Whether this process can run programs as other users. */
export const tenantSeparation = (): TenantSeparation => {
  if (process.platform !== "linux") return { by: "mounts", reason: "OS users for tenants need Linux." };
  if (process.geteuid?.() !== 0) return { by: "mounts", reason: "The server is not root." };
  return { by: "users" };
};

/**
 * The OS user of a tenant's programs. The number is stored, and never given to another tenant. Undefined if the server cannot run programs
 * as other users, or if the user could not reach the tenant's folders.
 */
export async function tenantUser(
  env: Variables,
  records: Store["records"],
  tenant: string,
  folders: TenantFolders,
  range: Config["sandbox"]["tenantUsers"],
): Promise<OsUser | undefined> {
  if (tenantSeparation().by !== "users") return undefined;
  // A folder that the operator chose keeps its owner.
  if (!isWithin(folders.home, folders.project)) return undefined;
  // The group of all tenants may pass through Tandem's folders; everybody else may not.
  const user = { uid: await allocate(records, tenant, range), gid: range.first };
  await letPass(env, folders, user);
  return (await canReach(folders.project, user)) ? user : undefined;
}

async function allocate(
  records: Store["records"],
  tenant: string,
  { first, count }: Config["sandbox"]["tenantUsers"],
): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const taken = await readAllocations(records);
    // The lowest, if two processes have allocated at once.
    const own = [...taken].filter(([, owner]) => owner === tenant).map(([uid]) => uid);
    if (own.length > 0) return Math.min(...own);
    let uid = first + 1;
    while (taken.has(uid)) uid += 1;
    if (uid > first + count) {
      throw new RequestError("unavailable", `All ${count} user numbers for tenants are allocated.`, {
        fix: "Raise sandbox.tenantUsers.count in tandem.yaml.",
      });
    }
    try {
      await records.write(SPACE, [{ type: "put", kind: KIND, key: String(uid), value: { tenant }, version: 0 }]);
    } catch (error) {
      // Another process took it.
      if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
    }
  }
  throw new RequestError("unavailable", `No user number could be allocated for the tenant ${tenant}.`);
}

async function readAllocations(records: Store["records"]): Promise<Map<number, string>> {
  const taken = new Map<number, string>();
  let after: string | undefined;
  do {
    const page = await records.list(SPACE, KIND, { limit: PAGE, ...(after !== undefined && { after }) });
    for (const { key, value } of page) taken.set(Number(key), allocation.parse(value).tenant);
    after = page.length === PAGE ? page.at(-1)?.key : undefined;
  } while (after !== undefined);
  return taken;
}

/** The user may pass through Tandem's folders without listing them, and owns those of its programs. */
async function letPass(env: Variables, { home, project, variables }: TenantFolders, user: OsUser): Promise<void> {
  for (const folder of [tandemHome(env), join(tandemHome(env), "tenants"), home]) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isFile()) await closeToOthers(join(folder, entry.name));
    }
    await chown(folder, 0, user.gid);
    await chmod(folder, PASSED);
  }
  const own = [project, variables["HOME"], variables["TMPDIR"]].flatMap((path) => path ?? []);
  for (const folder of own) await chown(folder, user.uid, user.gid);
}

async function closeToOthers(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found && (found.mode & 0o077) !== 0) await chmod(file, found.mode & 0o700);
}

/** Tries it, because a parent folder, such as /root, or a container may forbid it. */
async function canReach(folder: string, { uid, gid }: OsUser): Promise<boolean> {
  try {
    await promisify(execFile)("/usr/bin/test", ["-w", folder], { uid, gid, env: {}, cwd: "/", timeout: PROBE_MS });
    return true;
  } catch {
    return false;
  }
}
