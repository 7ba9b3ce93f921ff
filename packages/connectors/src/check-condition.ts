/** A condition as a database prints it: on one line, without parentheses around all of it. */
export function checkCondition(sql: string): string {
  let text = sql.replaceAll(/\s+/g, " ").trim();
  while (isWrapped(text)) text = text.slice(1, -1).trim();
  return text;
}

/** Whether the first parenthesis is closed by the last one. */
function isWrapped(text: string): boolean {
  if (!text.startsWith("(") || !text.endsWith(")")) return false;
  let depth = 0;
  for (const [token] of text.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|[^()'"]+/g)) {
    // Closed before the end: the text continues.
    if (depth === 0 && token !== "(") return false;
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
  }
  return depth === 0;
}
