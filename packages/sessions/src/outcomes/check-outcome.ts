import { RequestError, type ClientEvent, type EventId, type FileId, type SessionEvent } from "@tandem/protocol";
import type { FileStore, SessionRow } from "@tandem/storage";
import type { SessionCommands } from "../commands/session-commands.ts";
import { checkConnection, type GraderQueries } from "./program-grader.ts";
import { activeOutcome } from "../log/outcome-state.ts";

type DefineOutcome = Extract<ClientEvent, { type: "user.define_outcome" }>;

const MAX_RUBRIC = 262_144;

export interface OutcomeCheck {
  files: FileStore;
  commands: Pick<SessionCommands, "judgeShell">;
  queries: GraderQueries | undefined;
}

/** Validates an outcome when it is sent, and replaces a file of the rubric by its text. */
export async function checkOutcome<E extends Pick<DefineOutcome, "rubric" | "tandem">>(
  row: Pick<SessionRow, "id" | "agent" | "folder">,
  event: E,
  place: string,
  { files, commands, queries }: OutcomeCheck,
): Promise<E> {
  const grader = event.tandem?.grader;
  if (grader?.type === "command") await commands.judgeShell(row, grader.command);
  if (grader?.type === "sql") checkConnection(grader.connection, queries);
  if (event.rubric.type === "text") return event;
  const { file_id: id } = event.rubric;
  const bytes = (await files.get(id)) && (await files.content(id as FileId));
  if (!bytes) throw new RequestError("not_found", `${place}.rubric.file_id: there is no file ${id}.`);
  const content = asText(bytes);
  if (content === undefined || content.trim() === "")
    throw invalid(`${place}.rubric.file_id: the file ${id} has no text`);
  if (content.length > MAX_RUBRIC) {
    throw invalid(`${place}.rubric.file_id: a rubric may have ${MAX_RUBRIC} characters; ${id} has ${content.length}`);
  }
  return { ...event, rubric: { type: "text", content } };
}

/** A session works towards one outcome at a time. */
export function refuseSecondOutcome(
  events: readonly ClientEvent[],
  place: string,
  { row, waiting = [] }: { row?: SessionRow; waiting?: readonly SessionEvent[] } = {},
): void {
  const isOutcome = ({ type }: { type: string }): boolean => type === "user.define_outcome";
  const sent = events.filter(isOutcome).length;
  if (sent > 1) throw invalid(`${place}: expected at most one user.define_outcome`);
  if (sent === 0 || !row || (!activeOutcome(row) && !waiting.some(isOutcome))) return;
  throw new RequestError("invalid_request", `${place}: the session ${row.id} works towards another outcome.`, {
    fix: "Wait until that outcome has ended, or send user.interrupt first.",
  });
}

/** The event for the input queue. Its outcome is named after it, so that a retried request names the same one. */
export const outcomeEvent = (
  { description, rubric, max_iterations = null, tandem }: DefineOutcome,
  { id, by, at }: { id: EventId; by: string | undefined; at: string },
): SessionEvent => ({
  type: "user.define_outcome",
  id,
  processed_at: at,
  outcome_id: id.replace(/^[^_]*/, "outc"),
  description,
  rubric,
  max_iterations,
  ...((by !== undefined || tandem?.grader) && {
    tandem: { ...(tandem?.grader && { grader: tandem.grader }), ...(by !== undefined && { by }) },
  }),
});

function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
