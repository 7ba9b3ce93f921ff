import { operation } from "../operation.ts";
import { Refusal } from "../refusal.ts";
import { all, insert, join, one, sql, type Work } from "../sql-statement.ts";
import type { Lease } from "../lease.ts";
import { fence } from "./fence.ts";

/** Lines with images are long, and they are parsed on the caller's thread. */
export const LINES_AT_ONCE = 200;
const LINES_PER_INSERT = 64;

/** `position` starts at 1; appended rows continue after the stored ones. */
export interface TranscriptRow {
  subpath: string;
  position: number;
  uuid: string | null;
  body: string;
}

interface WriteArgs {
  lease: Lease;
  subpath: string;
  rows: TranscriptRow[];
}

export const appendTranscript = operation("transcripts.append", append, { single: appendInOneStatement });

function* append(args: WriteArgs): Work<void> {
  const { number } = yield* fence(args.lease);
  yield* add(number, args);
}

function appendInOneStatement(args: WriteArgs): Work<void> | undefined {
  return args.rows.length > 0 && args.rows.length <= LINES_PER_INSERT ? fenceAndAdd(args) : undefined;
}

/**
 * Ignores only lines that are stored already. Another writer's lines at the same positions, which this statement's snapshot may
 * lack, are a conflict: the append is then repeated as a transaction.
 */
function* fenceAndAdd({ lease, subpath, rows }: WriteArgs): Work<void> {
  const lines = rows.map(({ position, uuid, body }, index) =>
    index === 0
      ? sql`(cast(${position} as bigint), cast(${uuid} as text), ${body})`
      : sql`(${position}, ${uuid}, ${body})`,
  );
  const row = yield* one(sql<{ number: number }>`
    with fence as (
      update log set lease_token = lease_token
      where session = ${lease.session} and lease_token = ${lease.token} and lease_holder is not null
      returning number
    ), last as (
      select coalesce(max(transcript.position), 0) as position from fence
      left join transcript on transcript.log = fence.number and transcript.subpath = ${subpath}
    ), stored as (
      insert into transcript (log, subpath, position, uuid, body)
      select fence.number, ${subpath}, last.position + fresh.position, fresh.uuid, fresh.body
      from fence, last, (values ${join(lines, ", ")}) as fresh (position, uuid, body)
      on conflict (log, subpath, uuid) where uuid is not null do nothing
    )
    select number from fence`);
  if (!row) throw new Refusal({ type: "lease_lost", session: lease.session });
}

export const replaceTranscript = operation("transcripts.replace", function* (args: WriteArgs): Work<void> {
  const { number } = yield* fence(args.lease);
  yield sql`delete from transcript where log = ${number} and subpath = ${args.subpath}`;
  yield* add(number, args);
});

function* add(log: number, { subpath, rows }: WriteArgs): Work<void> {
  const last = yield* one(sql<{ position: number | null }>`
    select max(position) as position from transcript where log = ${log} and subpath = ${subpath}`);
  const offset = last?.position ?? 0;
  for (let from = 0; from < rows.length; from += LINES_PER_INSERT) {
    const some = rows.slice(from, from + LINES_PER_INSERT);
    const columns = some.map((row) => ({ log, ...row, position: row.position + offset }));
    yield sql`${insert("transcript", columns)} on conflict do nothing`;
  }
}

export const readTranscript = operation(
  "transcripts.read",
  function* (args: { session: string; subpath: string; after: number }) {
    return yield* all(sql<{ position: number; body: string }>`
    select position, body from transcript
    where log = (select number from log where session = ${args.session})
      and subpath = ${args.subpath} and position > ${args.after}
    order by position limit ${LINES_AT_ONCE}`);
  },
);

export const listSubpaths = operation("transcripts.subpaths", function* (session: string): Work<{ subpath: string }[]> {
  return yield* all(sql<{ subpath: string }>`
    select distinct subpath from transcript
    where log = (select number from log where session = ${session}) order by subpath`);
});
