import { memo, useState } from "react";
import type { PatchLine } from "./patch-lines.ts";

const SHOWN = 24;
const LOOKS = { "+": "bg-added", "-": "bg-removed", " ": "", "…": "" } as const;

/** The lines that a call changes, a few of them at first. */
export const PatchView = memo(function PatchView({ lines }: { lines: readonly PatchLine[] }) {
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
              <span className="w-10 shrink-0 pr-2 text-right text-ink-faint select-none">{number}</span>
              <span className="pr-3 whitespace-pre">
                {sign} {text}
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
