import { isAbsolute, sep } from "node:path";
import { realPath } from "./rules/path-pattern.ts";
import type { JudgedCall } from "./rules/rule-book.ts";

/** Each with the input that names a file or folder. */
const PATHS: Readonly<Record<string, string>> = { Read: "file_path", Glob: "path", Grep: "path" };

/** Whether a call only reads files of a skill. Links are followed: one that leads elsewhere is no file of the skill. */
export function isSkillFile({ name, mcpServer, input }: JudgedCall, folders: readonly string[]): boolean {
  const field = mcpServer === undefined ? PATHS[name] : undefined;
  const path = field === undefined ? undefined : input[field];
  if (typeof path !== "string" || !isAbsolute(path) || folders.length === 0) return false;
  // A pattern could lead out of the folder.
  const pattern = name === "Glob" ? input["pattern"] : name === "Grep" ? input["glob"] : undefined;
  if (typeof pattern === "string" && (pattern.startsWith("/") || pattern.split("/").includes(".."))) return false;
  const real = realPath(path);
  if (real === undefined) return false;
  return folders.some((folder) => {
    const root = realPath(folder);
    return root !== undefined && (real === root || real.startsWith(root + sep));
  });
}
