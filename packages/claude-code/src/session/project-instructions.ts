import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";

const FILE = "CLAUDE.md";
/** More than a person writes; a larger file would only push the conversation out of the window. */
const LONGEST = 100_000;

/**
 * The CLAUDE.md of a folder as words for the system prompt: text, and nothing that Claude Code would act upon. A link that
 * leads out of the folder is not followed, and what is no plain file is not read.
 */
export function projectInstructions(folder: string): string | undefined {
  const text = readInside(folder);
  if (!text?.trim()) return undefined;
  // The words must not be able to end their own fence.
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
    // A name that became a link or a pipe meanwhile is not followed, and not waited for.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(handle).isFile()) return undefined;
      const bytes = Buffer.alloc(LONGEST * 4);
      return bytes.subarray(0, readSync(handle, bytes)).toString("utf8");
    } finally {
      closeSync(handle);
    }
  } catch {
    // None, or none that may be read.
    return undefined;
  }
}
