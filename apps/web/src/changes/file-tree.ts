import type { FileChange } from "./changes-api.ts";

export interface TreeFolder {
  /** A chain of folders with nothing else in them is merged into one name, like `a/b/c`. */
  name: string;
  path: string;
  folders: TreeFolder[];
  files: { name: string; file: FileChange }[];
}

/** Sorts each level by name, folders first. */
export function fileTree(files: readonly FileChange[]): TreeFolder {
  const root: TreeFolder = { name: "", path: "", folders: [], files: [] };
  for (const file of files.toSorted((a, b) => a.path.localeCompare(b.path))) {
    const names = file.path.split("/");
    let folder = root;
    for (const name of names.slice(0, -1)) {
      const path = folder.path === "" ? name : `${folder.path}/${name}`;
      let next = folder.folders.find((other) => other.path === path);
      if (!next) folder.folders.push((next = { name, path, folders: [], files: [] }));
      folder = next;
    }
    folder.files.push({ name: names.at(-1)!, file });
  }
  return { ...root, folders: root.folders.map(mergeChain) };
}

function mergeChain(folder: TreeFolder): TreeFolder {
  const folders = folder.folders.map(mergeChain);
  const [only] = folders;
  if (only && folders.length === 1 && folder.files.length === 0)
    return { ...only, name: `${folder.name}/${only.name}` };
  return { ...folder, folders };
}

/** In display order. */
export const filesIn = ({ folders, files }: TreeFolder): FileChange[] => [
  ...folders.flatMap(filesIn),
  ...files.map(({ file }) => file),
];
