export { AllowedRoots } from "./allowed-roots.ts";
export { branchOf } from "./branch-of.ts";
export { hashInside, makeFolderInside, moveInside, removeInside, replaceInside } from "./change-inside.ts";
export { isSameEntry, type PathChange } from "./checkpoints/changed-paths.ts";
export {
  CheckpointStores,
  renameMovedStores,
  type CheckpointLimits,
  type CheckpointUser,
} from "./checkpoints/checkpoint-stores.ts";
export type { Checkpoint, CheckpointStore } from "./checkpoints/checkpoint-store.ts";
export type { TreeDiff } from "./checkpoints/diff-trees.ts";
export { CloneFailed, cloneRepository, findClone } from "./clone-repository.ts";
export { diffHunks, diffLines, type LineEdit } from "./diff-lines.ts";
export {
  createFolderBundle,
  diffFolderBundles,
  restoreFolderBundle,
  type BundleSide,
  type FolderBundle,
} from "./folder-bundle.ts";
export { COMMAND_FOLDERS, mainFolderOf, readFolderConfig, type FolderConfig } from "./folder-config.ts";
export { editYaml } from "./edit-yaml.ts";
export { parseFrontMatter, splitFrontMatter } from "./front-matter.ts";
export { git, GitFailed, runGit } from "./git.ts";
export { findRepository, openRepository } from "./repository.ts";
export { giveTree } from "./give-tree.ts";
export { removeTree } from "./remove-tree.ts";
export { pushFolder } from "./push-folder.ts";
export { isInside } from "./is-inside.ts";
export { listFolder } from "./list-folder.ts";
export { parseRemote, RemoteClones, remoteVariables, type GitRemote } from "./remote-clones.ts";
export { readBytesInside, readInside } from "./read-inside.ts";
export { readSmallFile } from "./read-small-file.ts";
export { createScratchFolder, removeFolder } from "./scratch-folder.ts";
export { searchFolder } from "./search-folder.ts";
export { createWorktree, removeWorktree } from "./worktree.ts";
export { writeInside } from "./write-inside.ts";
export { copyIncluded } from "./copy-included.ts";
export { mergeWorktree, undoMerge, type Person } from "./merge-worktree.ts";
export { PortBlocks, type PortBlock } from "./port-blocks.ts";
export { findUnsaved, isSaved, readPrepared } from "./unsaved-work.ts";
export { applyPatch, readWorktreePatch, type WorktreePatch } from "./worktree-patch.ts";
