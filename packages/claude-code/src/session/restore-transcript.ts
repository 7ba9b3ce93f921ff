import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { LlmError } from "@tandem/protocol";
import type { TranscriptStore } from "./conversation.ts";
import { readTranscript, toText, type TranscriptLine } from "./transcript-line.ts";

/** Claude Code keeps these in a file of their own beside a subagent's transcript; the SDK hands them over as lines. */
const METADATA = "agent_metadata";

/**
 * Puts one transcript in its place, as the store has it. A file that goes on from there is of a process whose server had
 * died: nobody heard what it did then, so it is put aside. Returns what Claude Code will find.
 */
export async function restoreTranscript(
  store: TranscriptStore,
  subpath: string,
  folder: string,
  sessionId: string,
): Promise<TranscriptLine[]> {
  const base = subpath === "" ? join(folder, sessionId) : join(folder, sessionId, safe(subpath));
  const file = `${base}.jsonl`;
  const stored = await store.load(subpath);
  const lines = stored.filter(({ type }) => type !== METADATA);
  const tail = newerThan(lines, await readTranscript(file));
  if (tail?.every(isNote)) return [...stored, ...tail];
  if (tail) await rename(file, `${file}.aside`);
  if (lines.length > 0) await write(file, toText(lines));
  const metadata = stored.findLast(({ type }) => type === METADATA);
  if (metadata) {
    const { type: _, ...rest } = metadata;
    await write(`${base}.meta.json`, JSON.stringify(rest));
  }
  return stored;
}

/** Claude Code's notes to itself; what was said and done has a `uuid`. */
const isNote = ({ uuid }: TranscriptLine): boolean => uuid === undefined;

/** What a file has after the last line that is stored; undefined if it does not have that line, or is not there. */
function newerThan(
  stored: readonly TranscriptLine[],
  local: readonly TranscriptLine[] | undefined,
): TranscriptLine[] | undefined {
  const last = stored.findLast(({ uuid }) => uuid !== undefined)?.["uuid"];
  if (!local || last === undefined) return undefined;
  const index = local.findLastIndex(({ uuid }) => uuid === last);
  return index === -1 ? undefined : local.slice(index + 1);
}

function safe(subpath: string): string {
  const path = normalize(subpath);
  if (!isAbsolute(path) && !path.startsWith("..")) return path;
  throw new LlmError("process_died", `A transcript is stored under a path that leads elsewhere: ${subpath}`);
}

/** In one piece: Claude Code must not read half of it. */
async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.tandem-draft`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
