import type { WikiPage } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";
import { Badge } from "../badge.tsx";
import { unwrapLines } from "../unwrap-lines.ts";

/** The cited passages of a page by number, as last read. */
export function SourceList({ sources, citations }: { sources: WikiPage["sources"]; citations: readonly string[] }) {
  const known = new Map(sources.map((source) => [source.citation, source]));
  const rest = sources.map(({ citation }) => citation).filter((citation) => !citations.includes(citation));
  const all = [...citations, ...rest];
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="sources" className="mt-7 border-t border-line pt-4">
      <h3 id="sources" className="mb-2 text-sm font-medium text-ink-soft">
        Sources
      </h3>
      <ol className="space-y-2.5">
        {all.map((citation, at) => {
          const source = known.get(citation);
          return (
            <li
              key={citation}
              id={`source-${citation}`}
              tabIndex={-1}
              className="flex scroll-mt-20 gap-2.5 rounded-md p-1 focus:bg-accent-soft focus:outline-none"
            >
              <span className="w-5 shrink-0 pt-px text-right text-xs text-ink-faint tabular-nums">{at + 1}</span>
              <div className="min-w-0 flex-1">
                <div className="flex flex-wrap items-baseline gap-x-2">
                  <ContextLink
                    path={`passages/${citation}`}
                    className="font-mono text-xs text-accent hover:underline wrap-anywhere"
                  >
                    {citation}
                  </ContextLink>
                  {source && <span className="text-xs text-ink-faint">{source.path}</span>}
                  {source?.is_changed === true && (
                    <Badge
                      look="wait"
                      title="The document changed after this page was written. The next ingest checks it."
                    >
                      {source.passage ? "changed since" : "gone"}
                    </Badge>
                  )}
                </div>
                {source?.passage && (
                  <blockquote className="mt-0.5 line-clamp-4 border-l-2 border-line pl-2.5 text-sm whitespace-pre-line text-ink-soft wrap-anywhere">
                    {unwrapLines(source.passage.content)}
                  </blockquote>
                )}
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
