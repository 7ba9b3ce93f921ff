import { constants } from "node:fs";
import { lstat, open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { TranscriptLine } from "../session/transcript/transcript-line.ts";
import type { PastSubagent } from "./transcript-reader.ts";

/** A Claude Code conversation on this machine: its transcript, and those of its subagents. */
export interface PastSession {
  /** Claude Code's own id. */
  id: string;
  file: string;
  bytes: number;
  changedAt: Date;
}

/** A line of a transcript, or its raw text if it cannot be parsed. `place` is its line number. */
export interface PastLine {
  place: string;
  /** `""` for the conversation itself, otherwise the subagent's file. */
  subpath: string;
  subagent: PastSubagent | undefined;
  line: TranscriptLine | undefined;
  text: string;
  /** The last line of a file may be unparsable because it is still being written. */
  isLast: boolean;
}

const NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;
const SUBAGENT = /^agent-([\w-]{1,64})\.jsonl$/;
const MAX_METADATA_BYTES = 64 * 1024;

const lineSchema = z.record(z.string(), z.unknown());
const metadataSchema = z.looseObject({ agentType: z.string(), toolUseId: z.string().optional() });
const timed = z.object({ timestamp: z.string() });

/**
 * All sessions, most recently changed first. Symbolic links are not followed: each file really is where it is listed.
 */
export async function findPastSessions(configFolder: string): Promise<PastSession[]> {
  const root = await realpath(join(configFolder, "projects")).catch(() => undefined);
  if (root === undefined) return [];
  const found: PastSession[] = [];
  for (const project of await readdir(root, { withFileTypes: true })) {
    if (!project.isDirectory()) continue;
    const folder = join(root, project.name);
    for (const entry of await entriesOf(folder)) {
      const id = NAME.exec(entry.name)?.[1];
      if (id === undefined || !entry.isFile()) continue;
      const file = join(folder, entry.name);
      // Claude Code may delete old files during the scan.
      const info = await lstat(file).catch(() => undefined);
      if (info) found.push({ id, file, bytes: info.size, changedAt: info.mtime });
    }
  }
  return found.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
}

/** Lines in the order of writing, merged with those of subagents. */
export async function* readPastSession({ file }: PastSession): AsyncGenerator<PastLine> {
  const rest = (await subagentsOf(file)).map((each) => ({ ...each, next: 0 }));
  // Subagents have few lines, so only the conversation itself is streamed.
  const upTo = function* (time: string | undefined): Generator<PastLine> {
    for (;;) {
      const first = rest
        .filter(({ lines, next }) => next < lines.length)
        .map((each) => ({ each, at: timeOf(each.lines[each.next]!) }))
        .sort((a, b) => (a.at ?? "").localeCompare(b.at ?? ""))[0];
      if (!first || (time !== undefined && first.at !== undefined && first.at >= time)) return;
      yield first.each.lines[first.each.next]!;
      first.each.next += 1;
    }
  };
  for await (const line of linesOf(file, "")) {
    const time = timeOf(line);
    if (time !== undefined) yield* upTo(time);
    yield line;
  }
  yield* upTo(undefined);
}

async function subagentsOf(file: string): Promise<{ lines: PastLine[] }[]> {
  const folder = join(file.replace(/\.jsonl$/, ""), "subagents");
  const entries = await entriesOf(folder);
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return Promise.all(
    names.flatMap((name) => {
      const taskId = SUBAGENT.exec(name)?.[1];
      return taskId === undefined ? [] : [readSubagent(folder, name, taskId)];
    }),
  );
}

async function readSubagent(folder: string, name: string, taskId: string): Promise<{ lines: PastLine[] }> {
  const metadata = await readMetadata(join(folder, `agent-${taskId}.meta.json`));
  const subagent = { taskId, toolUseId: metadata?.toolUseId, name: metadata?.agentType ?? "subagent" };
  const subpath = `subagents/agent-${taskId}`;
  const lines: PastLine[] = [];
  for await (const line of linesOf(join(folder, name), subpath)) {
    lines.push({ ...line, subagent, place: `${taskId}/${line.place}` });
  }
  // The format in which the transcript store keeps metadata.
  const line = metadata && { type: "agent_metadata", ...metadata };
  if (line) lines.unshift({ place: `${taskId}/metadata`, subpath, subagent, line, text: "", isLast: false });
  return { lines };
}

async function readMetadata(file: string) {
  try {
    await using handle = await openPlain(file);
    if ((await handle.stat()).size > MAX_METADATA_BYTES) return undefined;
    return metadataSchema.parse(JSON.parse(await handle.readFile("utf8")));
  } catch {
    return undefined;
  }
}

async function* linesOf(file: string, subpath: string): AsyncGenerator<PastLine> {
  await using handle = await openPlain(file);
  let count = 0;
  let held: PastLine | undefined;
  for await (const text of handle.readLines({ autoClose: false })) {
    count += 1;
    if (text.trim() === "") continue;
    if (held) yield held;
    held = { place: String(count), subpath, subagent: undefined, line: parse(text), text, isLast: false };
  }
  if (held) yield { ...held, isLast: true };
}

function parse(text: string): TranscriptLine | undefined {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Read-only, without following a symbolic link, and without blocking on a named pipe. */
const openPlain = (file: string): Promise<FileHandle> =>
  open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

const entriesOf = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []);

const timeOf = ({ line }: PastLine): string | undefined => timed.safeParse(line).data?.timestamp;
