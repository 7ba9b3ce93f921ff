import { operation } from "../operation.ts";
import { refuse } from "../refusal.ts";
import { all, insert, list, one, sql, type Sql, type Work } from "../sql-statement.ts";
import { announce, type AnnouncementRow } from "./announcements.ts";
import { countWithin, hasMore, selectWithin } from "./read-page.ts";

/** Values are parsed on the caller's thread; larger reads take several queries. */
const RECORDS_AT_ONCE = 500;
const BYTES_AT_ONCE = 1_000_000;
const KEYS_PER_QUERY = 500;
const ROWS_PER_INSERT = 64;
/** Of JSON. A statement with many long values is held in memory several times. */
const LENGTH_PER_INSERT = 4_000_000;
const DELETED_AT_ONCE = 1_000;

export interface RecordRow {
  key: string;
  value: string;
  version: number;
  updated_at: number;
}

export interface RecordRange {
  space: string;
  kind: string;
  keys?: readonly string[];
  /** Inclusive. */
  from?: string;
  /** Exclusive. */
  before?: string;
  after?: string;
  order: "asc" | "desc";
  limit: number;
}

/** Reads the first part of the requested range, by key; `more` says whether to continue. */
export const readRecords = operation("records.read", function* (args: RecordRange): Work<{
  rows: RecordRow[];
  more: boolean;
}> {
  const limit = Math.min(args.limit, RECORDS_AT_ONCE);
  const rows = yield* all(
    selectWithin<RecordRow>(BYTES_AT_ONCE, {
      columns: "key, value, version, updated_at",
      table: "record",
      key: "key",
      size: "value",
      conditions: conditions(args),
      order: args.order,
      limit,
    }),
  );
  return { rows, more: hasMore(rows, limit) };
});

function conditions({ space, kind, keys, from, before, after, order }: RecordRange): Sql[] {
  return [
    sql`space = ${space}`,
    sql`kind = ${kind}`,
    ...(keys === undefined ? [] : [sql`key in ${list(keys)}`]),
    ...(from === undefined ? [] : [sql`key >= ${from}`]),
    ...(before === undefined ? [] : [sql`key < ${before}`]),
    ...(after === undefined ? [] : [order === "asc" ? sql`key > ${after}` : sql`key < ${after}`]),
  ];
}

/** Like `RecordChange`, with the value as JSON. */
export interface ChangeInput {
  kind: string;
  key: string;
  /** Undefined to delete. */
  value: string | undefined;
  version: number | undefined;
}

/** State of a key after all changes of the write. */
interface Outcome {
  kind: string;
  key: string;
  version: number;
  value: string | undefined;
}

interface WriteArgs {
  space: string;
  changes: readonly ChangeInput[];
  at: number;
  announce: readonly AnnouncementRow[];
}

export const writeRecords = operation("records.write", write, { single: putInOneStatement });

function* write(args: WriteArgs): Work<void> {
  const { space, changes, at } = args;
  yield* lockSpace(space);
  const outcomes = yield* readVersions(space, changes);
  for (const change of changes) {
    const { kind, key, value, version } = change;
    const now = outcomes.get(kind)!.get(key)!;
    if (version !== undefined && version !== now.version) throw conflict(change, now.version);
    now.version = value === undefined ? 0 : now.version + 1;
    now.value = value;
  }
  for (const [kind, ofKind] of outcomes) {
    const { gone = [], kept = [] } = Object.groupBy(ofKind.values(), ({ version }) =>
      version === 0 ? "gone" : "kept",
    );
    yield* deleteRecords(space, kind, gone);
    yield* saveRecords(space, at, kept);
  }
  yield* announce(args.announce);
}

/** Most writes put one record. The space is locked as ever, because a write of several records relies on it. */
function putInOneStatement({ space, changes, at, announce: announced }: WriteArgs): Work<void> | undefined {
  const [change, ...others] = changes;
  if (!change || change.value === undefined || others.length + announced.length > 0) return undefined;
  return put(space, { ...change, value: change.value }, at);
}

