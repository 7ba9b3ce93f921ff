import { TandemError } from "@tandem/protocol";
import { open } from "node:fs/promises";

/** Writes a new private file and syncs it to disk. Returns the number of lines. */
export async function writeExport(lines: Iterable<string> | AsyncIterable<string>, file: string): Promise<number> {
  // Read the first line before creating the file, so that an unknown session leaves no empty file.
  const iterator = Symbol.iterator in lines ? lines[Symbol.iterator]() : lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  await using handle = await open(file, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "EEXIST" ? "it exists already" : `${cause.code}`;
    throw new TandemError("write_failed", `Cannot write ${file}: ${reason}.`, { fix: "Choose another path.", cause });
  });
  let count = 0;
  for (let step = first; !step.done; step = await iterator.next(), count += 1) await handle.write(`${step.value}\n`);
  await handle.sync();
  return count;
}
