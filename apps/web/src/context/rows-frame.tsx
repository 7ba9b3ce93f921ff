import { type ReactNode, useState } from "react";
import { Button } from "../ui/button.tsx";

const ROWS = 200;

/** A scrollable table of many rows, of which the first are drawn. */
export function RowsFrame<Row>({
  rows,
  head,
  children,
}: {
  rows: readonly Row[];
  /** The cells of the heading. */
  head: ReactNode;
  /** The cells of a row. */
  children: (row: Row) => ReactNode;
}) {
  const [most, setMost] = useState(ROWS);
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
            <tr>{head}</tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              <tr key={index} className="border-t border-line hover:bg-raised">
                {children(row)}
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
