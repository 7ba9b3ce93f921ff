import type * as highlighting from "./highlight.tsx";
import { useEffect, useState } from "react";

type Highlighter = typeof highlighting;
let loaded: Highlighter | undefined;

/** What colours code, once it has come; it is loaded when the first code of a known kind is shown. */
export function useHighlighter(language: string | undefined): Highlighter | undefined {
  const [highlighter, setHighlighter] = useState(() => loaded);
  useEffect(() => {
    if (highlighter || language === undefined) return;
    // Without it, code stays as it is.
    void import("./highlight.tsx").then(
      (module) => {
        loaded = module;
        setHighlighter(() => module);
      },
      () => undefined,
    );
  }, [highlighter, language]);
  return language === undefined ? undefined : highlighter;
}

/** What a file is written in, as its name says it. */
export const languageOf = (path: string): string | undefined => /\.(\w{1,10})$/.exec(path)?.[1]?.toLowerCase();
