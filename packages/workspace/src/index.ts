export { AllowedRoots } from "./allowed-roots.ts";
export { git, GitFailed, runGit, type GitOptions } from "./git.ts";
export { isInside } from "./is-inside.ts";
export { listFolder, type FolderEntry } from "./list-folder.ts";
export { readInside, type FileContent } from "./read-inside.ts";
export { createScratchFolder, removeFolder } from "./scratch-folder.ts";
export { searchFolder, type SearchHit, type SearchQuery } from "./search-folder.ts";
export { createWorktree, removeWorktree, type Worktree } from "./worktree.ts";
export { writeInside } from "./write-inside.ts";
