import { auditHash } from "../audit/audit-hash.ts";
import { operation } from "../operation.ts";
import { all, insertAll, list, one, sql, type Work } from "../sql-statement.ts";
import { countWithin, type PageArgs, readPage, type Span, within } from "./read-page.ts";

const ENTRIES_AT_ONCE = 500;
/** Rows are parsed on the caller's thread; a limit keeps its event loop responsive. */
const BYTES_AT_ONCE = 1_000_000;

export interface AuditRow {
  seq: number;
  at: number;
  actor: string;
  kind: string;
  session: string | null;
  /** JSON. */
  details: string;
  previous: string;
  hash: string;
}

type AuditInput = Pick<AuditRow, "at" | "actor" | "kind" | "session" | "details">;

export interface AppendAudit {
  notes: readonly AuditInput[];
  read: { session: string; after: number; to: number } | undefined;
}

/** False if another process has moved it. Without entries to append, it need not lock the chain. */
function* moveCursor({ session, after, to }: NonNullable<AppendAudit["read"]>): Work<boolean> {
  const moved = yield* one(sql`
    insert into audit_cursor (session, seq) select ${session}, cast(${to} as bigint)
    where cast(${after} as bigint) = 0 or exists (select 1 from audit_cursor where session = ${session})
    on conflict (session) do update set seq = excluded.seq where audit_cursor.seq = ${after} returning seq`);
  return moved !== undefined;
}

/** Undefined if another process has audited this part of the session's log already. */
export const appendAudit = operation("audit.append", function* (args: AppendAudit): Work<AuditRow[] | undefined> {
  const { notes, read } = args;
  if (read && notes.length === 0) return (yield* moveCursor(read)) ? [] : undefined;
  // Updating the head locks it: appends from all processes are serialised, because there is only one chain.
  const head = (yield* one(sql<{ seq: number; hash: string }>`
    update audit_head set seq = seq + ${notes.length} returning seq - ${notes.length} as seq, hash`))!;
  if (read && !(yield* moveCursor(read))) {
    yield sql`update audit_head set seq = ${head.seq}`;
    return undefined;
  }
  const rows: AuditRow[] = [];
  let { seq, hash: previous } = head;
  for (const note of notes) {
    seq += 1;
    const details: unknown = JSON.parse(note.details);
    const hash = auditHash(previous, { ...note, seq, at: new Date(note.at).toISOString(), details });
    rows.push({ ...note, seq, previous, hash });
    previous = hash;
  }
  yield* insertAll(
    "audit",
    rows.map((row) => ({ ...row })),
  );
  yield sql`update audit_head set hash = ${previous}`;
  return rows;
});

export const readAuditHead = operation("audit.head", function* (): Work<{ seq: number; hash: string }> {
  return (yield* one(sql<{ seq: number; hash: string }>`select seq, hash from audit_head`))!;
});

export const readAuditCursor = operation("audit.cursor", function* (session: string): Work<{
  after: number;
  head: number;
}> {
  const row = yield* one(sql<{ after: number; head: number }>`
    select coalesce(audit_cursor.seq, 0) as after, log.seq as head
    from log left join audit_cursor on audit_cursor.session = log.session where log.session = ${session}`);
  return row ?? { after: 0, head: 0 };
});

/** Job logs are not audited. */
export const unauditedSessions = operation("audit.behind", function* (limit: number): Work<string[]> {
  const rows = yield* all(sql<{ id: string }>`
    select log.session as id from log
    join session on session.id = log.session
    left join audit_cursor on audit_cursor.session = log.session
    where log.seq > coalesce(audit_cursor.seq, 0) order by log.session limit ${limit}`);
  return rows.map(({ id }) => id);
});

export const readAudit = operation("audit.read", function* (args: { after: number; limit: number }): Work<{
  rows: AuditRow[];
  more: boolean;
}> {
  const limit = Math.min(args.limit, ENTRIES_AT_ONCE);
  const sizes = yield* all(sql<{ bytes: number }>`
    select octet_length(details) as bytes from audit where seq > ${args.after} order by seq limit ${limit}`);
  const count = countWithin(BYTES_AT_ONCE, sizes);
  if (count === 0) return { rows: [], more: false };
  const rows = yield* all(sql<AuditRow>`
    select seq, at, actor, kind, session, details, previous, hash
    from audit where seq > ${args.after} order by seq limit ${count}`);
  return { rows, more: count === limit || count < sizes.length };
});

export interface AuditFilter {
  session?: string;
  actor?: string;
  kinds?: readonly string[];
  created?: Span;
}

export const listAudit = operation("audit.list", function* (args: { page: PageArgs; filter: AuditFilter }) {
  const { session, actor, kinds, created } = args.filter;
  return yield* readPage<AuditRow>(args.page, {
    select: sql`seq, at, actor, kind, session, details, previous, hash from audit`,
    at: "seq",
    id: "hash",
    conditions: [
      ...(session === undefined ? [] : [sql`session = ${session}`]),
      ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
      ...(kinds === undefined ? [] : [sql`kind in ${list(kinds)}`]),
      ...within("at", created),
    ],
  });
});
