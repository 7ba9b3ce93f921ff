import type { Clock, EventOf, SessionId, UsageNote } from "@tandem/protocol";
import { logEvents, type EventLog, type SessionRow } from "@tandem/storage";
import { readOpenTurn } from "../log/open-turn.ts";
import { isRequestEnd, REQUEST_ENDS } from "../log/request-end.ts";
import { UsageLedger } from "../log/usage-ledger.ts";
import { totalsOf, type Amounts } from "./amounts.ts";

type RequestEnd = EventOf<"span.model_request_end">;

/** The last response on the primary thread. */
export async function lastRequest(
  log: EventLog,
  session: SessionId,
): Promise<{ end: RequestEnd; at: number } | undefined> {
  const found = await log.read(session, { order: "desc", limit: 5, thread: null, types: ["span.model_request_end"] });
  const end = found.find(({ thread, event }) => thread === null && isAnswered(event as RequestEnd))?.event as
    | RequestEnd
    | undefined;
  return end && { end, at: Date.parse(end.processed_at ?? "") };
}

const isAnswered = ({ tandem }: RequestEnd): boolean => tandem.model !== undefined;

/** The session's spending at the start of the open turn. */
export async function totalsBeforeTurn(log: EventLog, session: SessionId): Promise<Amounts> {
  const [first] = await readOpenTurn(log, session);
  const [usage] = await log.read(session, {
    order: "desc",
    limit: 1,
    types: ["session.usage"],
    ...(first && { before: first.seq }),
  });
  return totalsOf(noteOf(usage?.event));
}

/** The session's spending until now, including the running turn. */
export async function totalsNow(log: EventLog, row: SessionRow, clock: Clock): Promise<Amounts> {
  const [usage] = await log.read(row.id, { order: "desc", limit: 1, types: ["session.usage"] });
  const ledger = new UsageLedger(row.primaryThread, clock, { note: noteOf(usage?.event) });
  for await (const { thread, event } of logEvents(log, row.id, { after: usage?.seq, types: REQUEST_ENDS })) {
    if (isRequestEnd(event)) ledger.add(thread, event);
  }
  return totalsOf(ledger.note);
}

const noteOf = (event: { type: string } | undefined): UsageNote | undefined =>
  event?.type === "session.usage" ? (event as EventOf<"session.usage">).tandem : undefined;
