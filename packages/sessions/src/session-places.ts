import { lstat, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  ENVIRONMENT_METADATA,
  newId,
  RequestError,
  type Environment,
  type FileId,
  type SessionId,
} from "@tandem/protocol";
import type { FileStore, SessionRow } from "@tandem/storage";
import {
  createScratchFolder,
  createWorktree,
  removeFolder,
  removeWorktree,
  type AllowedRoots,
} from "@tandem/workspace";
import type { SessionDraft } from "./session-draft.ts";

/** Where sessions work: a folder as it is, a git worktree of one, or a private scratch folder. */
export class SessionPlaces {
  readonly #roots: AllowedRoots;
  readonly #scratch: string;
  readonly #worktrees: string;

  constructor(roots: AllowedRoots, stateFolder: string) {
    this.#roots = roots;
    this.#scratch = join(stateFolder, "scratch");
    this.#worktrees = join(stateFolder, "worktrees");
  }

  async prepare(environment: Environment, session: SessionId): Promise<string> {
    const path = environment.metadata[ENVIRONMENT_METADATA.path];
    if (path === undefined) return createScratchFolder(this.#scratch, session);
    const folder = await this.#roots.resolve(path);
    if (environment.metadata[ENVIRONMENT_METADATA.isolation] !== "worktree") return folder;
    const branch = environment.metadata[ENVIRONMENT_METADATA.branch];
    const worktree = await createWorktree({
      repository: folder,
      into: join(this.#worktrees, session),
      ...(branch !== undefined && { branch }),
    });
    return worktree.folder;
  }

  /** Takes away what was made for a session. A worktree with work in it that is nowhere else stays: `conflict`. */
  async remove(row: SessionRow): Promise<void> {
    if (isInside(this.#scratch, row.folder)) await removeFolder(this.#scratch, row.folder);
    if (isInside(this.#worktrees, row.folder)) await removeWorktree(row.folder);
  }

  /** Puts uploaded files where the session's agent finds them. What is there already is not overwritten. */
  async placeFiles(folder: string, wanted: SessionDraft["files"], files: FileStore): Promise<SessionRow["resources"]> {
    const placed: SessionRow["resources"] = [];
    for (const [index, { file_id: id, mount_path: mount }] of wanted.entries()) {
      const [metadata, content] = await Promise.all([files.get(id), files.content(id as FileId)]);
      if (!metadata || !content) throw new RequestError("not_found", `There is no file ${id}.`);
      const path = resolve(folder, mount ?? basename(metadata.filename));
      if (!isInside(folder, path)) {
        throw new RequestError("invalid_request", `resources[${index}].mount_path: expected a path inside ${folder}.`);
      }
      await refuseLinks(folder, path, index);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content, { flag: "wx" }).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code !== "EEXIST") throw cause;
        throw new RequestError("conflict", `resources[${index}].mount_path: ${path} is there already.`, { cause });
      });
      const at = new Date().toISOString();
      placed.push({ type: "file", id: newId("file"), file_id: id, mount_path: path, created_at: at, updated_at: at });
    }
    return placed;
  }
}

/** A link on the way would lead the file out of the folder. */
async function refuseLinks(folder: string, path: string, index: number): Promise<void> {
  for (let at = dirname(path); isInside(folder, at); at = dirname(at)) {
    const stat = await lstat(at).catch(() => undefined);
    if (stat?.isSymbolicLink()) {
      throw new RequestError("invalid_request", `resources[${index}].mount_path: ${at} is a link.`);
    }
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}
