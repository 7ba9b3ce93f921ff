export interface SqlToken {
  type: "space" | "comment" | "string" | "quoted" | "number" | "word" | "template" | "mark";
  text: string;
}

/**
 * SQL of any dialect, in pieces that together are the text again. It is not parsed: files hold templates, unfinished
 * statements and dialects that no parser knows, and literals must be found in all of them. A piece that does not end is a
 * string to the end of the text, so that nothing of it is taken for harmless.
 */
export function sqlTokens(sql: string): SqlToken[] {
  const plain = scan(sql, false);
  // `'it\'s'`: some dialects escape quotes so. Read the other way, the text ends in the middle of a string.
  return plain.whole ? plain.tokens : scan(sql, true).tokens;
}

const FORMS: readonly [SqlToken["type"], RegExp][] = [
  ["space", /\s+/y],
  ["comment", /--[^\n]*|\/\*[\s\S]*?\*\//y],
  ["template", /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\}/y],
  ["string", /\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$/y],
  ["quoted", /"(?:[^"]|"")*"|`[^`]*`|\[[A-Za-z_][^\]\n]*\]/y],
  ["number", /0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["word", /[\p{L}_@#][\p{L}\p{N}_$@#]*|[$:?]\w+/uy],
];
const STANDARD = /'(?:[^']|'')*'/y;
const ESCAPED = /'(?:[^'\\]|\\[\s\S]|'')*'/y;
const PREFIXED = /(?:[eE]|[bBxXnNrR]|[uU]&)'/y;

function scan(sql: string, escapes: boolean): { tokens: SqlToken[]; whole: boolean } {
  const tokens: SqlToken[] = [];
  const match = (form: RegExp, at: number): string | undefined => {
    form.lastIndex = at;
    return form.exec(sql)?.[0];
  };
  for (let at = 0; at < sql.length;) {
    const prefix = match(PREFIXED, at)?.slice(0, -1) ?? "";
    if (sql[at + prefix.length] === "'") {
      const body = match(escapes || /^e$/i.test(prefix) ? ESCAPED : STANDARD, at + prefix.length);
      if (body === undefined) {
        tokens.push({ type: "string", text: sql.slice(at) });
        return { tokens, whole: false };
      }
      tokens.push({ type: "string", text: prefix + body });
      at += prefix.length + body.length;
      continue;
    }
    const found = FORMS.map(([type, form]) => ({ type, text: match(form, at) })).find(({ text }) => text);
    const opens = !found && /^(?:"|`|\/\*|\{\{)/.test(sql.slice(at, at + 2));
    if (opens) {
      tokens.push({ type: "string", text: sql.slice(at) });
      return { tokens, whole: false };
    }
    const token: SqlToken = found?.text ? { type: found.type, text: found.text } : { type: "mark", text: sql[at]! };
    tokens.push(token);
    at += token.text.length;
  }
  return { tokens, whole: true };
}
