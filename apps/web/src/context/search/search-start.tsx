import type { ReactNode } from "react";
import { ago, count } from "../../text/format.ts";
import { useServerQuery } from "../../api/use-server-query.ts";
import type { Overview } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { StateBadge } from "../proposals/state-badge.tsx";

/** Shown before the first search: the contents of the context, or how to set it up. */
export function SearchStart({ overview: { counts, connections, sources, problems } }: { overview: Overview }) {
  const isEmpty = counts.table + counts.page + counts.memory === 0;
  return (
    <div className="space-y-4">
      {isEmpty ? (
        <div className="rounded-lg border border-line bg-surface p-4">
          <h2 className="font-medium">The context is empty</h2>
          <p className="mt-1 mb-3 text-sm text-ink-soft">
            {connections.length + sources.length === 0
              ? "Add a database or documents first, then read them."
              : "Read your sources:"}
          </p>
          <div className="space-y-2">
            {connections.length === 0 && <ShellCommand>tandem connections add shop shop.sqlite</ShellCommand>}
            {connections.length > 0 && <ShellCommand>tandem context scan</ShellCommand>}
            {sources.length > 0 && <ShellCommand>tandem context ingest</ShellCommand>}
          </div>
          <p className="mt-3 text-sm text-ink-soft">
            Or start a job under{" "}
            <ContextLink path="jobs" className={linkClass}>
              Jobs
            </ContextLink>
            .
          </p>
        </div>
      ) : (
        <ul className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          <Count path="wiki" value={counts.page} words="pages" />
          <Count path="tables" value={counts.table} words="tables" />
          <Count path="metrics" value={counts.metric} words="metrics" />
          <Count path="memory" value={counts.memory} words="memories" />
        </ul>
      )}
      <OpenProposals />
      {problems.length > 0 && (
        <section aria-labelledby="unreadable" className="rounded-lg border border-bad bg-bad-soft p-3">
          <h2 id="unreadable" className="font-medium text-bad">
            {problems.length === 1 ? "1 file cannot be read" : `${problems.length} files cannot be read`}
          </h2>
          <ul className="mt-1 space-y-1 text-sm">
            {problems.slice(0, 20).map(({ path, message }) => (
              <li key={path} className="wrap-anywhere">
                <span className="font-mono text-xs">{path}</span>: {message}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Open proposals. */
function OpenProposals() {
  const { data } = useServerQuery("proposals.list", { query: { states: ["open"], limit: 5 } });
  if (!data || data.data.length === 0) return null;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting" className="mb-1.5 text-sm font-medium text-ink-soft">
        Needs a decision
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {data.data.map((proposal) => (
          <li key={proposal.id}>
            <ContextLink
              path={`proposals/${proposal.id}`}
              data-row=""
              className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2 hover:bg-raised"
            >
              <span className="font-medium">{proposal.title}</span>
              <StateBadge proposal={proposal} />
              <time className="ml-auto text-xs text-ink-faint" dateTime={proposal.created_at}>
                {ago(proposal.created_at)}
              </time>
            </ContextLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Count({ path, value, words }: { path: string; value: number; words: ReactNode }) {
  return (
    <li>
      <ContextLink
        path={path}
        data-row=""
        className="block rounded-lg border border-line bg-surface px-3 py-2.5 hover:border-line-strong"
      >
        <span className="block text-lg font-semibold tabular-nums">{count(value)}</span>
        <span className="text-sm text-ink-soft">{words}</span>
      </ContextLink>
    </li>
  );
}
