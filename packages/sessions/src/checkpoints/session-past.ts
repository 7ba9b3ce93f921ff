import { RequestError, type EventId, type EventOf, type LoggedEvent, type SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import { isRewound, rewoundSpans } from "../log/rewound-spans.ts";

const PAGE = 1_000;
const TYPES = [
  "user.message",
  "session.usage",
  "session.status_idle",
  "session.status_terminated",
  "tandem.checkpoint",
  "tandem.rewound",
];
const SHOWN_TEXT = 200;

/** A turn as its log tells of it. */
export interface PastTurn {
  /** From 1, in the order of the log; what was rewound keeps its number. */
  number: number;
  message: EventId;
  seq: number;
  at: string | null;
  /** The beginning of what was said. */
  text: string;
  /** The agent does not remember it any more. */
  rewound: boolean;
}

/** A checkpoint in its place in the log; `rewound` is how a rewind left the files. */
export interface PastMark {
  seq: number;
  kind: "before" | "after" | "rewind" | "rewound";
  checkpoint: string;
  message: EventId | null;
  at: string | null;
  filesChanged: number;
  skipped: number;
}

export interface SessionPast {
  turns: PastTurn[];
  marks: PastMark[];
  rewinds: { seq: number; event: EventOf<"tandem.rewound"> }[];
}

/** What a session's log tells about its turns and checkpoints. */
export async function readPast(log: EventLog, session: SessionId): Promise<SessionPast> {
  const spans = await rewoundSpans(log, session);
  const past: SessionPast = { turns: [], marks: [], rewinds: [] };
  let isFree = true;
  for (let after = 0; ;) {
    const page = await log.read(session, { after, limit: PAGE, types: TYPES });
    for (const logged of page) isFree = note(past, logged, isFree, isRewound(logged.seq, spans));
    if (page.length < PAGE) return past;
    after = page.at(-1)!.seq;
  }
}

/** Returns whether the next message begins a turn: one that comes while a turn is at work is a part of that. */
function note(past: SessionPast, { seq, thread, event }: LoggedEvent, isFree: boolean, rewound: boolean): boolean {
  switch (event.type) {
    case "user.message": {
      if (thread !== null || !isFree) return isFree;
      const text = event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
      past.turns.push({
        number: past.turns.length + 1,
        message: event.id,
        seq,
        at: event.processed_at,
        rewound,
        text: text.slice(0, SHOWN_TEXT),
      });
      return false;
    }
    case "tandem.checkpoint":
      past.marks.push({
        seq,
        kind: event.when,
        checkpoint: event.checkpoint_id,
        message: event.message_id,
        at: event.processed_at,
        filesChanged: event.files_changed,
        skipped: event.skipped,
      });
      return isFree;
    case "tandem.rewound":
      past.rewinds.push({ seq, event });
      if (event.checkpoint_id !== null) {
        past.marks.push({
          seq,
          kind: "rewound",
          checkpoint: event.checkpoint_id,
          message: event.to_message_id,
          at: event.processed_at,
          filesChanged: event.files,
          skipped: 0,
        });
      }
      return isFree;
    case "session.status_idle":
      return isFree || event.stop_reason.type !== "requires_action";
    default:
      return true;
  }
}

/** The turn that a number or a message names; without either, the last one that the agent remembers. */
export function findTurn(past: SessionPast, wanted: { turn?: number; message?: string }): PastTurn {
  const live = past.turns.filter(({ rewound }) => !rewound);
  const { turn, message } = wanted;
  const found =
    turn === undefined && message === undefined
      ? live.at(-1)
      : past.turns.find((each) => (turn === undefined ? each.message === message : each.number === turn));
  if (found && !found.rewound) return found;
  const name = turn === undefined ? (message ?? "to go back to") : String(turn);
  if (found) {
    throw new RequestError("conflict", `Turn ${found.number} was rewound: the agent does not remember it.`, {
      fix: "Undo the rewind first.",
    });
  }
  throw new RequestError("not_found", `The session has no turn ${name}.`, {
    fix: message === undefined ? "List them: tandem diff SESSION --turns." : "Name the message that began a turn.",
  });
}

/** How the files stood before a turn: its own checkpoint, or the last one before it. */
export const markBefore = ({ marks }: SessionPast, { message, seq }: PastTurn): PastMark | undefined =>
  marks.find((mark) => mark.kind === "before" && mark.message === message) ?? marks.findLast((mark) => mark.seq < seq);
