import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { FilePatch } from "@tandem/protocol";

/** Larger files are not compared: this is done while a call waits to be announced. */
const MOST_BYTES = 512 * 1_024;
const MOST_LINES = 2_000;
const CONTEXT = 3;

/** What `Edit` or `Write` would change in a file of the folder; undefined where that cannot be told. */
export function approvalDiff(
  call: { name: string; mcpServer?: string; input: Record<string, unknown> },
  folder: string,
): FilePatch | undefined {
  const { file_path: path } = call.input;
  if (call.mcpServer !== undefined || typeof path !== "string") return undefined;
  try {
    const file = insideOf(folder, path);
    if (file === undefined) return undefined;
    const before = readText(file);
    const after = call.name === "Write" ? call.input["content"] : edited(call, before);
    if (typeof after !== "string") return undefined;
    const hunk = hunkOf(before === undefined ? [] : linesOf(before), linesOf(after));
    if (hunk.lines.length > MOST_LINES) return undefined;
    return { path: relative(folder, file), kind: before === undefined ? "create" : "update", hunks: [hunk] };
  } catch {
    // Whoever is asked sees the input all the same.
    return undefined;
  }
}

/** Where a path really leads, if that is in the folder: others' files are not copied into the log. */
function insideOf(folder: string, path: string): string | undefined {
  const wanted = resolve(folder, path);
  const real = join(realpathSync(dirname(wanted)), basename(wanted));
  const file = statSync(real, { throwIfNoEntry: false }) ? realpathSync(real) : real;
  const way = relative(realpathSync(folder), file);
  return way.startsWith("..") || way === "" ? undefined : file;
}

function readText(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile() || stats.size > MOST_BYTES) throw new Error("It cannot be shown.");
  return readFileSync(file, "utf8");
}

/** The end of the last line begins no other. */
const linesOf = (text: string): string[] => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

function edited(
  { name, input }: { name: string; input: Record<string, unknown> },
  before: string | undefined,
): string | undefined {
  const { old_string: old, new_string: replacement, replace_all: all } = input;
  if (name !== "Edit" || typeof old !== "string" || typeof replacement !== "string") return undefined;
  if (old === "") return before === undefined || before === "" ? replacement : undefined;
  if (!before?.includes(old)) return undefined;
  return all === true ? before.split(old).join(replacement) : before.replace(old, () => replacement);
}

/** One hunk from the first line that differs to the last. */
function hunkOf(before: readonly string[], after: readonly string[]): FilePatch["hunks"][number] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = Math.max(0, start - CONTEXT);
  const oldTo = Math.min(before.length, before.length - end + CONTEXT);
  const newTo = Math.min(after.length, after.length - end + CONTEXT);
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  return {
    old_start: before.length === 0 ? 0 : from + 1,
    old_lines: oldTo - from,
    new_start: from + 1,
    new_lines: newTo - from,
    lines: [
      ...mark(" ", before.slice(from, start)),
      ...mark("-", before.slice(start, before.length - end)),
      ...mark("+", after.slice(start, after.length - end)),
      ...mark(" ", before.slice(before.length - end, oldTo)),
    ],
  };
}
