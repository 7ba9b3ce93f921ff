import type { SqlAnswer } from "@tandem/protocol";
import { RowsFrame } from "../rows-frame.tsx";
import { escapeHidden } from "../../text/escape-hidden.ts";
import { type CellValue, columnTypes, isNumeric } from "./column-types.ts";

/** The rows of an answer. Values are untrusted data and rendered as plain text. */
export function ResultTable({ answer }: { answer: SqlAnswer }) {
  const types = columnTypes(answer);
  const { columns, rows } = answer;
  const head = columns.map((name, at) => (
    <th
      key={at}
      scope="col"
      className={`px-2.5 py-1 align-bottom font-medium whitespace-nowrap ${isNumeric(types[at]) ? "text-right" : ""}`}
    >
      <span className="block font-mono text-xs">{escapeHidden(name)}</span>
      <span className="block text-xs font-normal text-ink-faint">{types[at]}</span>
    </th>
  ));
  return (
    <RowsFrame rows={rows} head={head}>
      {(row) =>
        row.map((value, at) => (
          <td
            key={at}
            className={`max-w-96 truncate px-2.5 py-0.5 ${isNumeric(types[at]) ? "text-right" : ""}`}
            {...(typeof value === "string" && value.length > 40 && { title: value })}
          >
            <Cell value={value} />
          </td>
        ))
      }
    </RowsFrame>
  );
}

function Cell({ value }: { value: CellValue }) {
  if (value === null) return <span className="text-xs text-ink-faint italic">null</span>;
  return escapeHidden(String(value));
}
