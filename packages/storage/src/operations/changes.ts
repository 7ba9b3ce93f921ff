import { operation } from "../operation.ts";
import { all, list, sql } from "../sql-statement.ts";
import { waitingSessions } from "./input-queue.ts";
import { isUnfinished } from "./jobs.ts";

/** Reads the heads of these logs, the ended jobs among them, and all sessions with input. */
export const readChanges = operation("events.whatsNew", function* (sessions: readonly string[]) {
  const heads = yield* all(sql<{ session: string; seq: number }>`
    select session, seq from log where session in ${list(sessions)}`);
  const ended = yield* all(sql<{ id: string }>`
    select id from job where id in ${list(sessions)} and not ${isUnfinished}`);
  return { heads, ended, waiting: yield* waitingSessions.work(undefined) };
});
