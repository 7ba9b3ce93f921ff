import { sortKeys } from "./sort-keys.ts";

/** A step as lines of text, for a diff: like YAML, with one line per line of a text. */
export const readableLines = (value: unknown): string[] => linesOf(sortKeys(value), "");

function linesOf(value: unknown, indent: string): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = "", ...rest] = linesOf(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (typeof value === "object") {
    return Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .flatMap(([key, item]) => {
        if (typeof item === "object" && item !== null && Object.keys(item).length > 0) {
          return [`${indent}${key}:`, ...linesOf(item, `${indent}  `)];
        }
        if (typeof item === "string" && item.includes("\n")) {
          return [`${indent}${key}: |`, ...item.split("\n").map((line) => `${indent}  ${line}`)];
        }
        return [`${indent}${key}: ${typeof item === "string" ? item : JSON.stringify(item)}`];
      });
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.split("\n").map((line) => `${indent}${line}`);
}
