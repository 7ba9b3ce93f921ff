import { createHash } from "node:crypto";
import {
  newId,
  RequestError,
  type FileId,
  type FileResource,
  type FileResourceParams,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { FileStore, SessionRow } from "@tandem/storage";
import { hashInside, removeInside, writeInside } from "@tandem/workspace";
import { defaultFileMount, fileTarget, isUpload, MOUNT_FOLDER, mountsOf } from "./mount-path.ts";

type SessionPlace = Pick<SessionRow, "id" | "folder">;

/**
 * Copies uploaded files into a session's folder. All paths are checked before anything is written, and what was written is
 * removed again if one fails.
 */
export async function mountFiles(
  place: SessionPlace,
  wanted: readonly (FileResourceParams & { id?: string })[],
  { files, clock }: { files: FileStore; clock: Clock },
): Promise<FileResource[]> {
  const targets = await Promise.all(
    wanted.map(async ({ id = newId("resource"), file_id: file, mount_path: given }) => {
      if (!(await files.get(file))) throw new RequestError("not_found", `There is no file ${file}.`);
      const mount = given ?? defaultFileMount(file);
      return { id, file, mount, path: fileTarget(mount, place.id) };
    }),
  );
  const twice = targets.find(({ path }, index) => targets.some((other, at) => at < index && other.path === path));
  if (twice) throw new RequestError("invalid_request", `mount_path: two files are mounted at ${twice.mount}.`);
  const mounted: FileResource[] = [];
  try {
    for (const { id, file, mount, path } of targets) {
      const content = await files.content(file as FileId);
      if (!content) throw new RequestError("not_found", `There is no file ${file}.`);
      const placed = await placeFile(place.folder, path, content);
      const at = isoNow(clock);
      const times = { created_at: at, updated_at: at };
      mounted.push({ type: "file", id, file_id: file, mount_path: mount, ...times, tandem: { path, ...placed } });
    }
    return mounted;
  } catch (error) {
    for (const resource of mounted) await unmountFile(place.folder, resource);
    throw error;
  }
}

/** Leaves a file that is there already, unless its content differs. */
async function placeFile(folder: string, path: string, content: Uint8Array): Promise<{ sha256: string; found?: true }> {
  const sha256 = createHash("sha256").update(content).digest("hex");
  if (isUpload(path)) await prepareMounts(folder);
  try {
    await writeInside(folder, path, content, isUpload(path) ? 0o400 : 0o600);
    return { sha256 };
  } catch (error) {
    if (!(error instanceof RequestError && error.code === "conflict")) throw error;
    if ((await hashInside(folder, path).catch(() => undefined)) !== sha256) throw error;
    // A file among the mounts is always ours: an earlier try has written it.
    return isUpload(path) ? { sha256 } : { sha256, found: true };
  }
}

/** Removes a mounted file unless it was there before or has changed since. Returns the reason if it stays. */
export async function unmountFile(folder: string, { tandem }: FileResource): Promise<string | undefined> {
  if (!tandem) return "it was mounted by an older version";
  if (tandem.found) return "it was in the folder before";
  try {
    await removeInside(folder, tandem.path, { expected: tandem.sha256 });
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error.code === "not_found" ? undefined : "it has changed since it was mounted";
  }
}

/** Keeps the mounts out of git, diffs and checkpoints. */
export async function prepareMounts(folder: string): Promise<void> {
  await writeInside(folder, `${MOUNT_FOLDER}/.gitignore`, Buffer.from("*\n")).catch((error: unknown) => {
    if (!(error instanceof RequestError && error.code === "conflict")) throw error;
  });
}

/** Removes a session's own mounts from a folder that stays. */
export async function removeMounts({ id, folder }: SessionPlace): Promise<void> {
  await removeInside(folder, mountsOf(id), { recursive: true }).catch((error: unknown) => {
    if (!(error instanceof RequestError)) throw error;
  });
}

/** The resources of a fork: copies in its own mounts, and what its folder does not have is mounted again. */
export async function forkMounts(
  row: Pick<SessionRow, "id" | "folder" | "resources">,
  fork: SessionPlace,
  { files }: { files: FileStore },
): Promise<{ resources: SessionRow["resources"]; notices: string[] }> {
  const notices: string[] = [];
  const resources: SessionRow["resources"] = [];
  const moved = (path: string): string =>
    path.startsWith(`${mountsOf(row.id)}/`) ? mountsOf(fork.id) + path.slice(mountsOf(row.id).length) : path;
  for (const resource of row.resources) {
    if (resource.type === "file" && resource.tandem) {
      const path = moved(resource.tandem.path);
      const { id, sha256 } = { id: newId("resource"), sha256: resource.tandem.sha256 };
      // Both sessions use a file of a shared folder, so neither may remove it.
      const isShared = path === resource.tandem.path && fork.folder === row.folder;
      resources.push({ ...resource, id, tandem: { path, sha256, ...(isShared && { found: true as const }) } });
      if (!isUpload(path)) continue;
      const content = await files.content(resource.file_id as FileId);
      if (content) await placeFile(fork.folder, path, content);
      else notices.push(`${resource.mount_path} is missing: the file ${resource.file_id} was deleted.`);
    } else if (resource.type === "github_repository") {
      const { path, commit } = resource.tandem;
      const isThere = fork.folder === row.folder && commit !== undefined;
      resources.push({ ...resource, id: newId("resource"), tandem: { path, ...(isThere && { commit }) } });
    } else if (resource.type === "memory_store") {
      resources.push({ ...resource, tandem: { path: moved(resource.tandem.path) } });
    } else resources.push(resource);
  }
  return { resources, notices };
}
