/**
 * For parsers that do not parse EXPLAIN: checks the query after it. `ANALYZE`, which would run the query, is not
 * accepted.
 */
export function splitExplain(text: string): { isExplain: boolean; sql: string } {
  const sql = text.replace(/^\s*explain\b/i, "");
  return { isExplain: sql !== text, sql };
}
