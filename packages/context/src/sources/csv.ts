/** Parses CSV (RFC 4180; also `;` and tabs, detected from the first line) into arrays of fields. */
function* csvRecords(text: string): Generator<string[]> {
  const separator = separatorOf(text);
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    let field: string;
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      field = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      // Text after a closing quote is malformed CSV; keep it.
      const rest = nextBreak(text, at, separator);
      field += text.slice(at, rest);
      at = rest;
    } else {
      const end = nextBreak(text, at, separator);
      field = text.slice(at, end);
      at = end;
    }
    record.push(field);
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) record.push("");
      else continue;
    }
    at += 1;
    if (record.length > 1 || record[0] !== "") yield record;
    record = [];
  }
  if (record.length > 0) yield record;
}

/** Records as objects, by the names in the first one. */
export function* csvObjects(text: string): Generator<Record<string, string>> {
  let names: string[] | undefined;
  for (const record of csvRecords(text)) {
    if (!names) names = record.map((name) => name.trim());
    else yield Object.fromEntries(names.map((name, index) => [name, record[index] ?? ""]));
  }
}

/** A CSV as a Markdown table. */
export function csvTable(text: string): string {
  const [head, ...rows] = csvRecords(text);
  if (!head) return "";
  const line = (cells: readonly string[]) => `| ${cells.map(tableCell).join(" | ")} |`;
  const full = (row: readonly string[]) => head.map((_, index) => row[index] ?? "");
  return [line(head), line(head.map(() => "---")), ...rows.map((row) => line(full(row)))].join("\n");
}

/** Escapes text for a Markdown table cell. */
export const tableCell = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|");

function separatorOf(text: string): string {
  const line = text.slice(0, nextBreak(text, 0, ""));
  const counts = [",", ";", "\t"].map((mark) => ({ mark, count: line.split(mark).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).mark;
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return text.length;
}

function nextBreak(text: string, from: number, separator: string): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === "\n" || text[at] === separator) return at;
  return text.length;
}
