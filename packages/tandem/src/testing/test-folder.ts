import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary folder for one test, removed with its content. */
export async function testFolder(): Promise<AsyncDisposable & { path: string; join: (...names: string[]) => string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-")));
  return {
    path,
    join: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
