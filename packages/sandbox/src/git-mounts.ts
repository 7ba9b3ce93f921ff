import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  globSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isBelow } from "./check-destinations.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { Mount } from "./sandbox-plan.ts";

/** Git runs programs that these name, also when a person runs it outside. `info` has attributes, which choose filters. */
const FOLDERS = ["hooks", "info"];
const FILES = ["config", "config.worktree", "commondir"];
/** Names folders of other repositories, whose objects git then reads. */
const ALTERNATES = "objects/info/alternates";
/** With this setting, git also reads `config.worktree`. */
const HAS_WORKTREE_CONFIG = /worktreeconfig/i;
/** Settings that name hooks or further settings, which may be in the work tree. */
const NAMED_PATH = /^\s*(hookspath|path)\s*=\s*"?([^"#;\n]+?)"?\s*(?:[#;].*)?$/gim;
const MAX_CONFIG_BYTES = 1024 * 1024;
/** Repositories of submodules, which may be nested. */
const SUBMODULES = ["modules/**/config"];
const MAX_POINTER_BYTES = 8_192;

/**
 * The repository of a folder: writable, so that the agent can commit, but with read-only hooks and configuration. A mount of
 * its own cannot be renamed, which would get round the others. Nothing here trusts the folder: an earlier run may have
 * written it.
 */
export function gitMounts(folder: string): Mount[] {
  const entry = join(folder, ".git");
  const kind = lstatSync(entry, { throwIfNoEntry: false });
  if (kind === undefined) return [];
  if (kind.isSymbolicLink()) throw linked(entry);
  if (kind.isDirectory()) {
    return isRepository(entry) ? [...repositoryMounts(entry), ...namedMounts(folder, entry, entry)] : [];
  }
  const worktree = worktreeOf(entry);
  return worktree ? [...worktreeMounts(entry, worktree), ...namedMounts(folder, worktree.common, entry)] : [];
}

/** Hooks and included settings in the work tree, as the repository's own configuration names them. */
function namedMounts(folder: string, git: string, entry: string): Mount[] {
  const named = [...readConfig(git).matchAll(NAMED_PATH)].map(([, key, path]) =>
    resolve(key!.toLowerCase() === "path" ? git : folder, path!),
  );
  const inside = new Set(named.filter((path) => path.startsWith(`${folder}/`) && !isBelow(path, entry)));
  const real = [...inside].filter((path) => existsSync(path) && realpathSync(path) === path);
  const onTheWay = new Set(real.flatMap((path) => foldersBetween(folder, dirname(path))));
  return [...shortestFirst(onTheWay).map(writable), ...real.map(readOnly)];
}

const shortestFirst = (paths: Iterable<string>): string[] => [...paths].sort((a, b) => a.length - b.length);

function readConfig(git: string): string {
  try {
    return readPointer(join(git, "config"), MAX_CONFIG_BYTES);
  } catch {
    return "";
  }
}

function repositoryMounts(git: string): Mount[] {
  for (const name of FOLDERS) {
    // A folder that does not exist cannot be protected: the agent would create it.
    if (!isThere(join(git, name))) mkdirSync(join(git, name), { recursive: true });
  }
  pinConfiguration(git);
  if (HAS_WORKTREE_CONFIG.test(readConfig(git))) makeEmpty(join(git, "config.worktree"));
  const protectedPaths = [...FOLDERS, ...FILES].map((name) => join(git, name)).filter(isThere);
  return [
    writable(git),
    ...protectedPaths.map(readOnly),
    ...alternatesMounts(git),
    ...submoduleMounts(git),
    ...otherWorktrees(git),
  ];
}

/** An empty file changes nothing, and keeps the agent from creating another. */
function alternatesMounts(git: string): Mount[] {
  const file = join(git, ALTERNATES);
  const folders = foldersBetween(git, dirname(file));
  for (const folder of folders) if (!isThere(folder)) mkdirSync(folder);
  makeEmpty(file);
  return isThere(file) ? [...folders.map(writable), readOnly(file)] : [];
}

function makeEmpty(file: string): void {
  try {
    writeFileSync(file, "", { flag: "wx" });
  } catch {
    // It exists already, or the folder cannot be written.
  }
}

/**
 * Git reads the configuration of the folder that `commondir` names, also outside of worktrees. A file that names this folder
 * changes nothing, and keeps the agent from creating another.
 */
