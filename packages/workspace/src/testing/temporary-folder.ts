import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  /** A real path. */
  readonly path: string;
  at(...steps: string[]): string;
  /** Writes files by path, creating folders. */
  write(files: Record<string, string | Uint8Array>): Promise<void>;
}

/** A folder that is deleted after the test. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tandem-workspace-")));
  const at = (...steps: string[]): string => join(path, ...steps);
  return {
    path,
    at,
    write: async (files) => {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(at(name)), { recursive: true });
        await writeFile(at(name), content);
      }
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
