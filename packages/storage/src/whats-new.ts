import { operation } from "./operation.ts";
import { all, list, sql, type Work } from "./sql.ts";

interface Waiting {
  session: string;
  position: number;
}

/** Sessions that have something in their inbox, and up to which position. */
export const waitingSessions = operation("inbox.waiting", function* (): Work<Waiting[]> {
  return yield* all(sql<Waiting>`
    select session, max(position) as position from inbox where taken = 0 group by session order by session`);
});

/** Where the logs of these sessions end, as far as there are such sessions, and what waits in any inbox. */
export const whatsNew = operation("events.whatsNew", function* (sessions: readonly string[]) {
  const heads = yield* all(sql<{ session: string; seq: number }>`
    select session, seq from log where session in ${list(sessions)}`);
  return { heads, waiting: yield* waitingSessions.work(undefined) };
});
