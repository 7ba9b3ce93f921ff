import { RequestError, type SessionId } from "@tandem/protocol";
import { findDecidingName } from "@tandem/policy";

/** Stands for `/mnt` in a session's folder. It has a `.gitignore`, so that git and checkpoints leave it out. */
export const MOUNT_FOLDER = ".mnt";

export const UPLOADS = "/mnt/session/uploads";
export const OUTPUTS = "/mnt/session/outputs";
const WORKSPACE = "/workspace";
const MEMORY = "/mnt/memory";

export const defaultFileMount = (file: string): string => `${UPLOADS}/${file}`;

/** `/workspace/NAME` for `https://host/owner/NAME` or `NAME.git`. */
export function defaultRepositoryMount(url: string): string {
  const name = /([^/:]+?)(\.git)?\/*$/.exec(url)?.[1] ?? "repository";
  return `${WORKSPACE}/${name}`;
}

/** `/mnt/memory/NAME`: lower case, anything but letters and digits becomes one hyphen. */
export const memoryMount = (name: string): string =>
  `${MEMORY}/${
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "memory"
  }`;

/** The folder of a session's mounts, relative to the session's folder. */
export const mountsOf = (session: string): string => `${MOUNT_FOLDER}/${session}`;

/** `/mnt/…` in a session's folder. */
export const inMounts = (mount: string, session: string): string => `${mountsOf(session)}${mount.slice("/mnt".length)}`;

/** Whether the mounted file is a read-only copy. */
export const isUpload = (path: string): boolean => path.startsWith(`${MOUNT_FOLDER}/`);

/**
 * The path of a mounted file in the session's folder. `/workspace` is the folder itself, and any other absolute path is under
 * the uploads, as in the hosted service.
 */
export function fileTarget(mount: string, session: SessionId): string {
  const path = normalized(mount);
  if (!path.startsWith("/")) return own(path, mount);
  const inWorkspace = below(WORKSPACE, path);
  if (inWorkspace !== undefined) return own(inWorkspace, mount);
  if (path === MEMORY || below(MEMORY, path) !== undefined) {
    throw invalid(mount, "memory stores are mounted there", `Choose a path under ${UPLOADS} or ${WORKSPACE}.`);
  }
  const isNamed = [UPLOADS, OUTPUTS].some((folder) => below(folder, path) !== undefined);
  return inMounts(refuseDeciding(isNamed ? path : `${UPLOADS}${path}`), session);
}

/** The path of a cloned repository in the session's folder. */
export function repositoryTarget(mount: string): string {
  const path = normalized(mount);
  const inner = path.startsWith("/") ? below(WORKSPACE, path) : path;
  if (inner !== undefined) return own(inner, mount);
  throw invalid(mount, "a repository cannot be mounted there", `Choose a path under ${WORKSPACE}, or a relative one.`);
}

function own(path: string, mount: string): string {
  if (path === "") throw invalid(mount, "it is the folder itself", "Name a path below it.");
  if (path.split("/")[0]?.toLowerCase() === MOUNT_FOLDER) {
    throw invalid(mount, `${MOUNT_FOLDER} is for mounts`, `Choose a path under ${UPLOADS} or ${WORKSPACE}.`);
  }
  return refuseDeciding(path);
}

function normalized(mount: string): string {
  const steps = mount.split("/");
  if (steps.includes("..")) {
    throw new RequestError("forbidden", `mount_path: ${JSON.stringify(mount)} leads out of the session's folder.`, {
      fix: "Name a path without `..`.",
    });
  }
  if (mount.includes("\0")) throw new RequestError("invalid_request", "mount_path: a path cannot have a NUL in it.");
  if (/\/\.?$/.test(mount) || mount === "" || mount === ".") throw invalid(mount, "it names no file", "Name a path.");
  const inner = steps.filter((step) => step !== "" && step !== ".").join("/");
  return mount.startsWith("/") ? `/${inner}` : inner;
}

const below = (folder: string, path: string): string | undefined =>
  path === folder ? "" : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;

/** An agent would have to ask before it writes such a file. */
function refuseDeciding(path: string): string {
  const name = findDecidingName(path);
  if (name === undefined) return path;
  throw new RequestError(
    "forbidden",
    `mount_path: ${JSON.stringify(path)} is refused, because ${JSON.stringify(name)} decides which programs run.`,
    { fix: "Choose another path; put such a file into the folder yourself." },
  );
}

const invalid = (mount: string, why: string, fix: string): RequestError =>
  new RequestError("invalid_request", `mount_path: ${JSON.stringify(mount)} is refused, because ${why}.`, { fix });
