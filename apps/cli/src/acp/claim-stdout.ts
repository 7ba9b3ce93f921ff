import { Writable } from "node:stream";

/** Reserves stdout for one writer. All other output of this process goes to stderr. */
export function claimStdout(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Writable {
  const write = stdout.write.bind(stdout) as (chunk: Uint8Array, then: (error?: Error | null) => void) => boolean;
  stdout.write = stderr.write.bind(stderr);
  const claimed = new Writable({ write: (chunk: Uint8Array, _encoding, then) => void write(chunk, then) });
  // The protocol's reader detects a closed pipe by itself.
  claimed.on("error", () => {});
  stdout.once("close", () => claimed.destroy());
  return claimed;
}
