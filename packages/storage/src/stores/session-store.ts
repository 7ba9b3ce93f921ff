import type { SessionEvent } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import {
  createSession,
  DAY_MS,
  deleteSession,
  getSession,
  listSessions,
  listThreads,
  listCosts,
  sumUsage,
  type CreateSessionArgs,
} from "../operations/sessions.ts";
import type { SessionRow, SessionStore, ThreadRow } from "../store.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import { encodeEvent } from "../rows/event-row.ts";
import { toEntry } from "./input-queue.ts";
import { plainLease } from "./leases.ts";
import { readList } from "./read-list.ts";
import { decodeSession, decodeThread, encodeSession, encodeThread } from "../rows/session-row.ts";
import { toIso, toMs, toSpan } from "../rows/time.ts";
import { encodeTranscript } from "./transcripts.ts";

/** Created with the session; the engine updates it later. */
function primaryThread(row: SessionRow): ThreadRow {
  const { multiagent: _, ...agent } = row.agent;
  return {
    id: row.primaryThread,
    session: row.id,
    parent: null,
    agent,
    status: row.status,
    usage: row.usage,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    archivedAt: row.archivedAt,
  };
}

export function createSessionStore(
  database: Database,
  broadcast: Broadcast,
  announcements: AnnouncementPort,
): SessionStore {
  const add = async (
    row: SessionRow,
    threads: readonly ThreadRow[],
    input: readonly SessionEvent[],
    past?: Pick<CreateSessionArgs, "events" | "transcripts">,
  ): Promise<void> => {
    const args: Omit<CreateSessionArgs, "announce"> = {
      session: encodeSession(row),
      threads: threads.map(encodeThread),
      input: input.map(toEntry),
      events: [],
      transcripts: [],
      ...past,
    };
    await announcements.with([{ type: "session.created", id: row.id }], (announce) =>
      database.write(createSession, { ...args, announce }),
    );
    if (input.length > 0) broadcast.put(row.id, input.length);
  };
  return {
    create: (row, input) => add(row, [primaryThread(row)], input),
    restore: ({ session, threads, events, input, transcripts }) =>
      add(session, threads, input, {
        events: events.map(({ thread, event }) => encodeEvent(thread, event)),
        transcripts: transcripts.flatMap(({ subpath, lines }) => encodeTranscript(subpath, lines)),
      }),
    get: async (id) => {
      const row = await database.read(getSession, id);
      return row && decodeSession(row);
    },
    list: ({ limit, cursor, order, created, ...rest }) => {
      const filter = { ...rest, created: toSpan(created) };
      return readList(
        "sessions",
        { limit, cursor, order },
        (page) => database.read(listSessions, { page, filter }),
        decodeSession,
      );
    },
    threads: async (session) => (await database.read(listThreads, session)).map(decodeThread),
    delete: async (lease) => {
      // Not in the session's write queue, which a long deletion would block.
      await announcements.with([{ type: "session.deleted", id: lease.session }], (announce) =>
        database.write(deleteSession, { lease: plainLease(lease), announce }),
      );
      broadcast.gone(lease.session);
    },
    modelUsage: async ({ from, to }) => {
      const rows = await database.read(listCosts, { from: toMs(from), to: toMs(to) });
      const sums = new Map<string, { day: string; model: string; usd: number }>();
      for (const { day, state } of rows) {
        const { modelMicroUsd = {} } = JSON.parse(state) as Pick<SessionRow, "modelMicroUsd">;
        for (const [model, micros] of Object.entries(modelMicroUsd)) {
          const sum = sums.get(`${day} ${model}`) ?? { day: toIso(day * DAY_MS).slice(0, 10), model, usd: 0 };
          sums.set(`${day} ${model}`, { ...sum, usd: sum.usd + micros / 1_000_000 });
        }
      }
      return [...sums.values()];
    },
    usage: async ({ from, to }) => {
      const rows = await database.read(sumUsage, { from: toMs(from), to: toMs(to) });
      return rows.map(({ day, agent_id, micros, sessions }) => ({
        day: toIso(day * DAY_MS).slice(0, 10),
        agentId: agent_id,
        usd: micros / 1_000_000,
        sessions,
      }));
    },
  };
}
