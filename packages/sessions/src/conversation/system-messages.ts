import type { EventOf, SessionId, TextBlock } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { isRewound, rewoundSpans } from "../log/rewound-spans.ts";

type SystemMessage = EventOf<"system.message">;

const PAGE = 500;

/**
 * The system messages that clients sent. Claude Code takes a system prompt only when its process starts: a process that runs
 * gets a new one as a marked element before the next message or tool result.
 */
export class SystemMessages {
  #pending: SystemMessage[] = [];

  add(message: SystemMessage): void {
    this.#pending.push(message);
  }

  /** For the running process; each message once. */
  take(): TextBlock[] {
    return this.#pending.splice(0).map((message) => ({
      type: "text",
      text: `<system-message id="${message.id}">\n${textOf(message)}\n</system-message>`,
    }));
  }

  /** For the system prompt of a new process: all messages that no rewind removed. */
  async read(log: EventLog, session: SessionId): Promise<string[]> {
    this.#pending = [];
    const texts: string[] = [];
    const spans = await rewoundSpans(log, session);
    for (let after = 0, isLast = false; !isLast;) {
      const found = await log.read(session, { after, limit: PAGE, types: ["system.message"] });
      for (const { seq, event } of found) {
        after = seq;
        if (event.type === "system.message" && !isRewound(seq, spans)) texts.push(textOf(event));
      }
      isLast = found.length < PAGE;
    }
    return texts;
  }
}

const textOf = ({ content }: SystemMessage): string => content.map(({ text }) => text).join("\n\n");
