import { RequestError } from "@tandem/protocol";

/** The folders and the file that are ours. Whatever else a person keeps beside them is left alone. */
export const CONTEXT_FOLDERS = ["catalogue", "wiki", "memory"] as const;
export const CONTEXT_FILE = "context.yaml";

/** One megabyte: a larger file is no page and no table, and would go through every prompt. */
export const MAX_FILE_BYTES = 1_024 * 1_024;

/** A path of a file of the context: relative, with `/`, in one of its folders. Anything else is refused in words. */
export function checkPath(path: string): string {
  const steps = path.split("/");
  const isOurs = path === CONTEXT_FILE || (steps.length > 1 && CONTEXT_FOLDERS.some((folder) => folder === steps[0]));
  // Dots at the beginning: `..` leads out, `.git` is git's, and an editor's own files begin so as well.
  const isPlain = steps.every((step) => step !== "" && !step.startsWith(".") && Buffer.byteLength(step) <= 255);
  if (isOurs && isPlain && !/\p{Cc}|\\/u.test(path)) return path;
  throw new RequestError("invalid_request", `${JSON.stringify(path)} cannot be the path of a file of the context.`, {
    fix: "Files are in catalogue/, wiki/ or memory/, without a dot at the beginning of a name.",
  });
}

export const isContextPath = (path: string): boolean => {
  try {
    checkPath(path);
    return true;
  } catch {
    return false;
  }
};
