import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { FilePatch } from "@tandem/protocol";
import { diffHunks } from "@tandem/workspace";

/** Larger files are not compared: the call is announced only after this synchronous comparison. */
const MAX_BYTES = 512 * 1_024;
const MAX_LINES = 2_000;
const CONTEXT = 3;

/** The change that `Edit` or `Write` would make to a file of the folder; undefined if it is not known. */
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
    const hunks = diffHunks(before === undefined ? [] : linesOf(before), linesOf(after), CONTEXT);
    if (hunks.reduce((sum, { lines }) => sum + lines.length, 0) > MAX_LINES) return undefined;
    return { path: relative(folder, file), kind: before === undefined ? "create" : "update", hunks };
  } catch {
    // The approval still shows the input.
    return undefined;
  }
}

/** The real path of a file inside the folder. Content of files outside must not be copied into the log. */
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
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error("It cannot be shown.");
  return readFileSync(file, "utf8");
}

/** A final newline does not start another line. */
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
