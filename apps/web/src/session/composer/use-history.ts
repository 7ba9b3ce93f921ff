import type { Message } from "@tandem/protocol";
import { useRef } from "react";
import { messageText } from "../../text/message-text.ts";
import type { LiveLog } from "../../live/live-log.ts";

/** Browses sent messages. The current draft is the last entry. */
export function useHistory(log: LiveLog): {
  go: (step: -1 | 1, text: string) => string | undefined;
  leave: () => void;
} {
  const place = useRef<number>(undefined);
  const unsent = useRef("");
  return {
    go: (step, text) => {
      const sent = sentTexts(log.messages.current);
      const from = place.current ?? sent.length;
      const to = from + step;
      if (to < 0 || to > sent.length || sent.length === 0) return undefined;
      if (from === sent.length) unsent.current = text;
      place.current = to;
      return to === sent.length ? unsent.current : sent[to];
    },
    leave: () => {
      place.current = undefined;
    },
  };
}

const sentTexts = (messages: readonly Message[]): string[] =>
  messages
    .filter(({ role, thread }) => role === "user" && thread === null)
    .map(({ parts }) => messageText(parts))
    .filter((text, index, all) => text !== "" && text !== all[index - 1]);
