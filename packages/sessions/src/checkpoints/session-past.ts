import { RequestError, type EventId, type EventOf, type LoggedEvent, type SessionId } from "@tandem/protocol";
import { logEvents, type EventLog } from "@tandem/storage";
import { PROMPT_TYPES, promptOf } from "../log/outcome-prompt.ts";
import { isRewound, rewoundSpans } from "../log/rewound-spans.ts";

const TYPES = [
  ...PROMPT_TYPES,
  "session.usage",
  "session.status_idle",
  "session.status_terminated",
  "tandem.checkpoint",
  "tandem.rewound",
];
const SHOWN_TEXT = 200;

/** A turn, built from the log. */
export interface PastTurn {
  /** Starts at 1, in log order; rewound turns keep their number. */
  number: number;
  message: EventId;
  seq: number;
  at: string | null;
  /** The start of its message's text. */
  text: string;
  /** The turn was rewound and is no longer in the agent's context. */
  rewound: boolean;
}

/** A checkpoint at its position in the log; `rewound` is the state after a rewind. */
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

/** The turns and checkpoints in a session's log. */
export async function readPast(log: EventLog, session: SessionId): Promise<SessionPast> {
  const spans = await rewoundSpans(log, session);
  const past: SessionPast = { turns: [], marks: [], rewinds: [] };
  let isFree = true;
  for await (const logged of logEvents(log, session, { types: TYPES })) {
    isFree = note(past, logged, isFree, isRewound(logged.seq, spans));
  }
  return past;
}

/** Returns whether the next message starts a turn: a message during a turn belongs to it. */
function note(past: SessionPast, { seq, thread, event }: LoggedEvent, isFree: boolean, rewound: boolean): boolean {
  switch (event.type) {
    case "user.message":
    case "user.define_outcome":
    case "span.outcome_evaluation_end": {
      if (thread !== null || !isFree || !promptOf(event)) return isFree;
      past.turns.push({
        number: past.turns.length + 1,
        message: event.id,
        seq,
        at: event.processed_at,
        rewound,
        text: textOf(event).slice(0, SHOWN_TEXT),
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

function textOf(event: EventOf<"user.message" | "user.define_outcome" | "span.outcome_evaluation_end">): string {
  if (event.type === "user.define_outcome") return event.description;
  if (event.type === "span.outcome_evaluation_end") return event.explanation;
  return event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
}

/** Finds a turn by number or message; by default the last one in the agent's context. */
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
    throw new RequestError("conflict", `Turn ${found.number} was rewound and is no longer part of the conversation.`, {
      fix: "Undo the rewind first.",
    });
  }
  throw new RequestError("not_found", `The session has no turn ${name}.`, {
    fix: message === undefined ? "List them: tandem diff SESSION --turns." : "Name the message that began a turn.",
  });
}

/** The files before a turn: its own checkpoint, or the last one before it. */
export const markBefore = ({ marks }: SessionPast, { message, seq }: PastTurn): PastMark | undefined =>
  marks.find((mark) => mark.kind === "before" && mark.message === message) ?? marks.findLast((mark) => mark.seq < seq);
