import type * as highlighting from "./highlight.tsx";
import { useEffect, useState } from "react";

type Highlighter = typeof highlighting;
let loaded: Highlighter | undefined;

/** Loads the highlighter for the first code in a known language. */
export function useHighlighter(language: string | undefined): Highlighter | undefined {
  const [highlighter, setHighlighter] = useState(() => loaded);
  useEffect(() => {
    if (highlighter || language === undefined) return;
    // If the chunk fails to load, code stays plain.
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

/** The language, by file extension. */
export const languageOf = (path: string): string | undefined => /\.(\w{1,10})$/.exec(path)?.[1]?.toLowerCase();
