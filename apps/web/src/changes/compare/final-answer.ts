import type { Message } from "@tandem/protocol";

/** The agent's last text that was not rewound; undefined if there is none. */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const latest = messages
    .filter(({ role, thread, rewound }) => role === "agent" && thread === null && rewound === undefined)
    .toSorted((a, b) => (b.seq ?? Number.MAX_SAFE_INTEGER) - (a.seq ?? Number.MAX_SAFE_INTEGER));
  for (const { parts } of latest) {
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
    if (text.trim() !== "") return text;
  }
  return undefined;
}
