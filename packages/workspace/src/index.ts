export { AllowedRoots } from "./inside/allowed-roots.ts";
export { branchOf } from "./git/branch-of.ts";
export { hashInside, makeFolderInside, moveInside, removeInside, replaceInside } from "./inside/change-inside.ts";
export { isSameEntry, type PathChange } from "./checkpoints/changed-paths.ts";
export {
  CheckpointStores,
  renameMovedStores,
  type CheckpointLimits,
  type CheckpointUser,
} from "./checkpoints/checkpoint-stores.ts";
export type { Checkpoint, CheckpointStore } from "./checkpoints/checkpoint-store.ts";
export { CloneFailed, cloneRepository, findClone } from "./git/clone-repository.ts";
export { diffHunks, diffLines, type LineEdit } from "./diff-lines.ts";
export {
  createFolderBundle,
  diffFolderBundles,
  restoreFolderBundle,
  type BundleSide,
  type FolderBundle,
} from "./folder-bundle.ts";
export { AGENT_FOLDERS, COMMAND_FOLDERS, mainFolderOf, readFolderConfig, type FolderConfig } from "./folder-config.ts";
export { editYaml } from "./edit-yaml.ts";
export { parseFrontMatter, splitFrontMatter } from "./front-matter.ts";
export { git, GitFailed, runGit } from "./git/git.ts";
export { findRepository, openRepository } from "./git/repository.ts";
export { giveTree } from "./give-tree.ts";
export { isAlive } from "./is-alive.ts";
export { removeTree } from "./remove-tree.ts";
export { pushFolder, type Person } from "./git/push-folder.ts";
export { isInside } from "./inside/is-inside.ts";
export { listFolder } from "./list-folder.ts";
export { parseRemote, RemoteClones, remoteVariables, type GitRemote } from "./git/remote-clones.ts";
export { readBytesInside, readInside } from "./inside/read-inside.ts";
export { readSmallFile } from "./read-small-file.ts";
export { createScratchFolder, removeFolder } from "./scratch-folder.ts";
export { searchFolder } from "./search-folder.ts";
export { createWorktree, removeWorktree } from "./worktrees/worktree.ts";
export { writeInside } from "./inside/write-inside.ts";
export { copyIncluded } from "./worktrees/copy-included.ts";
export { mergeWorktree, undoMerge } from "./worktrees/merge-worktree.ts";
export { PortBlocks, type PortBlock } from "./worktrees/port-blocks.ts";
export { findUnsaved, isSaved, readPrepared } from "./worktrees/unsaved-work.ts";
export { applyPatch, readWorktreePatch, type WorktreePatch } from "./worktrees/worktree-patch.ts";
