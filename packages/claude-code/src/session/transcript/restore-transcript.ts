import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { LlmError } from "@tandem/protocol";
import type { TranscriptStore } from "../conversation.ts";
import { relinkLines } from "./relink-lines.ts";
import { readTranscriptFile, toText, type TranscriptLine } from "./transcript-line.ts";

/** Claude Code keeps these in a separate file beside a subagent's transcript; the SDK passes them as lines. */
const METADATA = "agent_metadata";

/**
 * Writes one stored transcript to its file. A file with additional lines was written by a process whose server had
 * died, so those lines were never reported: it is moved aside. Returns the resulting content. Gaps are bridged.
 */
export async function restoreTranscript(
  store: TranscriptStore,
  subpath: string,
  folder: string,
  sessionId: string,
): Promise<TranscriptLine[]> {
  const base = subpath === "" ? join(folder, sessionId) : join(folder, sessionId, safe(subpath));
  const file = `${base}.jsonl`;
  const stored = relinkLines(await store.load(subpath));
  const lines = stored.filter(({ type }) => type !== METADATA);
  const local = await readTranscriptFile(file);
  const tail = newerThan(lines, local?.lines);
  const notes = tail?.every(isNote) ? tail : [];
  if (tail === notes && local?.isWhole) return [...stored, ...notes];
  if (tail && tail !== notes) await rename(file, `${file}.aside`);
  if (lines.length > 0) await write(file, toText([...lines, ...notes]));
  const metadata = stored.findLast(({ type }) => type === METADATA);
  if (metadata) {
    const { type: _, ...rest } = metadata;
    await write(`${base}.meta.json`, JSON.stringify(rest));
  }
  return [...stored, ...notes];
}

/** Internal notes have no `uuid`; messages and results do. */
const isNote = ({ uuid }: TranscriptLine): boolean => uuid === undefined;

/** Lines of the file after the stored ones; undefined if it does not exist, or differs from them. */
function newerThan(
  stored: readonly TranscriptLine[],
  local: readonly TranscriptLine[] | undefined,
): TranscriptLine[] | undefined {
  const missing = stored.filter((line) => !isNote(line));
  if (!local || missing.length === 0) return undefined;
  for (const [index, line] of local.entries()) {
    if (isNote(line)) continue;
    const { uuid, parentUuid } = missing.shift()!;
    if (line["uuid"] !== uuid || line["parentUuid"] !== parentUuid) return undefined;
    if (missing.length === 0) return local.slice(index + 1);
  }
  return undefined;
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
