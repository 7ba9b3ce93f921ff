import { operation } from "../operation.ts";
import { all, list, sql } from "../sql.ts";
import { waitingSessions } from "./inbox.ts";

/** Where the logs of these sessions end, as far as there are such sessions, and what waits in any inbox. */
export const whatsNew = operation("events.whatsNew", function* (sessions: readonly string[]) {
  const heads = yield* all(sql<{ session: string; seq: number }>`
    select session, seq from log where session in ${list(sessions)}`);
  return { heads, waiting: yield* waitingSessions.work(undefined) };
});
