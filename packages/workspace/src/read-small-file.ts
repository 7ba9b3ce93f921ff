import { constants, open } from "node:fs/promises";
import { readUpTo } from "./inside/read-inside.ts";

const MAX_BYTES = 8_192;

/**
 * The text of a small file that an agent can write, such as `.git` or its `HEAD`. Rejects anything else: a pipe would block a
 * thread of this process forever, and a device would fill its memory.
 */
export async function readSmallFile(file: string): Promise<string> {
  // Without O_NONBLOCK, opening a pipe would already block.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error(`${file} is not a small file.`);
  return (await readUpTo(handle, MAX_BYTES, stats.size + 1)).toString("utf8");
}
