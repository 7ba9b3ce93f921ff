import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { useOverview, usePages } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { unwrapLines } from "../unwrap-lines.ts";

/** A passage of a document with its neighbours. It is untrusted data and rendered as plain text. */
export function PassageView({ citation }: { citation: string }) {
  const { data, error, refetch } = useServerQuery("context.passages.list", { query: { citation, around: 2 } });
  const overview = useOverview();
  const pages = usePages();
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  const own = data?.data.find((passage) => passage.citation === citation);
  if (!data || !own) return null;
  const type = overview.data?.sources.find(({ name }) => name === own.source)?.type;
  const citing = pages.data?.data.filter(({ citations }) => citations.includes(citation)) ?? [];
  return (
    <article className="mx-auto max-w-3xl px-4 py-5 sm:px-8 sm:py-7">
      <div className="flex flex-wrap items-center gap-2">
        <Badge>Passage</Badge>
        <span className="font-mono text-xs text-ink-faint wrap-anywhere">
          {own.source}
          {type === undefined ? "" : ` (${type})`} › {own.path}
        </span>
      </div>
      <h2 className="mt-1.5 text-xl font-semibold">{own.headings.at(-1) ?? own.title}</h2>
      <ol className="mt-4 space-y-1">
        {data.data.map((passage) => {
          const isOwn = passage.citation === citation;
          return (
            <li
              key={passage.citation}
              aria-current={isOwn ? "true" : undefined}
              className={`rounded-lg px-4 py-3 ${isOwn ? "border border-accent bg-surface" : "text-ink-faint"}`}
            >
              <ContextLink
                path={`passages/${passage.citation}`}
                className="font-mono text-xs text-ink-faint hover:underline"
              >
                {[passage.title, ...passage.headings].filter((text, at, all) => all.indexOf(text) === at).join(" › ")}
              </ContextLink>
              <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{unwrapLines(passage.content)}</p>
            </li>
          );
        })}
      </ol>
      {citing.length > 0 && (
        <section aria-labelledby="citing" className="mt-5">
          <h3 id="citing" className="mb-1 text-sm font-medium text-ink-soft">
            Pages that cite this passage
          </h3>
          <ul className="space-y-0.5">
            {citing.map(({ key, title }) => (
              <li key={key}>
                <ContextLink path={`wiki/${key}`} className={linkClass}>
                  {title}
                </ContextLink>
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  );
}
