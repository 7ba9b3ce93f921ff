import { type ReactNode, useMemo } from "react";
import { Markdown, MarkdownOptionsContext } from "../../text/markdown.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { pathOfKey } from "../context-route.ts";
import { citeText } from "./cite-text.ts";
import { SourceList } from "./source-list.tsx";

/** A wiki page with the cited passages of each paragraph. */
export function PageView({ pageKey }: { pageKey: string }) {
  const { data: page, error, refetch } = useServerQuery("context.pages.retrieve", { query: { key: pageKey } });
  const { text, citations } = useMemo(() => citeText(page?.body ?? ""), [page]);
  const reading = useMemo(() => ({ heading: 2, link: (href: string, words: ReactNode) => own(href, words) }), []);
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  if (!page) return null;
  return (
    <article className="mx-auto max-w-3xl px-4 py-5 sm:px-8 sm:py-7">
      <h2 className="text-xl font-semibold text-balance">{page.title}</h2>
      {page.summary !== "" && <p className="mt-1 text-ink-soft">{page.summary}</p>}
      <div className="mt-2 flex flex-wrap items-center gap-1.5">
        {page.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        <span className="font-mono text-xs text-ink-faint">{page.path}</span>
      </div>
      {page.problem !== null && (
        <p className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          This file is not a valid page: {page.problem}
        </p>
      )}
      <div className="mt-5 text-[0.9375rem] leading-relaxed">
        <MarkdownOptionsContext value={reading}>
          <Markdown text={text} />
        </MarkdownOptionsContext>
      </div>
      {page.refs.length > 0 && (
        <section aria-labelledby="refs" className="mt-6">
          <h3 id="refs" className="mb-1.5 text-sm font-medium text-ink-soft">
            About
          </h3>
          <ul className="flex flex-wrap gap-1.5">
            {page.refs.map((ref) => (
              <li key={ref}>
                <ContextLink
                  path={pathOfKey(ref) ?? ""}
                  className="inline-block rounded-md border border-line bg-surface px-2 py-0.5 font-mono text-xs hover:border-line-strong pointer-coarse:py-2"
                >
                  {ref.slice(ref.indexOf(":") + 1)}
                </ContextLink>
              </li>
            ))}
          </ul>
        </section>
      )}
      <SourceList sources={page.sources} citations={citations} />
    </article>
  );
}

function own(href: string, words: ReactNode): ReactNode | undefined {
  if (href.startsWith("cite:")) {
    return (
      <a
        href={`#source-${encodeURIComponent(href.slice(5))}`}
        onClick={(event) => {
          // Citation links must not change the URL, which belongs to the router.
          event.preventDefault();
          const source = document.getElementById(`source-${href.slice(5)}`);
          source?.focus({ preventScroll: true });
          source?.scrollIntoView({ block: "center", behavior: "smooth" });
        }}
        aria-label={`Source: ${href.slice(5)}`}
        title={href.slice(5)}
        className="mx-px inline-block min-w-4 rounded bg-accent-soft px-1 text-center align-super text-[0.6875rem] leading-4 text-accent no-underline hover:underline"
      >
        {words}
      </a>
    );
  }
  const path = pathOfKey(href) ?? (/^[\w/-]+\.md$/.test(href) ? `wiki/${href.slice(0, -3)}` : undefined);
  return path === undefined ? undefined : (
    <ContextLink path={path} className={linkClass}>
      {words}
    </ContextLink>
  );
}
