import { canonicalJson, type AuditEntry, type AuditKind, type SessionId } from "@tandem/protocol";
import type { AuditLog } from "../audit-log.ts";
import type { Database } from "../database.ts";
import {
  appendAudit,
  listAudit,
  readAudit,
  readAuditCursor,
  readAuditHead,
  unauditedSessions,
  type AuditRow,
} from "../operations/audit.ts";
import { readList } from "./read-list.ts";
import { toIso, toMs, toSpan } from "../rows/time.ts";

const decode = ({ at, kind, details, ...row }: AuditRow): AuditEntry => ({
  ...row,
  at: toIso(at),
  kind: kind as AuditKind,
  details: JSON.parse(details) as Record<string, unknown>,
});

export function createAuditLog(database: Database): AuditLog {
  return {
    append: async (notes, read) => {
      if (notes.length === 0 && !read) return [];
      const now = Date.now();
      const inputs = notes.map(({ actor, kind, session = null, details, at }) => ({
        at: at === undefined ? now : toMs(at),
        actor,
        kind,
        session,
        details: canonicalJson(details),
      }));
      return (await database.write(appendAudit, { notes: inputs, read }))?.map(decode);
    },
    cursor: (session) => database.read(readAuditCursor, session),
    behind: async (limit) => (await database.read(unauditedSessions, limit)) as SessionId[],
    head: () => database.read(readAuditHead, undefined),
    read: async (after, limit) => {
      const entries: AuditEntry[] = [];
      for (let from = after; entries.length < limit;) {
        const { rows, more } = await database.read(readAudit, { after: from, limit: limit - entries.length });
        entries.push(...rows.map(decode));
        if (!more) break;
        from = rows.at(-1)!.seq;
      }
      return entries;
    },
    list: ({ limit, cursor, order, created, session, actor, kinds }) => {
      const filter = { session, actor, kinds, created: toSpan(created) };
      return readList(
        "audit",
        { limit, cursor, order },
        (page) => database.read(listAudit, { page, filter }),
        ({ sort_at: _at, sort_id: _id, ...row }: AuditRow & { sort_at?: unknown; sort_id?: unknown }) => decode(row),
      );
    },
  };
}
