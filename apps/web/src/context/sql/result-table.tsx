import type { SqlAnswer } from "@tandem/protocol";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { escapeHidden } from "../../text/escape-hidden.ts";
import { type CellValue, columnTypes, isNumeric } from "./column-types.ts";

const ROWS = 200;

/** The rows of an answer. Values are untrusted data and rendered as plain text. */
export function ResultTable({ answer }: { answer: SqlAnswer }) {
  const [most, setMost] = useState(ROWS);
  const types = columnTypes(answer);
  const { columns, rows } = answer;
  if (rows.length === 0) return <p className="text-sm text-ink-faint">No rows.</p>;
  return (
    <>
      <section
        tabIndex={0}
        aria-label="Rows"
        className="max-h-[60vh] overflow-auto rounded-md border border-line bg-surface"
      >
        <table className="w-full text-sm tabular-nums">
          <thead className="sticky top-0 bg-raised text-left">
            <tr>
              {columns.map((name, at) => (
                <th
                  key={at}
                  scope="col"
                  className={`px-2.5 py-1 align-bottom font-medium whitespace-nowrap ${isNumeric(types[at]) ? "text-right" : ""}`}
                >
                  <span className="block font-mono text-xs">{escapeHidden(name)}</span>
                  <span className="block text-xs font-normal text-ink-faint">{types[at]}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              <tr key={index} className="border-t border-line hover:bg-raised">
                {row.map((value, at) => (
                  <td
                    key={at}
                    className={`max-w-96 truncate px-2.5 py-0.5 ${isNumeric(types[at]) ? "text-right" : ""}`}
                    {...(typeof value === "string" && value.length > 40 && { title: value })}
                  >
                    <Cell value={value} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > most && (
        <Button look="quiet" size="small" className="mt-1" onClick={() => setMost(rows.length)}>
          Show {(rows.length - most).toLocaleString()} more rows
        </Button>
      )}
    </>
  );
}

function Cell({ value }: { value: CellValue }) {
  if (value === null) return <span className="text-xs text-ink-faint italic">null</span>;
  return escapeHidden(String(value));
}
