import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { LlmError } from "@tandem/protocol";
import type { TranscriptStore } from "../conversation.ts";
import { readTranscript, toText, type TranscriptLine } from "./transcript-line.ts";

/** Claude Code keeps these in a separate file beside a subagent's transcript; the SDK passes them as lines. */
const METADATA = "agent_metadata";

/**
 * Writes one stored transcript to its file. A file with additional lines was written by a process whose server had
 * died, so those lines were never reported: it is moved aside. Returns the resulting content.
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

/** Internal notes have no `uuid`; messages and results do. */
const isNote = ({ uuid }: TranscriptLine): boolean => uuid === undefined;

/** Lines of the file after the last stored line; undefined if the file lacks that line or does not exist. */
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

/** Atomic rename: Claude Code must not read half a file. */
async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.tandem-draft`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
