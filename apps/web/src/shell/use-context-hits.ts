import { useDeferredValue } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { pathOfKey } from "../context/context-route.ts";
import { capitalised } from "../text/mode-labels.ts";

const SHOWN = 6;
const FEWEST = 2;

interface ContextHit {
  key: string;
  title: string;
  kind: string;
  /** Follows `/context/`. */
  path: string;
}

/** Metrics, also by their other names, and pages, tables and memories that match the text; empty if the project has no context. */
export function useContextHits(words: string): readonly ContextHit[] {
  const term = useDeferredValue(words.trim());
  const isAsked = term.length >= FEWEST;
  const { data } = useServerQuery(
    "context.search",
    { query: { query: term, limit: SHOWN, kinds: ["page", "metric", "table", "memory"] } },
    { enabled: isAsked, placeholderData: (before) => before, retry: false, staleTime: 30_000 },
  );
  if (!isAsked) return [];
  return (data?.data ?? []).flatMap(({ key, title, kind }) => {
    const path = pathOfKey(key);
    return path === undefined ? [] : [{ key, path, kind: capitalised(kind), title: title.replaceAll(/[«»]/g, "") }];
  });
}
