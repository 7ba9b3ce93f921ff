import { mkdir, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { OsUser } from "@tandem/sandbox";
import { findRepository, giveTree, isInside } from "@tandem/workspace";

/**
 * Gives a session's folder, with the files that the server has written there, to the user of its programs. Resolves to false for a folder
 * elsewhere, which belongs to the operator.
 */
export async function giveFolder(folder: string, stateFolder: string, user: OsUser): Promise<boolean> {
  // Sessions store real paths.
  const base = await realpath(stateFolder);
  if (!isInside(base, folder)) return false;
  await giveOwn(folder, base, user);
  const repository = await findRepository(folder);
  if (!repository?.isLinked || !isInside(base, repository.commonDir)) return true;
  // Commits of a worktree are in its repository.
  await giveTree(repository.commonDir, user);
  await giveTree(join(repository.folder, ".git"), user);
  return true;
}

/** Makes a folder of Tandem's state in which a user gets folders of its own. Without a user, it is left to its first writer. */
export async function makeShared(folder: string, stateFolder: string, user: OsUser | undefined): Promise<void> {
  if (!user) return;
  const { letPass } = await import("@tandem/sandbox");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const base = await realpath(stateFolder);
  letPass(base, join(base, relative(stateFolder, folder)), user);
}

/** Gives a folder of Tandem's state to a user, with a way to it. */
export async function giveOwn(folder: string, stateFolder: string, user: OsUser): Promise<void> {
  // Imported lazily: commands that only read sessions start faster without it.
  const { letPass } = await import("@tandem/sandbox");
  letPass(stateFolder, dirname(folder), user);
  await giveTree(folder, user);
}
