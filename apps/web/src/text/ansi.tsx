import { memo, useMemo } from "react";
import { ansiSpans } from "./ansi-spans.ts";

/** Terminal output with its colours. */
export const Ansi = memo(function Ansi({ text }: { text: string }) {
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
