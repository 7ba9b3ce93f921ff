import {
  redactValue,
  type LoggedEvent,
  type SessionId,
  type ToolResultContent,
  type UserContent,
} from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";

/** Speaker of a passage. Only text typed by a user counts as a person's own. */
export type Speaker = "user" | "attachment" | "denial" | "agent" | "tool call" | "tool result";

/** One event of a session as text. */
export interface Passage {
  event: string;
  seq: number;
  speaker: Speaker;
  /** Tool name. */
  name?: string;
  text: string;
}

const TYPES = [
  "user.message",
  "user.tool_confirmation",
  "user.custom_tool_result",
  "agent.message",
  "agent.tool_use",
  "agent.mcp_tool_use",
  "agent.custom_tool_use",
  "agent.tool_result",
  "agent.mcp_tool_result",
];
const PAGE = 500;
/** Maximum length per passage: tool results are seldom worth remembering. */
const LONGEST: Readonly<Record<Speaker, number>> = {
  user: 12_000,
  attachment: 2_000,
  denial: 2_000,
  agent: 4_000,
  "tool call": 400,
  "tool result": 1_000,
};

const MAX_BEFORE = 1_500;

/** Passages of the primary thread after `after`, up to `limit` characters; at least one event if there is one. */
export async function readPassages(
  events: EventLog,
  session: SessionId,
  { after, limit }: { after: number; limit: number },
): Promise<{ passages: Passage[]; upTo: number; isAll: boolean }> {
  const passages: Passage[] = [];
  let [size, upTo] = [0, after];
  for (;;) {
    const page = await events.read(session, { after: upTo, limit: PAGE, types: TYPES, thread: null });
    for (const entry of page) {
      const found = passagesOf(entry);
      const length = found.reduce((sum, { text }) => sum + text.length, 0);
      if (size > 0 && size + length > limit) return { passages, upTo, isAll: false };
      passages.push(...found);
      size += length;
      upTo = entry.seq;
    }
    if (page.length < PAGE) return { passages, upTo: Math.max(upTo, after), isAll: true };
  }
}

/** The last passages before, as background. */
export async function readBefore(
  events: EventLog,
  session: SessionId,
  { before, count }: { before: number; count: number },
): Promise<Passage[]> {
  const page = await events.read(session, { before, order: "desc", limit: count, types: TYPES, thread: null });
  return page
    .toReversed()
    .flatMap(passagesOf)
    .map((passage) => ({ ...passage, text: clip(passage.text, MAX_BEFORE) }));
}

function passagesOf({ seq, event: stored }: LoggedEvent): Passage[] {
  // A person may have typed a credential.
  const event = redactValue(stored);
  const passage = (speaker: Speaker, text: string, name?: string): Passage[] =>
    text.trim() === ""
      ? []
      : [{ event: event.id, seq, speaker, text: clip(text, LONGEST[speaker]), ...(name !== undefined && { name }) }];
  switch (event.type) {
    case "user.message":
      return [
        ...passage("user", typed(event.content)),
        ...event.content.flatMap((block) => (block.type === "text" ? [] : passage("attachment", shown(block)))),
      ];
    case "user.tool_confirmation":
      return passage("denial", event.deny_message ?? "");
    case "agent.message":
      return passage("agent", typed(event.content));
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return passage("tool call", JSON.stringify(event.input), event.name);
    case "user.custom_tool_result":
    case "agent.tool_result":
    case "agent.mcp_tool_result":
      return passage("tool result", (event.content ?? []).map(shown).join("\n"));
    default:
      return [];
  }
}

const typed = (content: readonly (UserContent | ToolResultContent)[]): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

function shown(block: UserContent | ToolResultContent): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return "[an image]";
    case "document":
      return block.source.type === "text" ? block.source.data : `[a document${block.title ? `: ${block.title}` : ""}]`;
    case "search_result":
      return [block.title, ...block.content.map(({ text }) => text)].join("\n");
  }
}

const clip = (text: string, longest: number): string =>
  (text.length <= longest
    ? text
    : `${text.slice(0, longest)}\n[… ${text.length - longest} characters more]`
  ).toWellFormed();
