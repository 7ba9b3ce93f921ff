import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "@tandem/protocol";
import { parseContextFile, newContextFile } from "./context-folder-file.ts";
import { ContextFiles } from "./context-files.ts";
import type { ContextFolder } from "./context-folder.ts";
import { CONTEXT_FILE } from "./context-path.ts";
import { ownRepository, projectRepository } from "./find-repository.ts";
import { FolderLock } from "./folder-lock.ts";
import { GitContextFolder } from "./git-context-folder.ts";
import { type Author, GitHistory } from "./git-history.ts";
import { sweepWorktrees } from "./private-worktree.ts";

const PROJECT_REF = "refs/tandem/context";

export interface FolderSettings {
  path: string;
  /** A repository of its own, or part of the project's. */
  git: "own" | "project";
  /** Of commits that are made on somebody's behalf. */
  author?: Author;
  /** Where worktrees are made, if not beside the history; for this user alone. */
  scratch?: string;
}

/** Opens the folder of a context; one that is not there is made. Finishes what a process that died had begun. */
export async function openContextFolder(settings: FolderSettings): Promise<ContextFolder> {
  await mkdir(settings.path, { recursive: true });
  const path = await realpath(settings.path);
  await refuseForeign(path);
  const { gitDir, isOwn } = await (settings.git === "own" ? ownRepository(path) : projectRepository(path));
  const history = await GitHistory.open(gitDir);
  const files = new ContextFiles(path);
  const lock = new FolderLock(join(gitDir, "tandem-context.lock"));
  const { id, projectRef } = await lock.hold(() => identify(files, history, isOwn));
  // In git's own folder nobody else can write, and nobody looks.
  const scratch = join(settings.scratch ?? join(gitDir, "tandem-worktrees"), id);
  await sweepWorktrees(scratch);
  const folder = new GitContextFolder({
    id,
    path,
    files,
    history,
    lock,
    ref: isOwn ? undefined : projectRef,
    pendingRef: `${projectRef}-pending`,
    author: settings.author ?? { name: "Tandem", email: "tandem@localhost" },
    scratch,
  });
  await folder.head();
  return folder;
}

/** A folder of that name may be somebody's source code: it must not become a context by accident. */
async function refuseForeign(path: string): Promise<void> {
  const names = await readdir(path);
  if (names.includes(CONTEXT_FILE)) return;
  const foreign = names.find((name) => !/^(catalogue|wiki|memory|readme(\.md)?|\..*)$/i.test(name));
  if (foreign === undefined) return;
  throw new TandemError("context_invalid", `${path} holds ${foreign}, and is no context.`, {
    fix: "Name another folder: tandem config set context.folder FOLDER",
  });
}

/** The id in the file; else, where somebody has removed it, in the history; else a new one. */
async function identify(files: ContextFiles, history: GitHistory, isOwn: boolean) {
  let text = await files.read(CONTEXT_FILE);
  if (text === undefined) {
    text = (await recorded(history, isOwn ? "HEAD" : PROJECT_REF)) ?? newContextFile();
    await files.write(CONTEXT_FILE, text);
  }
  const id = parseContextFile(text);
  const before = isOwn ? undefined : await recorded(history, PROJECT_REF);
  // A repository may hold the contexts of several projects; the first has the plain name.
  const isOther = before !== undefined && parseContextFile(before) !== id;
  return { id, projectRef: isOther ? `refs/tandem/contexts/${id}` : PROJECT_REF };
}

async function recorded(history: GitHistory, ref: string): Promise<string | undefined> {
  const blob = (await history.tree(await history.resolve(ref))).get(CONTEXT_FILE);
  return blob === undefined ? undefined : (await history.blobs([blob])).get(blob)?.toString("utf8");
}
