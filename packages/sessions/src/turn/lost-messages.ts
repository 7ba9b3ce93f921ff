import { createHash } from "node:crypto";
import type { Conversation, ModelContent } from "@tandem/claude-code";
import type { EventId, SessionEvent, SessionId, ThreadId } from "@tandem/protocol";
import type { EventLog, SessionRow, Store, Transcripts } from "@tandem/storage";
import { isRewound, rewoundSpans } from "../log/rewound-spans.ts";
import { PROMPT_TYPES, promptOf } from "../log/outcome-prompt.ts";
import { readContent } from "../log/read-content.ts";
import { loadTranscripts } from "../process/transcript-store.ts";

const LOOKED_AT = 20;
const NOTES_LOOKED_AT = 1_000;

/** The id of a message in Claude Code's transcript; deterministic. */
export function messageUuid(id: EventId | ThreadId): string {
  const hex = createHash("sha256").update(id).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Finds messages that are logged but missing from the transcript: a process that dies at once saves nothing. They are sent to
 * the model before the next message, so that no acknowledged message is lost.
 */
export async function lostMessages(
  store: Store,
  session: SessionId,
  conversation: Conversation,
  sending: EventId,
  /** Whether hooks must approve messages before the model gets them. */
  isGuarded: boolean,
): Promise<ModelContent[]> {
  const recent = await store.events.read(session, { order: "desc", limit: LOOKED_AT, types: PROMPT_TYPES });
  const spans = await rewoundSpans(store.events, session);
  const mayBeTold = await passed(store.events, session, isGuarded);
  const messages = recent
    .filter(({ seq, event }) => event.id !== sending && !isRewound(seq, spans) && mayBeTold(event))
    .flatMap(({ event }) => promptOf(event) ?? []);
  const known = messages.findIndex(({ id }) => conversation.remembers(messageUuid(id)));
  const lost = (known === -1 ? messages : messages.slice(0, known)).toReversed();
  if (lost.length === 0) return [];
  const contents = await Promise.all(lost.map(({ content }) => readContent(content, store.files).catch(unreadable)));
  return [
    {
      type: "text",
      text: "[Tandem] The process died before it had kept these earlier messages of the user. What was done because of them, if anything, is not known.",
    },
    ...contents.flat(),
    { type: "text", text: "[Tandem] The user's present message:" },
  ];
}

/** A blocked message is not lost. A message that no hook has seen must not be sent, because the hook might block it. */
async function passed(
  events: EventLog,
  session: SessionId,
  isGuarded: boolean,
): Promise<(event: SessionEvent) => boolean> {
  const types = ["tandem.dropped", "tandem.hook"];
  const said = await events.read(session, { order: "desc", limit: NOTES_LOOKED_AT, types });
  const dropped = new Set<string>();
  const asked = new Set<string>();
  for (const { event } of said) {
    if (event.type === "tandem.dropped") dropped.add(event.event_id);
    if (event.type === "tandem.hook" && event.on === "prompt" && event.event_id) asked.add(event.event_id);
  }
  // Verdicts are ours.
  return ({ id, type }) => !dropped.has(id) && (!isGuarded || asked.has(id) || type === "span.outcome_evaluation_end");
}

/** A missing file must not block the session. */
const unreadable = (error: unknown): ModelContent[] => [
  { type: "text", text: `[Tandem] A message that cannot be read any more: ${String(error)}` },
];

/** Whether the stored transcript contains the message. */
export async function isKept(transcripts: Transcripts, row: SessionRow, message: EventId): Promise<boolean> {
  // Imported lazily: commands that only read sessions start faster without it.
  const { messageUuids } = await import("@tandem/claude-code");
  const uuid = messageUuid(message);
  const lines = (await loadTranscripts(transcripts, row.id, row.claudeSession)).get("") ?? [];
  return lines.some((line) => messageUuids(line).includes(uuid));
}
