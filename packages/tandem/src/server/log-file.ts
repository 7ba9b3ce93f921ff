import { createWriteStream, mkdirSync, openSync, renameSync, statSync, type WriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { tandemHome, type Variables } from "../config/tandem-home.ts";

/** Logs are for looking back some days, not for ever. */
const LARGEST_BYTES = 10 * 1024 * 1024;
const OLDER_FILES = 3;

export const logFolder = (env: Variables): string => join(tandemHome(env), "logs");

/** The server's log files, oldest first, whether they exist or not; the last is being written. */
export const logFiles = (folder: string): string[] => [
  ...Array.from({ length: OLDER_FILES }, (_, i) => join(folder, `server.${OLDER_FILES - i}.log`)),
  join(folder, "server.log"),
];

/** Lines of JSON in a file for its owner alone, which makes room for a new one when it has grown large. */
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

  /** What has been written is in the file. */
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
    // What it still holds goes to the file under its new name.
    this.#stream.end();
    this.#stream = open(files.at(-1)!);
    this.#bytes = 0;
  }
}

function open(file: string): WriteStream {
  // Open at once: a file that is moved away before it is there would be missed.
  const stream = createWriteStream(file, { fd: openSync(file, "a", 0o600) });
  // A full disk must not end the server.
  stream.on("error", () => {});
  return stream;
}
