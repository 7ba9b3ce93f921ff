import type { Dirent } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { basename, join, matchesGlob } from "node:path";
import { TandemError } from "@tandem/protocol";
import type { SourceEntry } from "./source.ts";

export interface FileRules {
  /** Maximum file size in bytes; larger files are not opened. */
  maxBytes: number;
  include?: readonly string[];
  exclude?: readonly string[];
  /** A folder that is never entered: the context itself, which is not evidence. */
  leaveOut?: string;
  /** Whether the source reads a file, by its path. */
  reads(path: string): boolean;
}

const LEFT_OUT = new Set(["node_modules"]);

/**
 * Files below a folder, sorted by path, or the single file `root`. Does not follow links: inside targets are read at
 * their own path, outside targets are not part of the source, and cycles are avoided. Skips hidden files and folders
 * and `node_modules`.
 */
export async function* walkFiles(root: string, rules: FileRules, signal?: AbortSignal): AsyncGenerator<SourceEntry> {
  let place: string;
  try {
    place = await realpath(root);
    const stats = await lstat(place);
    if (stats.isFile()) return yield onlyFile(place, stats.size, rules);
    if (!stats.isDirectory()) throw new Error("not a folder");
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("source_missing", `The folder ${root} cannot be read.`, {
      fix: "Check the source's `path` in tandem.yaml.",
      cause,
    });
  }
  const leaveOut = rules.leaveOut && (await realpath(rules.leaveOut).catch(() => undefined));
  yield* walkFolder(place, "", { ...rules, leaveOut }, signal);
}

/** An explicitly named file that cannot be read is reported; in a folder it would be ignored. */
function onlyFile(place: string, size: number, rules: FileRules): SourceEntry {
  const path = basename(place);
  if (rules.reads(path)) return fileEntry(place, path, size, rules);
  const error = new TandemError("not_supported", `${path} is of a kind that is not read.`, {
    fix: "Give Markdown, HTML, text, PDF or SQL.",
  });
  return { type: "skipped", path, error };
}

async function* walkFolder(
  place: string,
  prefix: string,
  rules: FileRules,
  signal: AbortSignal | undefined,
): AsyncGenerator<SourceEntry> {
  signal?.throwIfAborted();
  let entries: Dirent[];
  try {
    entries = await readdir(join(place, prefix), { withFileTypes: true });
  } catch (cause) {
    if (prefix === "") throw new TandemError("source_missing", `The folder ${place} cannot be read.`, { cause });
    yield { type: "skipped", path: prefix, error: unreadable(prefix, cause) };
    return;
  }
  // Sort folders as if their names ended in `/`, so that full paths are sorted.
  const keyed = entries.map((entry) => ({ entry, key: entry.isDirectory() ? `${entry.name}/` : entry.name }));
  for (const { entry, key } of keyed.sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const path = prefix + key;
    if (entry.name.startsWith(".") || LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) {
      const isLeftOut = join(place, path.slice(0, -1)) === rules.leaveOut || fits(rules.exclude, path.slice(0, -1));
      if (!isLeftOut) yield* walkFolder(place, path, rules, signal);
    } else if (!isWanted(path, rules)) {
      continue;
    } else if (entry.isFile()) {
      yield await statEntry(place, path, rules);
    } else {
      yield { type: "ignored", path };
    }
  }
}

async function statEntry(place: string, path: string, rules: FileRules): Promise<SourceEntry> {
  if (!rules.reads(path)) return { type: "ignored", path };
  try {
    return fileEntry(join(place, path), path, (await lstat(join(place, path))).size, rules);
  } catch (cause) {
    return { type: "skipped", path, error: unreadable(path, cause) };
  }
}

function fileEntry(file: string, path: string, size: number, rules: FileRules): SourceEntry {
  const { maxBytes } = rules;
  if (!rules.reads(path)) return { type: "ignored", path };
  if (size > maxBytes) return { type: "skipped", path, error: tooLarge(path, size, maxBytes) };
  return { type: "item", item: { path, size, read: () => readBounded(file, path, maxBytes) } };
}

/** The file may have grown since; memory stays within the limit. */
async function readBounded(file: string, path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    await using handle = await open(file, "r");
    const { size } = await handle.stat();
    if (size > maxBytes) throw tooLarge(path, size, maxBytes);
    const bytes = new Uint8Array(size);
    let read = 0;
    while (read < size) {
      const { bytesRead } = await handle.read(bytes, read, size - read, read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw unreadable(path, cause);
  }
}

export const isWanted = (path: string, { include, exclude }: Pick<FileRules, "include" | "exclude">): boolean =>
  (!include || fits(include, path)) && !fits(exclude, path);

/** Like `.gitignore`: a pattern without `/` matches names at any depth; one ending in `/` matches folders. */
function fits(patterns: readonly string[] | undefined, path: string): boolean {
  return (patterns ?? []).some((pattern) => {
    const plain = pattern.replace(/^\.?\//, "").replace(/\/$/, "/**");
    return plain.includes("/")
      ? matchesGlob(path, plain) || (plain.endsWith("/**") && path === plain.slice(0, -3))
      : matchesGlob(basename(path), plain);
  });
}

const MB = 1024 * 1024;

const tooLarge = (path: string, size: number, maxBytes: number): TandemError =>
  new TandemError(
    "too_large",
    `${path} has ${Math.ceil(size / MB)} MB, more than the ${Math.floor(maxBytes / MB)} MB that are read of a file.`,
    { fix: "Raise ingest.maxFileMb in tandem.yaml, split the file, or leave it out with `exclude`." },
  );

function unreadable(path: string, cause: unknown): TandemError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = { ENOENT: "it is not there any more", EACCES: "it may not be read", EPERM: "it may not be read" }[code];
  return new TandemError("unreadable", `${path} cannot be read: ${why ?? (code || "the disk refused")}.`, {
    fix: "Check the file and its permissions.",
    cause,
  });
}
