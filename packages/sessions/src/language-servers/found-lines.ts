import { relative } from "node:path";
import { isInside, readInside } from "@tandem/workspace";
import {
  severityOf,
  symbolKind,
  type Diagnostic,
  type DocumentSymbol,
  type Location,
  type Position,
  type SymbolInformation,
} from "./lsp-shapes.ts";
import { pathOf } from "./open-documents.ts";

/** Maximum number of entries in one answer. The others are counted. */
const MAX_ENTRIES = 100;
const MAX_LINE = 200;
const MAX_MESSAGE = 2_000;
const MAX_BYTES = 2 * 1024 * 1024;

interface Entry {
  /** Absolute. */
  path: string;
  at: Position;
  note?: string;
}

/** Writes results as `path:line:column`, with the text of the line. Files that the session may not read are left out. */
export class FoundLines {
  readonly #folder: string;
  readonly #mayShow: (path: string) => boolean;
  readonly #files = new Map<string, Promise<string[]>>();

  constructor(folder: string, mayShow: (path: string) => boolean) {
    this.#folder = folder;
    this.#mayShow = mayShow;
  }

  async locations(found: readonly Location[], none: string): Promise<string> {
    return this.#write(found.flatMap(entryAt), none);
  }

  async diagnostics(path: string, found: readonly Diagnostic[]): Promise<string> {
    const shown = found.filter((each) => severityOf(each) !== "hint");
    const sorted = shown.toSorted((a, b) => (a.severity ?? 1) - (b.severity ?? 1));
    const entries = sorted.map((each) => ({ path, at: each.range.start, note: diagnosticNote(each) }));
    return this.#write(entries, "No errors or warnings.");
  }

  async symbols(found: readonly SymbolInformation[]): Promise<string> {
    return this.#write(found.flatMap(symbolEntry), "No symbols were found.");
  }

  async outline(path: string, found: readonly (DocumentSymbol | SymbolInformation)[]): Promise<string> {
    const entries: Entry[] = [];
    const add = (symbol: DocumentSymbol | SymbolInformation, depth: number): void => {
      if ("location" in symbol) return void entries.push(...symbolEntry(symbol));
      const note = `${"  ".repeat(depth)}${symbolKind(symbol.kind)} ${symbol.name}`;
      entries.push({ path, at: symbol.selectionRange.start, note });
      for (const child of symbol.children ?? []) add(child, depth + 1);
    };
    for (const symbol of found) add(symbol, 0);
    entries.sort((a, b) => a.at.line - b.at.line);
    return this.#write(entries, "The file has no symbols.", false);
  }

  async #write(entries: readonly Entry[], none: string, hasText = true): Promise<string> {
    const allowed = entries.filter(({ path }) => !this.#isOurs(path) || this.#mayShow(path));
    const hidden = entries.length - allowed.length;
    const lines = await Promise.all(allowed.slice(0, MAX_ENTRIES).map((entry) => this.#entry(entry, hasText)));
    const more = allowed.length - lines.length;
    if (more > 0) lines.push(`… and ${more} more.`);
    if (hidden > 0) lines.push(`${hidden} in files that this session may not read without approval.`);
    return lines.length === 0 ? none : lines.join("\n");
  }

  async #entry({ path, at, note }: Entry, hasText: boolean): Promise<string> {
    const isOurs = this.#isOurs(path);
    const head = `${isOurs ? relative(this.#folder, path) : path}:${at.line + 1}:${at.character + 1}`;
    const text = hasText && isOurs ? (await this.#linesOf(path))[at.line]?.trim().slice(0, MAX_LINE) : undefined;
    return [note === undefined ? head : `${head} ${note}`, ...(text ? [`    ${text}`] : [])].join("\n");
  }

  #isOurs(path: string): boolean {
    return isInside(this.#folder, path);
  }

  #linesOf(path: string): Promise<string[]> {
    const known = this.#files.get(path);
    if (known) return known;
    const reading = readInside(this.#folder, relative(this.#folder, path), { maxBytes: MAX_BYTES }).then(
      (content) => ("text" in content ? content.text.split("\n") : []),
      () => [],
    );
    this.#files.set(path, reading);
    return reading;
  }
}

export const diagnosticNote = (diagnostic: Diagnostic): string => {
  const { code, source, message } = diagnostic;
  const from = [source, code === undefined || code === null ? undefined : `(${code})`].filter(Boolean).join("");
  return `${severityOf(diagnostic)}${from && ` ${from}`}: ${message.slice(0, MAX_MESSAGE)}`;
};

function entryAt({ uri, range }: Location): Entry[] {
  const path = pathOf(uri);
  return path === undefined ? [] : [{ path, at: range.start }];
}

function symbolEntry({ name, kind, location: { uri, range }, containerName }: SymbolInformation): Entry[] {
  const path = pathOf(uri);
  if (path === undefined) return [];
  const note = `${symbolKind(kind)} ${name}${containerName ? ` in ${containerName}` : ""}`;
  return [{ path, at: range?.start ?? { line: 0, character: 0 }, note }];
}
