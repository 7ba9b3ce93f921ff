import type { Database } from "../database.ts";
import { readEvents, type LoggedRow, type ReadArgs } from "../operations/events.ts";

/** A range of a log, read in as many goes as it takes. */
export async function readLogRows(database: Database, args: ReadArgs): Promise<LoggedRow[]> {
  const found: LoggedRow[] = [];
  let rest = args;
  while (rest.limit > 0) {
    const { rows, more } = await database.read(readEvents, rest);
    for (const row of rows) found.push(row);
    const last = rows.at(-1)?.seq;
    if (!more || last === undefined) break;
    const bound = args.order === "desc" ? { before: last } : { after: last };
    rest = { ...args, ...bound, limit: args.limit - found.length };
  }
  return found;
}
