import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { LineRow } from "./line-rows.ts";

/** Longer ones are shown in part at first. */
const SHOWN = 60;
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
      <table className="w-full table-fixed border-y border-line font-mono text-xs leading-5">
        <caption className="sr-only">Lines, and what each rests on</caption>
        <tbody>
          {shown.map((row, at) => (
            <tr key={at} className={LOOKS[row.type]}>
              <td className="w-9 pr-1.5 text-right align-top text-ink-faint select-none tabular-nums max-sm:hidden">
                {row.number}
              </td>
              <td className="w-5 text-center align-top select-none">
                <span aria-hidden>{SIGNS[row.type]}</span>
                {row.type !== "kept" && <span className="sr-only">{row.type}</span>}
              </td>
              <td
                className={`pr-2 whitespace-pre-wrap wrap-anywhere ${lit !== undefined && row.evidence.includes(lit) ? "bg-accent-soft" : ""}`}
              >
                {row.text === "" ? " " : row.text}
              </td>
              <td className="w-16 pr-2 text-right align-top whitespace-nowrap">
                {row.marks.slice(0, 3).map((mark) => (
                  <button
                    key={mark}
                    type="button"
                    aria-label={`Rests on ${mark + 1}`}
                    aria-pressed={lit === mark}
                    onClick={() => onMark(mark)}
                    className="ml-0.5 min-w-4 rounded px-1 text-[0.6875rem] leading-4 text-accent hover:bg-accent-soft aria-pressed:bg-accent aria-pressed:text-on-accent"
                  >
                    {mark + 1}
                  </button>
                ))}
                {row.marks.length > 3 && <span className="text-ink-faint">+{row.marks.length - 3}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isWhole && (
        <Button look="quiet" size="small" className="m-1" onClick={() => setWhole(true)}>
          {rows.length - SHOWN} lines more
        </Button>
      )}
    </>
  );
}
