import { refused } from "../reader/failure.ts";

type Ask = (sql: string, values: unknown[]) => Promise<(string | null)[][]>;

/** What was declared to read at most. Everything else that we do not know is not called: nobody says what it does. */
const READING = new Set(["NO SQL", "READS SQL DATA"]);

export async function judgeFunctions(unknown: readonly string[][], database: string, ask: Ask): Promise<void> {
  for (const path of unknown) {
    const name = path.at(-1)!;
    const found = await ask(
      `select sql_data_access from information_schema.routines
       where routine_type = 'FUNCTION' and routine_schema = ? and routine_name = ?`,
      [path.at(-2) ?? database, name],
    );
    if (found.length === 0 || !found.every(([access]) => READING.has(access ?? ""))) {
      throw refused(`the function ${name} is not known to only read`);
    }
  }
}
