import { memo, useMemo, useState } from "react";
import { ansiSpans } from "../../../text/ansi-spans.ts";
import { CopyButton } from "../../../text/code.tsx";

const SHOWN = 14;

/** Shows the end of a long output, where programs print their result, or its start. */
export function CommandOutput({ text, keep = "end" }: { text: string; keep?: "start" | "end" }) {
  const [isAll, setAll] = useState(false);
  const trimmed = text.replace(/\n+$/, "");
  const lines = trimmed.split("\n");
  const hidden = isAll ? 0 : Math.max(0, lines.length - SHOWN);
  const shown = hidden === 0 ? trimmed : (keep === "end" ? lines.slice(-SHOWN) : lines.slice(0, SHOWN)).join("\n");
  const more = hidden > 0 && (
    <button
      type="button"
      onClick={() => setAll(true)}
      className="block w-full px-3 py-1 text-left text-xs text-accent hover:underline"
    >
      {hidden} more {hidden === 1 ? "line" : "lines"} {keep === "end" ? "above" : "below"}
    </button>
  );
  if (trimmed === "") return <p className="px-3 py-1.5 text-xs text-ink-faint">No output</p>;
  return (
    <div className="group/code relative">
      {keep === "end" && more}
      <pre
        className="max-h-[60vh] overflow-auto px-3 py-1.5 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap"
        tabIndex={0}
        aria-label="Output"
      >
        <Ansi text={shown} />
      </pre>
      {keep === "start" && more}
      <CopyButton text={trimmed} />
    </div>
  );
}

/** Terminal output with its colours. */
const Ansi = memo(function Ansi({ text }: { text: string }) {
  const spans = useMemo(() => ansiSpans(text), [text]);
  return spans.map(({ text: piece, className }, index) =>
    className === "" ? (
      piece
    ) : (
      <span key={index} className={className}>
        {piece}
      </span>
    ),
  );
});
