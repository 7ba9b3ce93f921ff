/** Worktrees and scratch folders belong to one session. Their name is the session id. */
export const isOwnFolder = (folder: string): boolean => /\/sesn_\w+\/*$/.test(folder);

/** The last part of the path. A session's own folder gets a label instead, because users do not know sessions by id. */
export function folderName(folder: string): string {
  const [parent, name] = ["", ...folder.replace(/\/+$/, "").split("/")].slice(-2);
  if (!isOwnFolder(folder)) return name ?? folder;
  return parent === "scratch" ? "Scratch folder" : "Worktree";
}

/** The path relative to `folder`. Paths outside it stay absolute. */
export const relativePath = (folder: string, path: string): string =>
  path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
