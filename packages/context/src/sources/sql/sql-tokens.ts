export interface SqlToken {
  type: "space" | "comment" | "string" | "quoted" | "number" | "word" | "template" | "mark";
  text: string;
}

/**
 * Tokenizes SQL of any dialect; joined tokens give the original text. Not a parser: files contain templates, unfinished
 * statements and unknown dialects, and literals must be found in all of them. An unterminated token is a string up to
 * the end, so that nothing is wrongly treated as harmless.
 */
export function sqlTokens(sql: string): SqlToken[] {
  const plain = scan(sql, false);
  // Some dialects escape quotes with a backslash: `'it\'s'`. If the first reading ends within a string, use the other.
  return plain.whole ? plain.tokens : scan(sql, true).tokens;
}

const SPACE = String.raw`\s+`;
const COMMENT = String.raw`--[^\n]*|/\*[\s\S]*?\*/`;
const TEMPLATE = String.raw`\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\}`;
const DOLLARS = String.raw`\$(?<tag>[A-Za-z_]\w*)?\$[\s\S]*?\$\k<tag>\$`;
const ESCAPED = String.raw`'(?:[^'\\]|\\[\s\S]|'')*'`;
const STANDARD = String.raw`'(?:[^']|'')*'`;
const QUOTED = String.raw`"(?:[^"]|"")*"|${"`[^`]*`"}|\[[A-Za-z_][^\]\n]{0,200}\]`;
const NUMBER = String.raw`0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
// A name in any script: all non-ASCII characters are letters here.
const WORD = String.raw`[A-Za-z_@#\u0080-\uFFFF][\w$@#\u0080-\uFFFF]*|[$:?]\w+`;
const MARK = String.raw`[^'"${"`"}]`;

const formOf = (strings: string): RegExp =>
  new RegExp(
    `(?<space>${SPACE})|(?<comment>${COMMENT})|(?<template>${TEMPLATE})|(?<string>${strings}|${DOLLARS})|` +
      `(?<quoted>${QUOTED})|(?<number>${NUMBER})|(?<word>${WORD})|(?<open>/\\*|\\{[{%#])|(?<mark>${MARK})`,
    "y",
  );

const PREFIX = "(?:[bBxXnNrR]|[uU]&)?";
const PLAIN = formOf(`[eE]${ESCAPED}|${PREFIX}${STANDARD}`);
const WITH_ESCAPES = formOf(`(?:[eE]|${PREFIX})${ESCAPED}`);

const TYPES = ["space", "word", "mark", "number", "string", "quoted", "comment", "template"] as const;

function scan(sql: string, escapes: boolean): { tokens: SqlToken[]; whole: boolean } {
  const tokens: SqlToken[] = [];
  const form = escapes ? WITH_ESCAPES : PLAIN;
  for (let at = 0; at < sql.length;) {
    form.lastIndex = at;
    const match = form.exec(sql);
    const groups = match?.groups;
    if (!match || groups?.["open"] !== undefined) {
      tokens.push({ type: "string", text: sql.slice(at) });
      return { tokens, whole: false };
    }
    const type = TYPES.find((each) => groups?.[each] !== undefined)!;
    tokens.push({ type, text: match[0] });
    at += match[0].length;
  }
  return { tokens, whole: true };
}
