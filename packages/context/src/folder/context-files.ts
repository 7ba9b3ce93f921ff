import { RequestError, TandemError } from "@tandem/protocol";
import { constants, lstatSync } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { checkPath, CONTEXT_FILE, CONTEXT_FOLDERS, isContextPath, MAX_FILE_BYTES } from "./context-path.ts";

/** A file written this recently may change again without a new timestamp. */
const SETTLED_MS = 2_000;
/** Files per batch, before yielding to the event loop. */
const STAMPS_AT_ONCE = 500;

/** The context's files on disk. Never follows links, and writes atomically. */
export class ContextFiles {
  readonly #root: string;
  readonly #isDurable: boolean;

  /** `root` is a real path. Temporary copies need not be durable. */
  constructor(root: string, { isDurable = true }: { isDurable?: boolean } = {}) {
    this.#root = root;
    this.#isDurable = isDurable;
  }

  /** Sorted. Excludes links and files that are not part of the context. */
  async list(prefix = ""): Promise<string[]> {
    const paths: string[] = [];
    for (const folder of CONTEXT_FOLDERS) {
      if (prefix === "" || prefix.startsWith(`${folder}/`) || `${folder}/`.startsWith(prefix)) {
        await this.#walk(folder, paths);
      }
    }
    if ((await this.#kindOf(CONTEXT_FILE)) === "file") paths.push(CONTEXT_FILE);
    return paths.filter((path) => path.startsWith(prefix)).sort();
  }

  /** Like `list`, with a stamp per file that changes with its content; undefined if the file changed just now. */
  async stamps(prefix?: string): Promise<Map<string, string | undefined>> {
    const stamps = new Map<string, string | undefined>();
    for (const path of await this.list(prefix)) {
      // Synchronous: the thread pool is many times slower for thousands of calls.
      const stats = lstatSync(join(this.#root, path), { throwIfNoEntry: false });
      if (!stats) continue;
      const isSettled = Date.now() - stats.ctimeMs > SETTLED_MS;
      stamps.set(path, isSettled ? `${stats.ctimeMs}/${stats.mtimeMs}/${stats.size}/${stats.ino}` : undefined);
      if (stamps.size % STAMPS_AT_ONCE === 0) await setImmediate();
    }
    return stamps;
  }

  async #walk(folder: string, paths: string[]): Promise<void> {
    if ((await this.#kindOf(folder)) !== "folder") return;
    for (const entry of await readdir(join(this.#root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (!isContextPath(path)) continue;
      if (entry.isDirectory()) await this.#walk(path, paths);
      else if (entry.isFile()) paths.push(path);
    }
  }

  async #kindOf(path: string): Promise<"file" | "folder" | "other" | undefined> {
    try {
      const stats = await lstat(join(this.#root, path));
      return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Undefined if it does not exist. */
  async read(path: string): Promise<string | undefined> {
    const bytes = await this.readBytes(path);
    if (bytes === undefined) return undefined;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw new TandemError("bad_file", `${path} is not UTF-8 text.`, {
        fix: "Save it as UTF-8, or take it out of the context's folder.",
        cause,
      });
    }
  }

  async readBytes(path: string): Promise<Buffer | undefined> {
    checkPath(path);
    if (!(await this.#isReachable(dirname(path)))) return undefined;
    try {
      await using handle = await open(
        join(this.#root, path),
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      const stats = await handle.stat();
      if (!stats.isFile()) throw notAFile(path);
      if (stats.size > MAX_FILE_BYTES) {
        throw new RequestError("too_large", `${path} has ${stats.size} bytes; the context takes files up to 1 MB.`, {
          fix: "Shorten it, or take it out of the context's folder.",
        });
      }
      return await handle.readFile();
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (isError(error, "ELOOP")) throw isLink(path);
      throw error;
    }
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    checkPath(path);
    if (Buffer.byteLength(content) > MAX_FILE_BYTES) {
      throw new RequestError("too_large", `${path} would be larger than 1 MB.`, { fix: "Make several files of it." });
    }
    const folder = dirname(path);
    if (folder !== ".") {
      let made = "";
      for (const step of folder.split("/")) {
        made = made === "" ? step : `${made}/${step}`;
        await mkdir(join(this.#root, made)).catch((error: unknown) => {
          if (!isError(error, "EEXIST")) throw error;
        });
      }
      await this.#isReachable(folder);
    }
    if ((await this.#kindOf(path)) === "other") throw isLink(path);
    const full = join(this.#root, path);
    // A hidden temporary file beside it, renamed atomically.
    const beside = join(this.#root, folder, `.tandem-${process.pid}-${crypto.randomUUID()}`);
    try {
      {
        await using handle = await open(beside, "wx", 0o644);
        await handle.writeFile(content);
        if (this.#isDurable) await handle.sync();
      }
      await rename(beside, full);
    } catch (error) {
      await rm(beside, { force: true });
      if (isError(error, "EISDIR", "ENOTEMPTY")) throw notAFile(path);
      throw error;
    }
  }

  /** Also removes folders that become empty. */
  async remove(path: string): Promise<void> {
    checkPath(path);
    if (!(await this.#isReachable(dirname(path)))) return;
    await rm(join(this.#root, path), { force: true });
    for (let folder = dirname(path); folder.includes("/"); folder = dirname(folder)) {
      try {
        await rmdir(join(this.#root, folder));
      } catch {
        return;
      }
    }
  }

  /** Whether a folder exists. Rejects links in the path. */
  async #isReachable(folder: string): Promise<boolean> {
    if (folder === ".") return true;
    let path = "";
    for (const step of folder.split("/")) {
      path = path === "" ? step : `${path}/${step}`;
      const kind = await this.#kindOf(path);
      if (kind === undefined) return false;
      if (kind === "other") throw isLink(path);
      if (kind === "file") throw new RequestError("conflict", `${path} is a file where a folder should be.`);
    }
    return true;
  }
}

const isLink = (path: string): RequestError =>
  new RequestError("forbidden", `${path} is a link or something special, which the context does not follow.`, {
    fix: "Put the file or folder itself there.",
  });

const notAFile = (path: string): RequestError =>
  new RequestError("conflict", `${path} is a folder where a file should be.`);

const isError = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");

const isMissing = (error: unknown): boolean => isError(error, "ENOENT", "ENOTDIR");
