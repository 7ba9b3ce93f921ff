import { extname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { RequestError } from "@tandem/protocol";
import { readInside } from "@tandem/workspace";
import { SerialQueue } from "../host/serial-queue.ts";
import { DiagnosticWait } from "./diagnostic-wait.ts";
import { ERROR, type Diagnostic } from "./lsp-shapes.ts";
import { FolderChanges } from "./source-files.ts";

/** Documents that a server has open at once. Those that are unused for longest are closed. */
const MAX_OPEN = 20;
const MAX_BYTES = 2 * 1024 * 1024;
/** Entries of the folder that are watched for changes. */
const WATCHED = 20_000;

export interface OpenDocument {
  /** Absolute. */
  readonly path: string;
  readonly uri: string;
  text: string;
  version: number;
  readonly wait: DiagnosticWait;
}

/** A diagnostic and the file that it is in. */
export interface FileDiagnostic {
  /** Relative to the folder. */
  path: string;
  diagnostic: Diagnostic;
}

interface ServerLink {
  folder: string;
  languages: Readonly<Record<string, string>>;
  notify(method: string, params: unknown): void;
  /** Asks for the diagnostics of a document. Undefined if the server reports them unasked. */
  pull: ((uri: string, limit: Limit) => Promise<Diagnostic[]>) | undefined;
}

export interface Limit {
  ms: number;
  signal?: AbortSignal;
}

/** The documents that a language server has open. Their text is that of the disk, read again before every question. */
export class OpenDocuments {
  readonly #server: ServerLink;
  readonly #queue = new SerialQueue();
  readonly #changes: FolderChanges;
  /** By path; the one used last is at the end. */
  readonly #documents = new Map<string, OpenDocument>();

  constructor(server: ServerLink) {
    this.#server = server;
    this.#changes = new FolderChanges(server.folder, new Set(Object.keys(server.languages)), WATCHED);
  }

  get isEmpty(): boolean {
    return this.#documents.size === 0;
  }

  /** Remembers the current files, to report later changes to the server. */
  async begin(): Promise<void> {
    await this.#changes.look();
  }

  /** Tells the server what changed on the disk, and opens this file. Rejects for files outside of the folder. */
  async ask(path: string): Promise<OpenDocument> {
    return this.#queue.run(async () => {
      const text = await this.#read(path);
      await this.#catchUp();
      return this.#open(path, text);
    });
  }

  /** Tells the server what changed on the disk. */
  async catchUp(): Promise<void> {
    await this.#queue.run(() => this.#catchUp());
  }

  publish({
    uri,
    version,
    diagnostics,
  }: {
    uri: string;
    version?: number | null | undefined;
    diagnostics: Diagnostic[];
  }): void {
    const path = pathOf(uri);
    const document = path === undefined ? undefined : this.#documents.get(path);
    if (document && (version ?? document.version) >= document.version) document.wait.publish(diagnostics);
  }

  async diagnose({ uri, wait }: OpenDocument, limit: Limit): Promise<Diagnostic[]> {
    return this.#server.pull ? wait.keep(await this.#server.pull(uri, limit)) : wait.next(limit);
  }

  /**
   * The errors that a change of this file has added, in it and in other open documents. `before` is its former text: null if it is
   * new, undefined if it is unknown, and then there is nothing to compare with.
   */
  async newErrors(path: string, before: string | null | undefined, limit: Limit): Promise<FileDiagnostic[]> {
    return this.#queue.run(async () => {
      const text = await this.#read(path);
      const isKnown = this.#documents.has(path);
      if (!isKnown && typeof before === "string") this.#open(path, before);
      const old = new Map<string, Diagnostic[]>();
      for (const document of this.#documents.values()) {
        old.set(document.path, document.wait.last ?? (await this.diagnose(document, limit)));
      }
      await this.#catchUp();
      this.#open(path, text);
      if (!isKnown && before === undefined) return [];
      const changed = this.#documents.get(path);
      if (!changed) return [];
      const own = await this.diagnose(changed, limit);
      const others = [...this.#documents.values()].filter((document) => document !== changed);
      const reports = await Promise.all(
        others.map(async (document) => ({
          document,
          // A server that reports unasked has done so by now, if another document is affected.
          now: this.#server.pull ? await this.diagnose(document, limit) : (document.wait.last ?? []),
        })),
      );
      return [{ document: changed, now: own }, ...reports].flatMap(({ document, now }) =>
        addedErrors(old.get(document.path) ?? [], now).map((diagnostic) => ({
          path: relative(this.#server.folder, document.path),
          diagnostic,
        })),
      );
    });
  }

  async #read(path: string): Promise<string> {
    const { folder } = this.#server;
    const content = await readInside(folder, relative(folder, path), { maxBytes: MAX_BYTES });
    if (content.truncated || !("text" in content)) {
      throw new RequestError("invalid_request", `${content.path} is not a text file of at most ${MAX_BYTES} bytes.`);
    }
    return content.text;
  }

  async #catchUp(): Promise<void> {
    const changes = await this.#changes.look();
    // An open document has its own notifications. Told both, some servers check it twice.
    const closed = changes.filter(({ path }) => !this.#documents.has(path));
    if (closed.length > 0) {
      const events = closed.map(({ path, type }) => ({ uri: uriOf(path), type }));
      this.#server.notify("workspace/didChangeWatchedFiles", { changes: events });
    }
    let isChanged = changes.length > 0;
    for (const document of this.#documents.values()) {
      const text = await this.#read(document.path).catch(() => undefined);
      if (text === undefined) this.#close(document);
      else if (text !== document.text) this.#change(document, text);
      else continue;
      isChanged = true;
    }
    if (isChanged) for (const { wait } of this.#documents.values()) wait.expectPerhaps();
  }

  #open(path: string, text: string): OpenDocument {
    const known = this.#documents.get(path);
    if (known) {
      this.#documents.delete(path);
      this.#documents.set(path, known);
      if (known.text !== text) this.#change(known, text);
      return known;
    }
    const oldest = this.#documents.values().next().value;
    if (oldest && this.#documents.size >= MAX_OPEN) this.#close(oldest);
    const document: OpenDocument = { path, uri: uriOf(path), text, version: 1, wait: new DiagnosticWait() };
    this.#documents.set(path, document);
    const languageId = this.#server.languages[extname(path)] ?? "plaintext";
    this.#server.notify("textDocument/didOpen", { textDocument: { uri: document.uri, languageId, version: 1, text } });
    return document;
  }

  #change(document: OpenDocument, text: string): void {
    document.text = text;
    document.version += 1;
    document.wait.expect();
    const { uri, version } = document;
    this.#server.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
  }

  #close(document: OpenDocument): void {
    this.#documents.delete(document.path);
    this.#server.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
  }
}

export const uriOf = (path: string): string => pathToFileURL(path).href;

/** Undefined for a document that is not a file. */
export function pathOf(uri: string): string | undefined {
  try {
    return join(fileURLToPath(uri));
  } catch {
    return undefined;
  }
}

/** Errors that are there more often than before, wherever they are: a change moves the lines of others. */
function addedErrors(before: readonly Diagnostic[], now: readonly Diagnostic[]): Diagnostic[] {
  const left = new Map<string, number>();
  const keyOf = ({ code, message }: Diagnostic): string => `${code ?? ""} ${message}`;
  for (const each of before.filter(isError)) left.set(keyOf(each), (left.get(keyOf(each)) ?? 0) + 1);
  return now.filter((each) => {
    const known = left.get(keyOf(each)) ?? 0;
    if (known > 0) left.set(keyOf(each), known - 1);
    return isError(each) && known === 0;
  });
}

const isError = ({ severity = ERROR }: Diagnostic): boolean => severity === ERROR;
