import { TandemError } from "@tandem/protocol";
import { open } from "node:fs/promises";

/** Into a new file that only its owner can read, durable when it resolves. Returns how many lines there are. */
export async function writeExport(lines: AsyncIterable<string>, file: string): Promise<number> {
  // The first line shows whether there is such a session: no empty file is left for one that is not there.
  const iterator = lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  await using handle = await open(file, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "EEXIST" ? "it is there already" : `the system says ${cause.code}`;
    throw new TandemError("write_failed", `Cannot write ${file}: ${reason}.`, { fix: "Choose another path.", cause });
  });
  let count = 0;
  for (let step = first; !step.done; step = await iterator.next(), count += 1) await handle.write(`${step.value}\n`);
  await handle.sync();
  return count;
}
