/**
 * For parsers that do not look into an EXPLAIN: what follows the word is judged as the query that it has to be. `ANALYZE`,
 * which would run it, is none.
 */
export function splitExplain(text: string): { isExplain: boolean; sql: string } {
  const sql = text.replace(/^\s*explain\b/i, "");
  return { isExplain: sql !== text, sql };
}
