import type { SessionOutcome } from "@tandem/protocol";
import type { Entry } from "./outbox.ts";

const MAX_CHARS = 240;

const EMPTY: SessionOutcome = { text: null, error: null, files: null, added: null, removed: null, branch: null };

/**
 * Summarises a session's progress for lists: stored in its row, so that a list reads no logs. Returns the same object if
 * the entries change nothing.
 */
export function foldOutcome(before: SessionOutcome | null | undefined, entries: readonly Entry[]): SessionOutcome {
  let outcome = before ?? EMPTY;
  for (const { thread, event } of entries) if (thread === null) outcome = foldEvent(outcome, event);
  return outcome;
}

function foldEvent(outcome: SessionOutcome, event: Entry["event"]): SessionOutcome {
  switch (event.type) {
    case "user.message":
    case "user.define_outcome":
      return outcome.error === null ? outcome : { ...outcome, error: null };
    case "agent.message": {
      const text = lastLine(event.content.map((block) => block.text).join("\n"));
      return text === "" ? outcome : { ...outcome, text };
    }
    case "session.error":
      if (event.error.retry_status.type === "retrying") return outcome;
      return { ...outcome, error: event.error.message.slice(0, MAX_CHARS) };
    case "tandem.checkpoint":
      if (!event.total && event.branch === undefined) return outcome;
      return { ...outcome, ...event.total, ...(event.branch !== undefined && { branch: event.branch }) };
    case "tandem.push": {
      const { branch, commit, pull_request: opened } = event;
      return { ...outcome, pushed: { branch, commit, pull_request: opened?.url ?? null } };
    }
    case "tandem.rewound":
      // The next turn's checkpoint counts the files again.
      return {
        ...outcome,
        ...(event.scope !== "files" && { text: null, error: null }),
        ...(event.scope !== "conversation" && { files: null, added: null, removed: null }),
      };
    default:
      return outcome;
  }
}

/** The last line of an answer that says something, without Markdown signs. */
function lastLine(text: string): string {
  const lines = text
    .replaceAll(/^\s*(```|~~~)[\s\S]*?^\s*\1.*$/gm, "")
    .split("\n")
    .map(plain);
  const line = lines.findLast((each) => /[\p{L}\p{N}]/u.test(each)) ?? "";
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line;
}

const plain = (line: string): string =>
  line
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/(\*\*|__|`)/g, "")
    .replaceAll(/(?<![\p{L}\p{N}])([*_])(\S.*?\S|\S)\1(?![\p{L}\p{N}])/gu, "$2")
    .trim();