function* put(space: string, change: ChangeInput & { value: string }, at: number): Work<void> {
  const { kind, key, value, version } = change;
  const changed = sql`version = record.version + 1, updated_at = cast(${at} as bigint), value = ${value}`;
  const insertion = sql`insert into record (space, kind, key, version, updated_at, value)
    select ${space}, ${kind}, ${key}, 1, cast(${at} as bigint), ${value} from locked on conflict (space, kind, key)`;
  const saving =
    version === undefined
      ? sql`${insertion} do update set ${changed}`
      : version === 0
        ? sql`${insertion} do nothing`
        : sql`update record set ${changed} from locked
            where record.space = ${space} and kind = ${kind} and key = ${key} and version = ${version}`;
  const saved = yield* one(sql`
    with locked as (${spaceLock(space)} returning id), saved as (${saving} returning 1 as done) select done from saved`);
  // The transaction reads the stored version, for the message.
  if (!saved) throw conflict(change, 0);
}

/** Serialises writers of one space: the versions that were read stay valid until the commit. */
function* lockSpace(space: string): Work<void> {
  yield spaceLock(space);
}

const spaceLock = (space: string): Sql =>
  sql`${insert("space", [{ id: space, writes: 1 }])} on conflict (id) do update set writes = space.writes + 1`;

function* readVersions(space: string, changes: readonly ChangeInput[]): Work<Map<string, Map<string, Outcome>>> {
  const outcomes = new Map<string, Map<string, Outcome>>();
  for (const { kind, key } of changes) {
    const ofKind = outcomes.get(kind) ?? new Map<string, Outcome>();
    outcomes.set(kind, ofKind.set(key, { kind, key, version: 0, value: undefined }));
  }
  for (const [kind, ofKind] of outcomes) {
    for (const keys of slices([...ofKind.keys()], KEYS_PER_QUERY)) {
      const rows = yield* all(sql<{ key: string; version: number }>`
        select key, version from record where space = ${space} and kind = ${kind} and key in ${list(keys)}`);
      for (const { key, version } of rows) ofKind.get(key)!.version = version;
    }
  }
  return outcomes;
}

function* saveRecords(space: string, at: number, outcomes: readonly Outcome[]): Work<void> {
  for (let from = 0; from < outcomes.length;) {
    const next = outcomes.slice(from, from + ROWS_PER_INSERT);
    const count = countWithin(
      LENGTH_PER_INSERT,
      next.map(({ value }) => ({ bytes: value!.length })),
    );
    const rows = next.slice(0, count).map(({ kind, key, version, value }) => {
      return { space, kind, key, version, updated_at: at, value: value! };
    });
    yield sql`${insert("record", rows)} on conflict (space, kind, key)
      do update set version = excluded.version, updated_at = excluded.updated_at, value = excluded.value`;
    from += count;
  }
}

function* deleteRecords(space: string, kind: string, outcomes: readonly Outcome[]): Work<void> {
  for (const some of slices(outcomes, KEYS_PER_QUERY)) {
    const keys = list(some.map(({ key }) => key));
    yield sql`delete from record where space = ${space} and kind = ${kind} and key in ${keys}`;
  }
}

/** Deletes one batch of a space's records, and finally the space. Returns whether to call again. */
export const deleteSomeRecords = operation("records.delete", function* (space: string): Work<boolean> {
  yield* lockSpace(space);
  const deleted = yield* all(sql`
    delete from record where space = ${space} and (kind, key) in (
      select kind, key from record where space = ${space} limit ${DELETED_AT_ONCE}
    ) returning 1 as done`);
  if (deleted.length > 0) return true;
  yield sql`delete from space where id = ${space}`;
  return false;
});

function slices<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

const conflict = ({ kind, key, version }: ChangeInput, stored: number) =>
  refuse(
    "conflict",
    `The ${kind} "${key}" was to be ${version === 0 ? "new" : `version ${version}`}, and ${stored === 0 ? "is not there" : `is version ${stored}`}.`,
    "Read it again, and apply your change to the current record.",
  );
