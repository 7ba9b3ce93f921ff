import { execFile } from "node:child_process";
import { mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const SIZE_MB = 128;
const CHUNK = 1 << 20;

/** A file system of its own for the server's state, which can be filled up. It needs the right to mount. */
export class SmallDisk implements AsyncDisposable {
  readonly path: string;
  readonly #filler: string;

  private constructor(path: string) {
    this.path = path;
    this.#filler = join(path, ".crash-test-filler");
  }

  /** The reason if this machine does not allow it. */
  static async mount(path: string): Promise<SmallDisk | string> {
    await mkdir(path, { recursive: true });
    if (process.platform !== "linux") return "only Linux has tmpfs";
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${SIZE_MB}m,mode=755`, "crash-test", path]);
      return new SmallDisk(path);
    } catch {
      return "mounting a tmpfs is not allowed";
    }
  }

  /** Writes until nothing fits any more. */
  async fill(): Promise<void> {
    await using file = await open(this.#filler, "w");
    for (const size of [CHUNK, 4_096, 1]) {
      try {
        for (;;) await file.write(Buffer.alloc(size));
      } catch {
        // Full for pieces of this size.
      }
      const { bavail } = await statfs(this.path);
      if (bavail === 0) return;
    }
  }

  async free(): Promise<void> {
    await rm(this.#filler, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.free();
    await run("umount", ["-l", this.path]).catch(() => undefined);
  }
}
