import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";

const FILE = "CLAUDE.md";
/** More than a person writes; a larger file would fill the context window. */
const LONGEST = 100_000;

/**
 * The folder's CLAUDE.md as plain text for the system prompt, without any effect in Claude Code. Does not follow a link
 * out of the folder, and reads only regular files.
 */
export function projectInstructions(folder: string): string | undefined {
  const text = readInside(folder);
  if (!text?.trim()) return undefined;
  // The text must not be able to close its own fence.
  let fence = "project-instructions";
  while (text.includes(fence)) fence += "-x";
  return [
    `The working folder has a file ${FILE}, written by the people who work on the project. Follow what it says about how to ` +
      "work there, as far as it does not contradict anything else that you are told.",
    `<${fence}>`,
    text.length > LONGEST ? `${text.slice(0, LONGEST)}\n[The file is longer than this.]` : text,
    `</${fence}>`,
  ].join("\n");
}

function readInside(folder: string): string | undefined {
  try {
    const root = realpathSync(folder);
    const file = realpathSync(join(root, FILE));
    if (relative(root, file).startsWith("..")) return undefined;
    // The file may have been replaced since: do not follow a link or block on a pipe.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(handle).isFile()) return undefined;
      const bytes = Buffer.alloc(LONGEST * 4);
      return bytes.subarray(0, readSync(handle, bytes)).toString("utf8");
    } finally {
      closeSync(handle);
    }
  } catch {
    // Missing or unreadable.
    return undefined;
  }
}
