import { execFile } from "node:child_process";
import { chmod, chown, lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { RequestError, type Config } from "@tandem/protocol";
import type { OsUser } from "@tandem/sandbox";
import type { Store } from "@tandem/storage";
import { z } from "zod";
import type { Project } from "../config/load-project.ts";
import { tandemHome, type Variables } from "../config/tandem-home.ts";
import { namedExecutable } from "../project/find-claude-code.ts";
import { isWithin, type TenantFolders } from "./tenant-folders.ts";

const SPACE = "server";
const KIND = "tenant_user";
const PAGE = 500;
const PROBE_MS = 5_000;
const ATTEMPTS = 20;
/** Its group can pass through a folder, but not list it. */
const PASSED = 0o710;

/** The owner of a number; null if its tenant was deleted. A number is never given to another tenant, nor to a later one of the same name. */
const allocation = z.object({ tenant: z.string().nullable() });

type Range = Config["sandbox"]["tenantUsers"];
type Records = Store["records"];

/** How the programs of tenants are kept apart on this machine. */
export type TenantSeparation =
  /** Each tenant has an OS user, besides the mounts of its sandboxes. */
  | { by: "users" }
  /** One OS user: only the mounts of the sandboxes separate them. */
  | { by: "mounts"; reason: string };

/** Whether tenants of this server get OS users. Those whose project folder was chosen by the operator do not. */
export async function tenantSeparation(env: Variables, project: Project): Promise<TenantSeparation> {
  const without = (reason: string): TenantSeparation => ({ by: "mounts", reason });
  if (process.platform !== "linux") return without("OS users need Linux");
  if (process.geteuid?.() !== 0) return without("the server is not root");
  const { first } = project.config.sandbox.tenantUsers;
  const user = { uid: first + 1, gid: first };
  const { canPass, canReach } = await import("@tandem/sandbox");
  const home = await realpath(tandemHome(env)).catch(() => tandemHome(env));
  if (!canPass(dirname(home), user)) {
    return without(`other users cannot enter ${dirname(home)}; set TANDEM_HOME to a folder such as /var/lib/tandem`);
  }
  const { findExecutable } = await import("@tandem/claude-code/processes");
  const program = await realpath(findExecutable(namedExecutable(project)));
  return canReach(program, user) ? { by: "users" } : without(`other users cannot read ${program}`);
}

/**
 * The OS user of a tenant's programs. Undefined if the server cannot run programs as other users, or if that user could not reach the
 * tenant's folders.
 */
export async function tenantUser(
  env: Variables,
  project: Project,
  records: Records,
  tenant: string,
  folders: TenantFolders,
): Promise<OsUser | undefined> {
  // A folder that the operator chose keeps its owner.
  if (!isWithin(folders.home, folders.project)) return undefined;
  if ((await tenantSeparation(env, project)).by !== "users") return undefined;
  const range = project.config.sandbox.tenantUsers;
  // Only the group of all tenants may traverse Tandem's folders.
  const user = { uid: await allocate(records, tenant, range), gid: range.first };
  await letPass(env, folders, user);
  return (await canWrite(folders.project, user)) ? user : undefined;
}

/** Marks the numbers of a deleted tenant as used. */
export async function retireTenantUser(records: Records, tenant: string): Promise<void> {
  const own = [...(await readAllocations(records))].filter(([, owner]) => owner === tenant);
  const value: z.infer<typeof allocation> = { tenant: null };
  for (const [uid] of own) await records.write(SPACE, [{ type: "put", kind: KIND, key: String(uid), value }]);
}

async function allocate(records: Records, tenant: string, { first, count }: Range): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const taken = await readAllocations(records);
    // The lowest, if two processes have allocated at once.
    const own = [...taken].filter(([, owner]) => owner === tenant).map(([uid]) => uid);
    if (own.length > 0) return checked(Math.min(...own), tenant);
    let uid = first + 1;
    while (taken.has(uid) || (await isAccount(uid))) uid += 1;
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

/** Of a fleet's machines, one may have an account with a number that was free on another. */
async function checked(uid: number, tenant: string): Promise<number> {
  if (!(await isAccount(uid))) return uid;
  throw new RequestError("unavailable", `The OS user ${uid} of the tenant ${tenant} is an account of this machine.`, {
    fix: "Remove the account, or give it another number.",
  });
}

async function readAllocations(records: Records): Promise<Map<number, string | null>> {
  const taken = new Map<number, string | null>();
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
  const own = [project, variables["HOME"], variables["TMPDIR"]].flatMap((path) => path ?? []);
  for (const folder of [tandemHome(env), join(tandemHome(env), "tenants"), home]) {
    for (const name of await readdir(folder)) await closeToOthers(join(folder, name));
    await chown(folder, 0, user.gid);
    await chmod(folder, PASSED);
  }
  const { giveTree } = await import("@tandem/workspace");
  for (const folder of own) await giveTree(folder, user);
}

/** Only root changes the folders that these files and folders are in. */
async function closeToOthers(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found || !(found.isFile() || found.isDirectory()) || (found.mode & 0o007) === 0) return;
  await chmod(path, found.mode & 0o770);
}

/** Tries it, because a security module or a container may forbid it. */
const canWrite = (folder: string, { uid, gid }: OsUser): Promise<boolean> =>
  succeeds("/usr/bin/test", ["-w", folder], { uid, gid });

/** Accounts may also come from a directory service. */
const isAccount = (uid: number): Promise<boolean> => succeeds("getent", ["passwd", String(uid)]);

const succeeds = (program: string, args: readonly string[], user?: OsUser): Promise<boolean> =>
  promisify(execFile)(program, args, { ...user, env: { PATH: "/usr/bin:/bin" }, cwd: "/", timeout: PROBE_MS }).then(
    () => true,
    () => false,
  );
