import type { Database } from "../database.ts";
import {
  appendTranscript,
  LINES_AT_ONCE,
  listSubpaths,
  readTranscript,
  replaceTranscript,
  type TranscriptRow,
} from "../operations/transcripts.ts";
import type { TranscriptLine, Transcripts } from "../store.ts";
import { plainLease } from "./leases.ts";

export const encodeTranscript = (subpath: string, lines: readonly TranscriptLine[]): TranscriptRow[] =>
  lines.map((line, index) => ({ subpath, position: index + 1, uuid: line.uuid ?? null, body: JSON.stringify(line) }));

export function createTranscripts(database: Database): Transcripts {
  return {
    append: (lease, subpath, lines) => {
      const args = { lease: plainLease(lease), subpath, rows: encodeTranscript(subpath, lines) };
      return database.write(appendTranscript, args, lease.session);
    },
    replace: (lease, subpath, lines) => {
      const args = { lease: plainLease(lease), subpath, rows: encodeTranscript(subpath, lines) };
      return database.write(replaceTranscript, args, lease.session);
    },
    load: async (session, subpath) => {
      const lines: TranscriptLine[] = [];
      for (let after = 0; ;) {
        const rows = await database.read(readTranscript, { session, subpath, after });
        for (const { body } of rows) lines.push(JSON.parse(body) as TranscriptLine);
        if (rows.length < LINES_AT_ONCE) return lines;
        after = rows.at(-1)!.position;
      }
    },
    subpaths: async (session) => (await database.read(listSubpaths, session)).map(({ subpath }) => subpath),
  };
}
