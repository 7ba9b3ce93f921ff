import type { LoggedEvent } from "@tandem/protocol";
import { api } from "./client.ts";

const PAGE = 2_000;

export interface WholeLog {
  events: LoggedEvent[];
  isWhole: boolean;
}

/** The events of a session after a position, read from the end of the log; of a longer log than `most` only the end. */
export async function readLog(
  session: string,
  { after = 0, most = Infinity, signal }: { after?: number; most?: number; signal?: AbortSignal } = {},
): Promise<WholeLog> {
  const pages: LoggedEvent[][] = [];
  let count = 0;
  for (let before: number | undefined; ;) {
    const page: { data: LoggedEvent[]; before: number | null } = await api.call("sessions.log.list", {
      params: { session_id: session },
      query: { limit: PAGE, before },
      ...(signal && { signal }),
    });
    const isThere = page.before === null || page.data.some(({ seq }) => seq <= after);
    const fresh = page.data.filter(({ seq }) => seq > after);
    pages.unshift(fresh);
    count += fresh.length;
    if (isThere || count >= most) return { events: pages.flat(), isWhole: isThere };
    before = page.before ?? undefined;
  }
}
