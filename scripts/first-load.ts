import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** The size limit of the JavaScript that a page loads before it renders, in compressed kilobytes. */
export const MAX_FIRST_LOAD_KB = 190;

/** The compressed JavaScript that a built page loads at once: its entry and static imports. Dynamic imports do not count. */
export function firstLoad(folder: string): { kilobytes: number; files: string[] } {
  const page = readFileSync(join(folder, "index.html"), "utf8");
  const files = [...page.matchAll(/(?:src|href)="\/?([^"]+\.js)"/g)].map(([, path]) => path!);
  const sizes = new Map<string, number>();
  // Grows during the iteration.
  for (const file of files) {
    if (sizes.has(file)) continue;
    const source = readFileSync(join(folder, file));
    sizes.set(file, gzipSync(source, { level: 9 }).length);
    for (const [, name] of source.toString("utf8").matchAll(/\b(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      files.push(join(file, "..", name!));
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { kilobytes: bytes / 1_000, files: [...sizes.keys()] };
}
