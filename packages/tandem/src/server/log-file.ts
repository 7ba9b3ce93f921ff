import { createWriteStream, mkdirSync, openSync, renameSync, statSync, type WriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { tandemHome, type Variables } from "../config/tandem-home.ts";

/** Rotate at this size: logs cover days, not years. */
const LARGEST_BYTES = 10 * 1024 * 1024;
const OLDER_FILES = 3;

export const logFolder = (env: Variables): string => join(tandemHome(env), "logs");

/** The log files, oldest first, existing or not. The last is the current one. */
export const logFiles = (folder: string): string[] => [
  ...Array.from({ length: OLDER_FILES }, (_, i) => join(folder, `server.${OLDER_FILES - i}.log`)),
  join(folder, "server.log"),
];

/** A private JSON-lines file that rotates when it grows large. */
export class LogFile implements AsyncDisposable {
  readonly #folder: string;
  readonly #largest: number;
  #stream: WriteStream;
  #bytes: number;

  constructor(folder: string, largest = LARGEST_BYTES) {
    this.#folder = folder;
    this.#largest = largest;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = logFiles(folder).at(-1)!;
    this.#bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    this.#stream = open(file);
  }

  get file(): string {
    return logFiles(this.#folder).at(-1)!;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#largest) this.#rotate();
    this.#bytes += bytes;
    this.#stream.write(line);
  }

  /** Flushes before closing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.end();
    if (!this.#stream.closed) await once(this.#stream, "close");
  }

  #rotate(): void {
    const files = logFiles(this.#folder);
    for (const [i, file] of files.entries()) {
      if (i === 0 || !statSync(file, { throwIfNoEntry: false })) continue;
      renameSync(file, files[i - 1]!);
    }
    // Buffered lines still go to the renamed file.
    this.#stream.end();
    this.#stream = open(files.at(-1)!);
    this.#bytes = 0;
  }
}

function open(file: string): WriteStream {
  // Open synchronously: rotating a file that does not exist yet would fail.
  const stream = createWriteStream(file, { fd: openSync(file, "a", 0o600) });
  // A full disk must not crash the server.
  stream.on("error", () => {});
  return stream;
}