function pinConfiguration(git: string): void {
  const file = join(git, "commondir");
  try {
    writeFileSync(file, ".\n", { flag: "wx" });
    return;
  } catch {
    // It exists already, or the folder cannot be written.
  }
  if (!isThere(file)) return;
  if (resolve(git, readPointer(file).trim()) === git) return;
  throw new SandboxError("sandbox_link", `${file} names the configuration of another repository.`, {
    fix: "Delete this file: git makes it in worktrees only.",
  });
}

/**
 * Each folder on the way is a mount, too: a folder that only contains mounts can be renamed, and replaced by a copy without
 * them.
 */
function submoduleMounts(git: string): Mount[] {
  const modules = globSync(SUBMODULES, { cwd: git })
    .map((file) => dirname(join(git, file)))
    .filter((module) => isRepository(module) && realpathSync(module) === module);
  for (const module of modules) pinConfiguration(module);
  const folders = new Set(modules.flatMap((module) => foldersBetween(git, module)));
  return [
    ...shortestFirst(folders).map(writable),
    ...modules.flatMap((module) =>
      ["config", "hooks", "commondir"]
        .map((name) => join(module, name))
        .filter(isThere)
        .map(readOnly),
    ),
  ];
}

/** The folder and those above it, up to `top` without it. */
const foldersBetween = (top: string, folder: string): string[] =>
  folder === top ? [] : [...foldersBetween(top, dirname(folder)), folder];

/** Commits need the common folder: objects, refs and logs are shared. */
function worktreeMounts(entry: string, { git, common }: Worktree): Mount[] {
  if (HAS_WORKTREE_CONFIG.test(readConfig(common))) makeEmpty(join(git, "config.worktree"));
  return [
    ...repositoryMounts(common),
    writable(git),
    ...["gitdir", "commondir", "config.worktree"]
      .map((name) => join(git, name))
      .filter(isThere)
      .map(readOnly),
    readOnly(entry),
  ];
}

/** Inside, the folders of other worktrees do not exist, and git would prune their entries. */
const otherWorktrees = (git: string): Mount[] =>
  isThere(join(git, "worktrees"))
    ? [
        // As above: nothing may take the place of the entries.
        writable(join(git, "worktrees")),
        ...readdirSync(join(git, "worktrees"))
          .map((name) => join(git, "worktrees", name))
          .filter(isThere)
          .map(readOnly),
      ]
    : [];

interface Worktree {
  /** `REPOSITORY/worktrees/NAME`. */
  git: string;
  common: string;
}

/**
 * The repository that a `.git` file names. Undefined unless the repository names this file too: an agent can write any path
 * into its own file, and the mount would show it.
 */
function worktreeOf(entry: string): Worktree | undefined {
  try {
    const git = resolve(dirname(entry), /^gitdir: (.+)$/m.exec(readPointer(entry))![1]!);
    const common = dirname(dirname(git));
    const isReal = realpathSync(git) === git && basename(dirname(git)) === "worktrees";
    const isKnown = realpathSync(readPointer(join(git, "gitdir")).trim()) === realpathSync(entry);
    const isCommon = resolve(git, readPointer(join(git, "commondir")).trim()) === common;
    return isReal && isKnown && isCommon && isRepository(common) ? { git, common } : undefined;
  } catch {
    // Not a worktree: a submodule, a broken file, or something else.
    return undefined;
  }
}

/** The agent may have made a pipe or an endless file of it, which would block or fill the whole server. */
function readPointer(path: string, maxBytes = MAX_POINTER_BYTES): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > maxBytes) throw new Error(`${path} is not a small file.`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

const isRepository = (git: string): boolean => ["HEAD", "objects", "refs"].every((name) => existsSync(join(git, name)));

/** Refuses links: the mount would show their target. */
function isThere(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) throw linked(path);
  return found !== undefined;
}

const writable = (from: string): Mount => ({ from, access: "write" });

const readOnly = (from: string): Mount => ({ from, access: "read" });

const linked = (path: string): SandboxError =>
  new SandboxError("sandbox_link", `The sandbox cannot protect ${path}, because it is a symbolic link.`, {
    fix: `Replace the link by its target. For shared hooks, use git's setting core.hooksPath instead.`,
  });
