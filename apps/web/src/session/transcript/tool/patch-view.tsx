import { memo, type ReactNode, useState } from "react";
import { languageOf, useHighlighter } from "../../../text/use-highlighter.ts";
import type { PatchLine } from "./patch-lines.ts";

const SHOWN = 24;
const COLOURED = 400;
const LOOKS = { "+": "bg-added", "-": "bg-removed", " ": "", "…": "" } as const;

/** The changed lines of a call, cut at first. */
export const PatchView = memo(function PatchView({ lines, path }: { lines: readonly PatchLine[]; path: string }) {
  const language = languageOf(path);
  const highlighter = useHighlighter(language);
  // Highlights each line on its own. Constructs that span lines, such as long comments, are rarely complete in a patch.
  const coloured = (text: string, index: number): ReactNode =>
    language !== undefined && index < COLOURED ? (highlighter?.highlight(text, language) ?? text) : text;
  const [isAll, setAll] = useState(false);
  const shown = isAll ? lines : lines.slice(0, SHOWN);
  const hidden = lines.length - shown.length;
  return (
    <figure className="overflow-x-auto font-mono text-xs leading-5" aria-label="Changed lines" tabIndex={0}>
      <div className="w-fit min-w-full">
        {shown.map(({ sign, number, text }, index) =>
          sign === "…" ? (
            <div key={index} className="bg-raised px-3 text-ink-faint select-none">
              ⋯
            </div>
          ) : (
            <div key={index} className={`flex ${LOOKS[sign]}`}>
              <span className="w-10 shrink-0 pr-2 text-right text-ink-soft select-none">{number}</span>
              <span className="pr-3 whitespace-pre">
                {sign} {coloured(text, index)}
              </span>
            </div>
          ),
        )}
      </div>
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="sticky left-0 px-3 py-1 font-sans text-accent hover:underline"
        >
          {hidden} more {hidden === 1 ? "line" : "lines"}
        </button>
      )}
    </figure>
  );
});
