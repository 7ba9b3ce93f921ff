import { Writable } from "node:stream";

/** Standard output for one writer alone: whatever else in this process writes there goes to stderr instead. */
export function claimStdout(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout) as (chunk: Uint8Array, then: (error?: Error | null) => void) => boolean;
  stdout.write = stderr.write.bind(stderr);
  const claimed = new Writable({ write: (chunk: Uint8Array, _encoding, then) => void write(chunk, then) });
  // A reader that has gone away is noticed by who reads its words.
  claimed.on("error", () => {});
  stdout.once("close", () => claimed.destroy());
  return claimed;
}
