import { RequestError } from "@tandem/protocol";

/** Our folders and file. Anything else beside them is left alone. */
export const CONTEXT_FOLDERS = ["catalogue", "wiki", "memory", "metrics", "evals"] as const;
export const CONTEXT_FILE = "context.yaml";

/** 1 MB: a larger file is neither a page nor a table, and would not fit a prompt. */
export const MAX_FILE_BYTES = 1_024 * 1_024;

/** Validates a relative path with `/` in one of the context's folders. */
export function checkPath(path: string): string {
  const steps = path.split("/");
  const isOurs = path === CONTEXT_FILE || (steps.length > 1 && CONTEXT_FOLDERS.some((folder) => folder === steps[0]));
  // No leading dots: `..` leads out, `.git` belongs to git, and editors use such names too.
  const isPlain = steps.every((step) => step !== "" && !step.startsWith(".") && Buffer.byteLength(step) <= 255);
  if (isOurs && isPlain && !/\p{Cc}|\\/u.test(path)) return path;
  throw new RequestError("invalid_request", `${JSON.stringify(path)} cannot be the path of a file of the context.`, {
    fix: "Files are in catalogue/, wiki/, memory/, metrics/ or evals/, without a dot at the beginning of a name.",
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
