import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, constants, lstat, mkdir, mkdtemp, open, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RequestError } from "@tandem/protocol";
import { git, GitFailed } from "./git.ts";
import { giveToFolderOwner, type Owner } from "../give-tree.ts";
import { readUpTo } from "../inside/read-inside.ts";
import { isAlive } from "../is-alive.ts";
import { removeTree } from "../remove-tree.ts";

const PREFIX = "tandem-git-";
const LEFT_MS = 60 * 60 * 1_000;
const MAX_CONFIG_BYTES = 1_024 * 1_024;
/** Folders and files of the repository that git uses through the view. */
const SHARED = ["objects", "refs", "logs", "worktrees", "packed-refs", "reftable", "shallow", "HEAD"];
/** Patterns and attributes name no program by themselves. */
const SHARED_INFO = ["exclude", "attributes"];
/** A link among these would show the history of another repository. */
const OWN = ["objects", "refs", "packed-refs", "HEAD"];

/** Settings that decide how the files and refs of a repository are read. None of them names a program. */
const COPIED =
  /^(?:core\.(?:repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf|sparsecheckout|sparsecheckoutcone|longpaths|logallrefupdates)|extensions\.(?:objectformat|compatobjectformat|refstorage|partialclone|preciousobjects)|index\.sparse|user\.(?:name|email)|remote\..+\.(?:url|fetch|promisor|partialclonefilter)|branch\..+\.(?:remote|merge))$/s;

/** In the names of views. */
const SECRET = randomBytes(16).toString("hex");

interface Viewed {
  gitDir: string;
  commonDir: string;
  /** The user that runs git. */
  user: Owner | undefined;
}

/**
 * A stand-in for the common git directory (`GIT_COMMON_DIR`): its objects and refs are the repository's own, its settings
 * are ours. git reads settings from nowhere else, so that no program in the repository's settings can run, also if an
 * agent adds one while git runs. Filters and diff drivers do not exist, so Git LFS files stay pointers. Merge drivers
 * fail, so that their files conflict.
 */
export async function makeView({ gitDir, commonDir, user }: Viewed): Promise<string> {
  await refuseLinks(commonDir);
  const name = createHash("sha256").update(`${SECRET}\0${gitDir}\0${commonDir}\0${user?.uid}`).digest("hex");
  const view = join(await ownFolder(), name);
  // Another user that runs git reads a view, but writes none. Only git gets its name, so that tenants do not find those of others.
  await mkdir(join(view, "info"), { recursive: true, mode: 0o700 });
  const links = [...SHARED, ...SHARED_INFO.map((file) => `info/${file}`)];
  await Promise.all(links.map((path) => symlink(join(commonDir, path), join(view, path)).catch(ignoreExisting)));
  // git appends to logs, but does not create the target of a link.
  const logs = join(commonDir, "logs");
  await mkdir(logs).then(
    () => giveToFolderOwner(logs),
    () => undefined,
  );
  const draft = join(view, `config-${randomUUID()}`);
  await writeFile(draft, await settingsOf({ gitDir, commonDir, user }));
  if (user) {
    await chmod(draft, 0o644);
    for (const folder of [view, join(view, "info")]) await chmod(folder, 0o755);
    await chmod(dirname(view), 0o711);
  }
  await rename(draft, join(view, "config"));
  return view;
}

async function refuseLinks(commonDir: string): Promise<void> {
  for (const name of OWN) {
    const found = await lstat(join(commonDir, name)).catch(() => undefined);
    if (!found?.isSymbolicLink()) continue;
    throw new RequestError("forbidden", `${join(commonDir, name)} is a link, which may lead to another repository.`, {
      fix: "Use a folder that git clone, git init or git worktree add has made.",
    });
  }
}

async function settingsOf({ gitDir, commonDir, user }: Viewed): Promise<string> {
  const common = await readSettings(join(commonDir, "config"), user);
  const hasOwn = common.some(([key, value]) => key === "extensions.worktreeconfig" && value !== "false");
  const settings = hasOwn ? [...common, ...(await readSettings(join(gitDir, "config.worktree"), user))] : common;
  const lines = settings.flatMap(([key, value]) => {
    if (COPIED.test(key)) return [settingLine(key, value)];
    // Without a command, one side's file would win; a failing command makes it a conflict.
    return /^merge\..+\.driver$/s.test(key) ? [settingLine(key, "false")] : [];
  });
  return `${lines.join("")}[core]\n\tbare = false\n`;
}

/** Without files that they include. */
async function readSettings(file: string, user: Owner | undefined): Promise<[key: string, value: string][]> {
  // Without O_NONBLOCK, a pipe would block.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!handle) return [];
  await using opened = handle;
  const stats = await opened.stat();
  if (!stats.isFile() || stats.size > MAX_CONFIG_BYTES) throw unreadable(file, "It is not a file, or too large.");
  const input = await readUpTo(opened, MAX_CONFIG_BYTES, stats.size + 1);
  const args = ["config", "--file", "-", "--no-includes", "--null", "--list"];
  const listed = await git("/", args, { input, user }).catch((error: unknown) => {
    throw error instanceof GitFailed ? unreadable(file, error.stderr.trim()) : error;
  });
  return listed
    .split("\0")
    .slice(0, -1)
    .map((entry): [string, string] => {
      const end = entry.indexOf("\n");
      // A key without a value is true.
      return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

function settingLine(key: string, value: string): string {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  const subsection = first === last ? "" : ` "${key.slice(first + 1, last).replaceAll(/["\\]/g, "\\$&")}"`;
  const escaped = value.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `[${key.slice(0, first)}${subsection}]\n\t${key.slice(last + 1)} = "${escaped}"\n`;
}

let made: Promise<string> | undefined;

/** The views of this process. Made again if a cleaner of temporary files has removed it. */
async function ownFolder(): Promise<string> {
  const folder = await made;
  if (folder !== undefined && (await lstat(folder).catch(() => undefined))) return folder;
  made = mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`)).then(async (path) => {
    process.once("exit", () => rmSync(path, { recursive: true, force: true }));
    await removeLeft();
    return path;
  });
  return made;
}

/** Removes the views of processes that were killed. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const found = await lstat(join(tmpdir(), name)).catch(() => undefined);
    // A process of another container that shares the folder may still use it.
    if (!found || found.uid !== process.getuid?.() || Date.now() - found.mtimeMs < LEFT_MS) continue;
    await removeTree(join(tmpdir(), name)).catch(() => undefined);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

const unreadable = (file: string, why: string): RequestError =>
  new RequestError("invalid_request", `git cannot read ${file}. ${why}`, { fix: "Repair this file." });
