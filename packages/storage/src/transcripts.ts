import type { Database } from "./database.ts";
import { fence } from "./fence.ts";
import { operation } from "./operation.ts";
import { all, insert, one, sql, type Work } from "./sql.ts";
import type { Lease, TranscriptLine, Transcripts } from "./store.ts";

/** Lines of a conversation with images are long; they are parsed on the caller's thread. */
const LINES_AT_ONCE = 200;
const LINES_PER_INSERT = 64;

export interface TranscriptRow {
  subpath: string;
  position: number;
  uuid: string | null;
  body: string;
}

export const transcriptRows = (subpath: string, first: number, lines: readonly TranscriptLine[]): TranscriptRow[] =>
  lines.map((line, index) => ({
    subpath,
    position: first + index,
    uuid: line.uuid ?? null,
    body: JSON.stringify(line),
  }));

interface WriteArgs {
  lease: Lease;
  subpath: string;
  rows: TranscriptRow[];
}

/** `position` of the rows counts from 1; they are moved behind what is there. */
function* add(log: number, subpath: string, rows: readonly TranscriptRow[]): Work<void> {
  const last = yield* one(sql<{ position: number | null }>`
    select max(position) as position from transcript where log = ${log} and subpath = ${subpath}`);
  const offset = last?.position ?? 0;
  for (let from = 0; from < rows.length; from += LINES_PER_INSERT) {
    const some = rows.slice(from, from + LINES_PER_INSERT);
    const columns = some.map((row) => ({ log, ...row, position: row.position + offset }));
    yield sql`${insert("transcript", columns)} on conflict do nothing`;
  }
}

const append = operation("transcripts.append", function* ({ lease, subpath, rows }: WriteArgs): Work<void> {
  const { number } = yield* fence(lease);
  yield* add(number, subpath, rows);
});

const replace = operation("transcripts.replace", function* ({ lease, subpath, rows }: WriteArgs): Work<void> {
  const { number } = yield* fence(lease);
  yield sql`delete from transcript where log = ${number} and subpath = ${subpath}`;
  yield* add(number, subpath, rows);
});

const readLines = operation("transcripts.read", function* (args: { session: string; subpath: string; after: number }) {
  return yield* all(sql<{ position: number; body: string }>`
    select position, body from transcript
    where log = (select number from log where session = ${args.session})
      and subpath = ${args.subpath} and position > ${args.after}
    order by position limit ${LINES_AT_ONCE}`);
});

const listSubpaths = operation("transcripts.subpaths", function* (session: string): Work<{ subpath: string }[]> {
  return yield* all(sql<{ subpath: string }>`
    select distinct subpath from transcript
    where log = (select number from log where session = ${session}) order by subpath`);
});

export function createTranscripts(database: Database): Transcripts {
  return {
    append: (lease, subpath, lines) =>
      database.write(append, { lease, subpath, rows: transcriptRows(subpath, 1, lines) }, lease.session),
    replace: (lease, subpath, lines) =>
      database.write(replace, { lease, subpath, rows: transcriptRows(subpath, 1, lines) }, lease.session),
    load: async (session, subpath) => {
      const lines: TranscriptLine[] = [];
      for (let after = 0; ;) {
        const rows = await database.read(readLines, { session, subpath, after });
        for (const { body } of rows) lines.push(JSON.parse(body) as TranscriptLine);
        if (rows.length < LINES_AT_ONCE) return lines;
        after = rows.at(-1)!.position;
      }
    },
    subpaths: async (session) => (await database.read(listSubpaths, session)).map(({ subpath }) => subpath),
  };
}
