import { MetricError } from "../metric-error.ts";

export type Token =
  | { readonly kind: "number" | "text" | "symbol"; readonly value: string; readonly at: number }
  /** A keyword or name; `isQuoted` names are never keywords. */
  | { readonly kind: "word"; readonly value: string; readonly isQuoted: boolean; readonly at: number }
  | { readonly kind: "end"; readonly value: ""; readonly at: number };

const SPACE = /\s+/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const TEXT = /'((?:[^']|'')*)'/y;
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const QUOTED = /"((?:[^"]|"")+)"/y;
const SYMBOL = /<=|>=|<>|!=|[-+*/=<>(),.]/y;

/** Splits an expression into tokens; the last one is the end. */
export function tokenize(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match ?? undefined;
  };
  while (at < text.length) {
    if (take(SPACE)) continue;
    const start = at;
    const match =
      read(TEXT, "text", "''", "'") ??
      read(QUOTED, "word", '""', '"') ??
      read(NUMBER, "number") ??
      read(WORD, "word") ??
      read(SYMBOL, "symbol");
    if (!match) {
      throw new MetricError(
        "invalid_expression",
        `The character ${JSON.stringify(text[at])} at position ${at + 1} of \`${text}\` is not part of an expression.`,
      );
    }
    found.push(match);

    function read(pattern: RegExp, kind: Exclude<Token["kind"], "end">, doubled?: string, single?: string) {
      const result = take(pattern);
      if (!result) return undefined;
      const value = doubled === undefined ? result[0] : result[1]!.replaceAll(doubled, single!);
      return kind === "word"
        ? ({ kind, value, isQuoted: doubled !== undefined, at: start } as const)
        : ({ kind, value: value === "!=" ? "<>" : value, at: start } as const);
    }
  }
  return [...found, { kind: "end", value: "", at }];
}
