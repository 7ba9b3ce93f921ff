import type { QueryInput } from "@tandem/protocol";
import { useEffect, useRef } from "react";
import type { Overview } from "./context-api.ts";
import { useServerQuery } from "../api/use-server-query.ts";
import { ContextLink } from "./context-link.tsx";
import { SECTIONS, type Section } from "./context-route.ts";
import { count } from "../text/format.ts";

export const SECTION_WORDS: Readonly<Record<Section, string>> = {
  search: "Search",
  wiki: "Wiki",
  tables: "Tables",
  metrics: "Metrics",
  sql: "SQL",
  proposals: "Proposals",
  memory: "Memory",
  jobs: "Jobs",
  sources: "Sources",
};

const WAITING: QueryInput<"proposals.list"> = { states: ["open"], limit: 100 };

/** The sections with their counts. Open proposals are highlighted. */
export function SectionBar({ section, overview }: { section: Section; overview: Overview | undefined }) {
  const waiting = useServerQuery(
    "proposals.list",
    { query: WAITING },
    { enabled: overview !== undefined, refetchInterval: 20_000 },
  );
  const counts: { [S in Section]?: number | undefined } = {
    wiki: overview?.counts.page,
    tables: overview?.counts.table,
    metrics: overview?.counts.metric,
    memory: overview?.counts.memory,
    proposals: waiting.data?.data.length,
  };
  const isCounted = waiting.isFetched;
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the bar scrolls. Bring the open section into view once the counts have set the widths.
    if (isCounted)
      bar.current
        ?.querySelector(`[data-section="${section}"]`)
        ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [section, isCounted]);
  return (
    <header className="flex shrink-0 items-center md:min-h-12 gap-4 border-b border-line bg-surface pl-4">
      <h1 className="hidden text-base font-semibold sm:block">Context</h1>
      <h1 className="sr-only sm:hidden">Context</h1>
      <nav
        ref={bar}
        aria-label="Context"
        className="relative flex min-w-0 gap-0.5 overflow-x-auto py-1 pr-4 [scrollbar-width:none] max-sm:-ml-2"
      >
        {SECTIONS.map((name) => {
          const own = counts[name] ?? 0;
          const isLoud = name === "proposals" && own > 0;
          return (
            <ContextLink
              key={name}
              data-section={name}
              path={name === "search" ? "" : name}
              aria-current={name === section ? "page" : undefined}
              className="flex min-h-8 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-ink-soft hover:bg-raised hover:text-ink aria-[current]:bg-raised aria-[current]:font-medium aria-[current]:text-ink pointer-coarse:min-h-10"
            >
              {SECTION_WORDS[name]}
              {own > 0 && (
                <span
                  className={`text-xs ${isLoud ? "rounded-full bg-wait-soft px-1.5 font-medium text-wait" : "text-ink-faint"}`}
                >
                  {count(own)}
                  {isLoud && <span className="sr-only"> to decide</span>}
                </span>
              )}
            </ContextLink>
          );
        })}
      </nav>
    </header>
  );
}
