import type { MetricAnswer } from "@tandem/protocol";
import { useMemo } from "react";
import { escapeHidden } from "../../../text/escape-hidden.ts";
import { RowsFrame } from "../../rows-frame.tsx";
import { columnFormat, type ShownNumber } from "./number-format.ts";
import { periodLabel, periodOf } from "./period.ts";

type Column = MetricAnswer["columns"][number];
type Format = (cell: string | number) => ShownNumber;

/** The rows of an answer. Fields are headings of rows; the full value of a shortened number is its title. */
export function AnswerTable({ answer: { columns, rows } }: { answer: MetricAnswer }) {
  const formats = useMemo(
    () =>
      columns.map((column, at) => (isNumber(column) ? columnFormat(rows.map((row) => row[at] ?? null)) : undefined)),
    [columns, rows],
  );
  const head = columns.map((column) => (
    <th
      key={column.name}
      scope="col"
      className={`px-2.5 py-1 align-bottom font-medium whitespace-nowrap ${isNumber(column) ? "text-right" : ""}`}
    >
      {column.label ?? column.name}
      {column.unit !== undefined && <span className="font-normal text-ink-faint"> {column.unit}</span>}
    </th>
  ));
  return (
    <RowsFrame rows={rows} head={head}>
      {(row) =>
        columns.map((column, at) => (
          <Cell key={column.name} column={column} value={row[at] ?? null} format={formats[at]} isHeading={at === 0} />
        ))
      }
    </RowsFrame>
  );
}

const isNumber = ({ kind, type }: Column): boolean => kind === "metric" || type === "number";

function Cell({
  column,
  value,
  format,
  isHeading,
}: {
  column: Column;
  value: MetricAnswer["rows"][number][number];
  /** For columns of numbers. */
  format: Format | undefined;
  isHeading: boolean;
}) {
  const Tag = isHeading && column.kind === "dimension" ? "th" : "td";
  const { shown, title } = shownCell(column, value, format);
  return (
    <Tag
      {...(Tag === "th" && { scope: "row" as const })}
      {...(title !== undefined && { title })}
      className={`max-w-96 truncate px-2.5 py-0.5 text-left font-normal ${isNumber(column) ? "text-right" : ""}`}
    >
      {shown ?? <span className="text-xs text-ink-faint italic">empty</span>}
    </Tag>
  );
}

/** `shown` is undefined for an empty cell. */
function shownCell(
  { kind, name }: Column,
  value: MetricAnswer["rows"][number][number],
  format: Format | undefined,
): { shown?: string; title?: string } {
  if (value === null) return {};
  if (format && typeof value !== "boolean") {
    const { shown, exact } = format(value);
    return { shown, ...(shown !== exact && { title: exact }) };
  }
  const text = escapeHidden(String(value));
  const label = periodLabel(text, kind === "dimension" ? periodOf(name) : undefined);
  return { shown: label, ...((label !== text || text.length > 40) && { title: text }) };
}
