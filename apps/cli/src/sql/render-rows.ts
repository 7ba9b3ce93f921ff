import type { QueryEstimate, Rows, Value } from "@tandem/connectors";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";

/** Longer cells would make the table unreadable on a terminal. */
const CELL = 60;

export function describeEstimate({ rows, bytes, plan }: QueryEstimate): string {
  const count = (amount: number) => Math.round(amount).toLocaleString("en-US");
  const lines = [
    ...(rows === undefined ? [] : [`about ${count(rows)} rows`]),
    ...(bytes === undefined ? [] : [`about ${count(bytes)} bytes`]),
    printable(plan).trimEnd(),
  ];
  return `${lines.join("\n")}\n`;
}

export function asTable({ stdout }: Invocation, { columns, rows }: Rows): string {
  const { bold, dim } = styleFor(stdout);
  const lines = table([columns.map((name) => bold(cell(name))), ...rows.map((row) => row.map((value) => cell(value)))]);
  return `${[...lines, dim(`${rows.length} ${rows.length === 1 ? "row" : "rows"}`)].join("\n")}\n`;
}

function cell(value: Value): string {
  const text = value === null ? "null" : printable(String(value)).replaceAll(/\s+/g, " ");
  return text.length > CELL ? `${text.slice(0, CELL - 1)}…` : text;
}

/** CSV by RFC 4180. Null is an empty field. */
export const asCsv = ({ columns, rows }: Rows): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

function field(value: Value): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
