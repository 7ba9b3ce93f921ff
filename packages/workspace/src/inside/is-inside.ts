import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is the folder or inside it. Both must be real paths; with links the result is meaningless. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
