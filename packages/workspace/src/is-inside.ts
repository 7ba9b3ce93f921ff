import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is the folder or lies in it. Both must be real paths: a link in one of them makes the answer worthless. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
