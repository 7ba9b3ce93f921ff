import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { LlmError } from "@tandem/protocol";
import type { TranscriptStore } from "./conversation.ts";
import { readTranscript, toText, type TranscriptLine } from "./transcript-line.ts";

/** Claude Code keeps these in a file of their own beside a subagent's transcript; the SDK hands them over as lines. */
const METADATA = "agent_metadata";

/** Lines without a `uuid` are notes to Claude Code itself; of those, the next process needs the totals. */
const worthStoring = ({ uuid, type }: TranscriptLine): boolean => uuid !== undefined || type === "cost-state";

/**
 * Puts one transcript in its place. A file that is there already and knows more than the store (Claude Code wrote, and the
 * server died before it had stored that) stays, and what the store lacks is given to it; any other file is written anew.
 * Returns what Claude Code will find.
 */
export async function restoreTranscript(
  store: TranscriptStore,
  subpath: string,
  folder: string,
  sessionId: string,
): Promise<TranscriptLine[]> {
  const base = subpath === "" ? join(folder, sessionId) : join(folder, sessionId, safe(subpath));
  const stored = await store.load(subpath);
  const lines = stored.filter(({ type }) => type !== METADATA);
  const tail = newerThan(lines, await readTranscript(`${base}.jsonl`))?.filter(worthStoring);
  if (tail) {
    if (tail.some(({ uuid }) => uuid !== undefined)) await store.append(subpath, tail);
    return [...stored, ...tail];
  }
  if (lines.length > 0) await write(`${base}.jsonl`, toText(lines));
  const metadata = stored.findLast(({ type }) => type === METADATA);
  if (metadata) {
    const { type: _, ...rest } = metadata;
    await write(`${base}.meta.json`, JSON.stringify(rest));
  }
  return stored;
}

/** What a file has after the last line that is stored; undefined if it does not have that line, or is not there. */
function newerThan(
  stored: readonly TranscriptLine[],
  local: readonly TranscriptLine[] | undefined,
): TranscriptLine[] | undefined {
  if (!local) return undefined;
  const last = stored.findLast(({ uuid }) => uuid !== undefined)?.["uuid"];
  if (last === undefined) return stored.length === 0 ? [...local] : undefined;
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
