import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { LineRow } from "./line-rows.ts";

/** Longer ones are shown in part at first. */
const SHOWN = 60;
/** So many numbers have room behind a line. */
const MARKS = 2;
const SIGNS = { removed: "−", added: "+", kept: " " } as const;
const LOOKS = { removed: "bg-removed", added: "bg-added", kept: "text-ink-faint" } as const;

/** The lines of a hunk; behind each the numbers of what it rests on. */
export function HunkLines({
  rows,
  lit,
  onMark,
}: {
  rows: readonly LineRow[];
  lit: number | undefined;
  onMark: (evidence: number) => void;
}) {
  const [isWhole, setWhole] = useState(rows.length <= SHOWN);
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  return (
    <>
      <ol aria-label="Lines, and what each rests on" className="border-y border-line font-mono text-xs leading-5">
        {shown.map((row, at) => (
          <li
            key={at}
            className={`grid grid-cols-[1.25rem_minmax(0,1fr)_3.5rem] sm:grid-cols-[2.5rem_1.25rem_minmax(0,1fr)_3.5rem] ${LOOKS[row.type]}`}
          >
            <span className="pr-1.5 text-right text-ink-faint select-none tabular-nums max-sm:hidden">
              {row.number}
            </span>
            <span className="text-center select-none">
              <span aria-hidden>{SIGNS[row.type]}</span>
              {row.type !== "kept" && <span className="sr-only">{row.type}</span>}
            </span>
            <span
              className={`min-h-5 pr-2 whitespace-pre-wrap wrap-anywhere ${lit !== undefined && row.evidence.includes(lit) ? "bg-accent-soft" : ""}`}
            >
              {row.text}
            </span>
            <span className="pr-2 text-right whitespace-nowrap">
              {row.marks.slice(0, MARKS).map((mark) => (
                <button
                  key={mark}
                  type="button"
                  aria-label={`Rests on ${mark + 1}`}
                  aria-pressed={lit === mark}
                  onClick={() => onMark(mark)}
                  className="inline-block min-h-6 min-w-6 rounded text-[0.6875rem] leading-6 text-accent hover:bg-accent-soft aria-pressed:bg-accent aria-pressed:text-on-accent"
                >
                  {mark + 1}
                </button>
              ))}
              {row.marks.length > MARKS && <span className="text-ink-faint">+{row.marks.length - MARKS}</span>}
            </span>
          </li>
        ))}
      </ol>
      {!isWhole && (
        <Button look="quiet" size="small" className="m-1" onClick={() => setWhole(true)}>
          {rows.length - SHOWN} lines more
        </Button>
      )}
    </>
  );
}
