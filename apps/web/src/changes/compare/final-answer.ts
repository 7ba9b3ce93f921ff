import type { Message } from "@tandem/protocol";
import { messageText } from "../../text/message-text.ts";

/** The agent's last text that was not rewound; undefined if there is none. */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const latest = messages
    .filter(({ role, thread, rewound }) => role === "agent" && thread === null && rewound === undefined)
    .toSorted((a, b) => (b.seq ?? Number.MAX_SAFE_INTEGER) - (a.seq ?? Number.MAX_SAFE_INTEGER));
  for (const { parts } of latest) {
    const text = messageText(parts);
    if (text.trim() !== "") return text;
  }
  return undefined;
}
