import type { Database } from "../database.ts";
import {
  type ChangeInput,
  readRecords,
  type RecordRange,
  type RecordRow,
  writeRecords,
} from "../operations/records.ts";
import type { RecordChange, Records, StoredRecord } from "../records.ts";
import type { AnnouncementPort } from "./announcement-port.ts";
import { checkNames } from "./names.ts";
import { toIso } from "../rows/time.ts";

const LAST_CODE_POINT = 0x10_ff_ff;
const SURROGATES = { first: 0xd8_00, last: 0xdf_ff };

/** The smallest text that sorts after everything with this prefix (code point order); undefined if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === SURROGATES.first ? SURROGATES.last + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}

const KEYS_AT_ONCE = 500;

const decode = ({ key, value, version, updated_at }: RecordRow): StoredRecord => ({
  key,
  value: JSON.parse(value) as unknown,
  version,
  updatedAt: toIso(updated_at),
});

function encode(change: RecordChange): ChangeInput {
  const { kind, key } = change;
  checkNames({ kind, key });
  if (change.type === "delete") return { kind, key, value: undefined, version: undefined };
  return { kind, key, value: JSON.stringify(change.value) ?? "null", version: change.version };
}

export function createRecords(database: Database, announcements: AnnouncementPort): Records {
  const read = async (range: RecordRange): Promise<StoredRecord[]> => {
    const records: StoredRecord[] = [];
    let rest = range;
    while (rest.limit > 0) {
      const { rows, more } = await database.read(readRecords, rest);
      for (const row of rows) records.push(decode(row));
      if (!more) break;
      rest = { ...range, after: rows.at(-1)!.key, limit: range.limit - records.length };
    }
    return records;
  };

  const getMany: Records["getMany"] = async (space, kind, keys) => {
    checkNames({ space, kind });
    for (const key of keys) checkNames({ key });
    const found = new Map<string, StoredRecord>();
    for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
      const some = keys.slice(from, from + KEYS_AT_ONCE);
      const records = await read({ space, kind, keys: some, order: "asc", limit: some.length });
      for (const record of records) found.set(record.key, record);
    }
    return keys.flatMap((key) => found.get(key) ?? []);
  };

  return {
    get: async (space, kind, key) => (await getMany(space, kind, [key]))[0],
    getMany,
    list: async (space, kind, { prefix = "", after, limit, order = "asc" }) => {
      checkNames({ space, kind });
      for (const key of [prefix, after ?? ""]) checkNames({ key });
      return read({ space, kind, from: prefix, before: afterPrefix(prefix), after, order, limit });
    },
    write: async (space, changes, with_ = {}) => {
      checkNames({ space });
      if (changes.length === 0) return;
      await announcements.with(with_.announce ?? [], (announce) =>
        database.write(writeRecords, { space, changes: changes.map(encode), at: Date.now(), announce }),
      );
    },
  };
}
