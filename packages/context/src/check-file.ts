import { parseTableFile } from "./catalogue/parse-table-file.ts";
import type { FileProblem } from "./file-problem.ts";
import { parseMemory } from "./memory/memory-file.ts";
import { pageKeyOf, parsePage } from "./wiki/page-file.ts";

/** What keeps a file from being read as what its path says it is. */
export function checkFile(path: string, text: string): FileProblem[] {
  const key = pageKeyOf(path);
  const parsed = path.startsWith("catalogue/")
    ? parseTableFile(text)
    : key !== undefined
      ? parsePage(key, text)
      : path.startsWith("memory/")
        ? parseMemory(text)
        : { success: true as const };
  return parsed.success ? [] : parsed.problems;
}
