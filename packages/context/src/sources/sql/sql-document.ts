import type { Document } from "../source.ts";
import { redactPrivate } from "./redact-sql.ts";
import { sqlTables } from "./sql-tables.ts";
import { sqlTokens } from "./sql-tokens.ts";

/** A SQL file: its leading comment, then the statements. */
export function sqlDocument(sql: string, title: string): Document {
  const tables = sqlTables(sql);
  const shown = redactPrivate(sql);
  const parts = [
    `# ${title}`,
    leadingComment(shown),
    tables.length > 0 ? `Tables: ${tables.map((table) => `\`${table}\``).join(", ")}.` : "",
    `## SQL\n\n${fenced(shown)}`,
  ];
  return {
    title,
    markdown: parts.filter((part) => part !== "").join("\n\n"),
    signals: { kind: "SQL", ...(tables.length > 0 && { tables: tables.join(", ").slice(0, 500) }) },
  };
}

/** Chooses a fence that no line of the SQL can close. */
export function fenced(sql: string): string {
  const longest = Math.max(2, ...[...sql.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}sql\n${sql.trim()}\n${fence}`;
}

function leadingComment(sql: string): string {
  const lines: string[] = [];
  for (const { type, text } of sqlTokens(sql)) {
    if (type === "space") continue;
    if (type !== "comment") break;
    lines.push(
      text
        .replace(/^(--+|\/\*+)/, "")
        .replace(/\*+\/$/, "")
        .replaceAll(/^\s*\*?\s?/gm, "")
        .trim(),
    );
  }
  return lines.join("\n").trim();
}
