import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { z } from "zod";
import { copiedCall, markedCall, markerLine } from "./allowed-call.ts";
import type { ConversationSetup, TranscriptStore } from "./conversation.ts";
import { readTranscript, toolUseIds, toText, type TranscriptLine } from "./transcript/transcript-line.ts";

const UNKNOWN =
  "The process ended before this call had a result, so its outcome is not known. Check whether it took effect before you " +
  "rely on it or make it again.";

const block = z.looseObject({ type: z.string(), id: z.string().optional(), tool_use_id: z.string().optional() });
const entry = z.looseObject({
  type: z.enum(["user", "assistant"]),
  uuid: z.string(),
  isSidechain: z.boolean().optional(),
  message: z.looseObject({ content: z.union([z.string().transform(() => []), z.array(block)]) }),
});
type Entry = z.infer<typeof entry>;
const onMainBranch = z.looseObject({ uuid: z.string(), isSidechain: z.literal(false).optional() });

type Continuation = NonNullable<ConversationSetup["continuation"]>;
type Results = Continuation["results"];

/**
 * Adds results for the open calls of a transcript in Claude Code's own format: a result sent as a message would not be
 * recognised. Without a result, the model reads that the effect is unknown; a result whose call was lost is sent as a
 * message. A call that may run now is marked for Claude Code. Returns false if there is no turn to continue.
 */
export async function finishTurn(
  store: TranscriptStore,
  file: string,
  { results, run }: Continuation,
): Promise<boolean> {
  const lines = (await readTranscript(file)) ?? [];
  const { added, isOpen } = resultLines(lines, results, run ? [run.toolUseId, ...run.laterCalls] : []);
  if (run) {
    added.push(...copiedCall([...lines, ...added], run));
    added.push(markerLine([...lines, ...added], run));
  }
  await append(store, file, added);
  return isOpen || run !== undefined;
}

/** Closes the calls that a process was to run and did not finish, so that the next one does not run them again. */
export async function closeMarkedCalls(store: TranscriptStore, file: string): Promise<void> {
  const lines = (await readTranscript(file)) ?? [];
  const marked = new Set(lines.flatMap((line) => markedCall(line) ?? []));
  const others = lines.flatMap(toolUseIds).filter((id) => !marked.has(id));
  if (marked.size > 0) await append(store, file, resultLines(lines, [], others).added);
}

async function append(store: TranscriptStore, file: string, added: readonly TranscriptLine[]): Promise<void> {
  if (added.length === 0) return;
  await appendFile(file, toText(added));
  await store.append("", added);
}

export function resultLines(
  lines: readonly TranscriptLine[],
  results: Results,
  /** Calls that stay open. */
  open: readonly string[] = [],
): { added: TranscriptLine[]; isOpen: boolean } {
  const entries = lines.flatMap((line) => entry.safeParse(line).data ?? []).filter(({ isSidechain }) => !isSidechain);
  const answered = new Set(entries.flatMap(({ message }) => message.content.map(({ tool_use_id }) => tool_use_id)));
  const made = entries.flatMap((from) =>
    from.message.content.flatMap(({ type, id }) => (type === "tool_use" && id !== undefined ? [{ from, id }] : [])),
  );
  const closed = made.filter(({ id }) => !answered.has(id) && !open.includes(id));
  const lost = results.filter(({ toolUseId }) => !made.some(({ id }) => id === toolUseId));
  const last = entries.at(-1);
  // Attachments follow a message; a line beside them would be on a branch that Claude Code may not read.
  let parent = lines.flatMap((line) => onMainBranch.safeParse(line).data?.uuid ?? []).at(-1);
  const added = closed.map(({ from, id }) => {
    const line = resultLine(from, id, parent, results);
    parent = line.uuid;
    return line;
  });
  const words = lost.flatMap(({ inWords }) => inWords);
  if (last && words.length > 0) added.push(userLine(last, parent, words));
  // The model's turn comes after a message or a result, not after its own final answer.
  return { added, isOpen: added.length > 0 || last?.type === "user" };
}

function resultLine(from: Entry, id: string, parent: string | undefined, results: Results): UserLine {
  const result = results.find(({ toolUseId }) => toolUseId === id);
  const content = {
    type: "tool_result",
    tool_use_id: id,
    content: result ? [...result.content] : UNKNOWN,
    ...((result?.isError ?? true) && { is_error: true }),
  };
  return { ...userLine(from, parent, [content]), sourceToolAssistantUUID: from.uuid };
}

type UserLine = TranscriptLine & { uuid: string };

/** Fields that all lines of a conversation share. */
const envelope = z.object({
  isSidechain: z.boolean().optional(),
  userType: z.string().optional(),
  entrypoint: z.string().optional(),
  cwd: z.string().optional(),
  sessionId: z.string().optional(),
  version: z.string().optional(),
  gitBranch: z.string().optional(),
  slug: z.string().optional(),
});

/** Copies only the envelope: a line that also had another one's mark as internal would not continue the turn. */
function userLine(from: Entry, parent: string | undefined, content: readonly object[]): UserLine {
  return {
    ...envelope.parse(from),
    parentUuid: parent ?? from.uuid,
    type: "user",
    message: { role: "user", content: [...content] },
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
  };
}
