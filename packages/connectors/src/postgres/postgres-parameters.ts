import { scanSync } from "libpg-query";

/**
 * Replaces `?` by `$1`, `$2`, … outside of strings, quoted names and comments, using Postgres' own scanner. `??` is the
 * jsonb operator `?`, only in a query with parameters; without parameters the text is unchanged.
 */
export function numberParameters(sql: string): { sql: string; count: number } {
  const source = Buffer.from(sql);
  const parts: Buffer[] = [];
  let end = 0;
  let count = 0;
  for (const token of scanSync(sql).tokens) {
    const text = source.subarray(token.start, token.end).toString();
    if (!OPERATOR.test(text) || !text.includes("?")) continue;
    const replaced = text.replaceAll(/\?\??/g, (mark) => {
      if (mark === "??") return "?";
      count += 1;
      return ` $${count} `;
    });
    parts.push(source.subarray(end, token.start), Buffer.from(replaced));
    end = token.end;
  }
  return { sql: Buffer.concat([...parts, source.subarray(end)]).toString(), count };
}

const OPERATOR = /^(?!--|\/\*)[-+*/<>=~!@#%^&|`?]+$/;
