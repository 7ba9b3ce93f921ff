import { dirname, join } from "node:path";
import type { OsUser } from "@tandem/sandbox";
import { findRepository, giveTree, isInside } from "@tandem/workspace";

/** Gives a session's folder, with the files that the server has written there, to the user of its programs. */
export async function giveFolder(folder: string, stateFolder: string, user: OsUser): Promise<void> {
  // Folders elsewhere belong to the operator.
  if (!isInside(stateFolder, folder)) return;
  const { letPass } = await import("@tandem/sandbox");
  letPass(stateFolder, dirname(folder), user);
  await giveTree(folder, user);
  const repository = await findRepository(folder);
  if (!repository?.isLinked || !isInside(stateFolder, repository.commonDir)) return;
  // Commits of a worktree are in its repository.
  await giveTree(repository.commonDir, user);
  await giveTree(join(repository.folder, ".git"), user);
}
