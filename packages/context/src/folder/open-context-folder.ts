import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { TandemError, isId, newId, type ContextId } from "@tandem/protocol";
import { stringify } from "yaml";
import { z } from "zod";
import { ContextFiles } from "./context-files.ts";
import type { ContextFolder } from "./context-folder.ts";
import { CONTEXT_FILE } from "./context-path.ts";
import { ownRepository, projectRepository } from "./find-repository.ts";
import { resumeRewrite } from "./finish-rewrite.ts";
import { FolderLock } from "./folder-lock.ts";
import { GitContextFolder } from "./git-context-folder.ts";
import { type Author, GitHistory } from "./git-history.ts";
import { sweepWorktrees } from "./private-worktree.ts";
import { describeProblem } from "../formats/file-problem.ts";
import { readYaml } from "../formats/read-yaml.ts";

const PROJECT_REF = "refs/tandem/context";

export interface FolderSettings {
  path: string;
  /** Its own repository, or part of the project's. */
  git: "own" | "project";
  /** Author of commits on behalf of a person. */
  author?: Author;
  /** Parent folder of worktrees, if not beside the history; owner-only. */
  scratch?: string;
}

/** Opens a context's folder, creating it if needed. Completes the commit and the rewrite of a crashed process. */
export async function openContextFolder(settings: FolderSettings): Promise<ContextFolder> {
  await mkdir(settings.path, { recursive: true });
  const path = await realpath(settings.path);
  await refuseForeign(path);
  const { gitDir, objectFormat, isOwn } = await (settings.git === "own"
    ? ownRepository(path)
    : projectRepository(path));
  const history = new GitHistory(gitDir, objectFormat);
  const files = new ContextFiles(path);
  const lock = new FolderLock(join(gitDir, "tandem-context.lock"));
  const { id, projectRef } = await lock.hold(async () => {
    if (isOwn) await resumeRewrite(gitDir);
    return identify(files, history, isOwn);
  });
  // Inside the git folder: private and invisible.
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

/** A folder of that name may be source code; do not turn it into a context by accident. */
async function refuseForeign(path: string): Promise<void> {
  const names = await readdir(path);
  if (names.includes(CONTEXT_FILE)) return;
  const foreign = names.find((name) => !/^(catalogue|wiki|memory|readme(\.md)?|\..*)$/i.test(name));
  if (foreign === undefined) return;
  throw new TandemError("context_invalid", `${path} holds ${foreign}, and is no context.`, {
    fix: "Name another folder: tandem config set context.folder FOLDER",
  });
}

/** The id from the file, else from the history if the file was removed, else a new one. */
async function identify(files: ContextFiles, history: GitHistory, isOwn: boolean) {
  let text = await files.read(CONTEXT_FILE);
  if (text === undefined) {
    text = (await recorded(history, isOwn ? "HEAD" : PROJECT_REF)) ?? newContextFile();
    await files.write(CONTEXT_FILE, text);
  }
  const id = parseContextFile(text);
  const before = isOwn ? undefined : await recorded(history, PROJECT_REF);
  // A repository can hold the contexts of several projects; the first uses the plain ref.
  const isOther = before !== undefined && parseContextFile(before) !== id;
  return { id, projectRef: isOther ? `refs/tandem/contexts/${id}` : PROJECT_REF };
}

async function recorded(history: GitHistory, ref: string): Promise<string | undefined> {
  const blob = (await history.tree(await history.resolve(ref))).get(CONTEXT_FILE);
  return blob === undefined ? undefined : (await history.blobs([blob])).get(blob)?.toString("utf8");
}

const VERSION = 1;
const schema = z.looseObject({
  version: z.int(),
  id: z.string().refine((id): id is ContextId => isId("context", id), "expected an id that begins with ctx_"),
});

/** The context's id, under which the store keeps everything about it. */
function parseContextFile(text: string): ContextId {
  const read = readYaml(text, schema);
  if (!read.success) {
    throw new TandemError("context_invalid", `${CONTEXT_FILE} cannot be read. ${describeProblem(read.problems[0]!)}`, {
      fix: "Restore it from git; it holds the version and the id of the context.",
    });
  }
  if (read.value.version > VERSION) {
    throw new TandemError("context_invalid", "This context was made by a newer Tandem.", { fix: "Update Tandem." });
  }
  return read.value.id;
}

const newContextFile = (): string => stringify({ version: VERSION, id: newId("context") });
