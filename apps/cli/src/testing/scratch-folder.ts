import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh folder for a test, removed with what is in it. */
export async function scratchFolder(): Promise<
  AsyncDisposable & { path: string; join: (...names: string[]) => string }
> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-cli-")));
  return {
    path,
    join: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
