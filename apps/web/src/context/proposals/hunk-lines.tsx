import { MessageSquarePlus } from "lucide-react";
import { useState } from "react";
import { CommentBox } from "../../diff/comment-box.tsx";
import type { LineComment } from "../../diff/line-comments.ts";
import { Button } from "../../ui/button.tsx";
import type { LineRow } from "./line-rows.ts";

/** Longer hunks are cut at first. */
const SHOWN = 60;
/** Number of evidence marks that fit behind a line. */
const MARKS = 2;
const SIGNS = { removed: "−", added: "+", kept: " " } as const;
const LOOKS = { removed: "bg-removed", added: "bg-added", kept: "text-ink-faint" } as const;

/** The user's comments on lines of a file. */
export interface LineNotes {
  path: string;
  of: (line: Pick<LineComment, "path" | "key">) => LineComment | undefined;
  put: (comment: LineComment) => void;
  drop: (comment: LineComment) => void;
}

/** The lines of a hunk with their evidence numbers. */
export function HunkLines({
  rows,
  lit,
  onMark,
  notes,
}: {
  rows: readonly LineRow[];
  lit: number | undefined;
  onMark: (evidence: number) => void;
  notes: LineNotes;
}) {
  const [writing, setWriting] = useState<string>();
  const lineOf = (row: LineRow): Omit<LineComment, "words"> => ({
    path: notes.path,
    line: row.number,
    text: row.text,
    key: `${row.type}:${row.number}`,
    side: row.type === "added" ? "new" : "old",
  });
  const [isWhole, setWhole] = useState(rows.length <= SHOWN);
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  return (
    <>
      <ol aria-label="Lines with their sources" className="border-y border-line font-mono text-xs leading-6">
        {shown.map((row, at) => {
          const line = lineOf(row);
          const note = notes.of(line);
          const isWriting = writing === line.key;
          return (
            <li
              key={at}
              className={`group/line grid grid-cols-[1.5rem_minmax(0,1fr)_auto] sm:grid-cols-[2.5rem_1.5rem_minmax(0,1fr)_auto] ${LOOKS[row.type]}`}
            >
              <span className="pr-1.5 text-right text-ink-faint select-none tabular-nums max-sm:hidden">
                {row.number}
              </span>
              <button
                type="button"
                data-act={row.type === "added" ? "comment" : undefined}
                aria-label={`Comment on line ${row.number}${row.type === "kept" ? "" : `, ${row.type}`}`}
                onClick={() => setWriting(line.key)}
                className="relative text-center select-none hover:bg-accent hover:text-on-accent focus-visible:bg-accent focus-visible:text-on-accent"
              >
                <span aria-hidden className="group-hover/line:hidden">
                  {SIGNS[row.type]}
                </span>
                <MessageSquarePlus aria-hidden className="mx-auto mt-1.5 hidden size-3 group-hover/line:block" />
              </button>
              <span
                className={`min-h-6 pr-2 whitespace-pre-wrap wrap-anywhere ${lit !== undefined && row.evidence.includes(lit) ? "bg-accent-soft" : ""}`}
              >
                {row.text}
              </span>
              <span className="pr-2 text-right whitespace-nowrap">
                {row.marks.slice(0, MARKS).map((mark) => (
                  <button
                    key={mark}
                    type="button"
                    aria-label={`Source ${mark + 1}`}
                    aria-pressed={lit === mark}
                    onClick={() => onMark(mark)}
                    className="inline-block min-h-6 min-w-6 rounded text-[0.6875rem] leading-6 text-accent hover:bg-accent-soft aria-pressed:bg-accent aria-pressed:text-on-accent"
                  >
                    {mark + 1}
                  </button>
                ))}
                {row.marks.length > MARKS && <span className="text-ink-faint">+{row.marks.length - MARKS}</span>}
              </span>
              {(note || isWriting) && (
                <div className="col-span-full bg-surface px-3 py-2 font-sans text-ink">
                  <CommentBox
                    key={String(note === undefined)}
                    comment={note ?? { ...line, words: "" }}
                    isNew={note === undefined}
                    onSave={(words) => {
                      notes.put({ ...line, words });
                      setWriting(undefined);
                    }}
                    onDrop={() => {
                      if (note) notes.drop(note);
                      setWriting(undefined);
                    }}
                  />
                </div>
              )}
            </li>
          );
        })}
      </ol>
      {!isWhole && (
        <Button look="quiet" size="small" className="m-1" onClick={() => setWhole(true)}>
          {rows.length - SHOWN} lines more
        </Button>
      )}
    </>
  );
}
