import type { Evidence, MetricDefinition } from "@tandem/protocol";
import { useQueries } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useServerQuery } from "../../api/use-server-query.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { EvidenceItem } from "../evidence-item.tsx";
import { evidenceOf } from "./metric-evidence.ts";
import { TimeAgo } from "../../ui/time-ago.tsx";

/** Proposals whose evidence is loaded; older ones are a click away. */
const LOADED = 5;

/** The commits that changed the metric's file, and the evidence that was reviewed with the metric. */
export function MetricHistory({ metric: { path, name } }: { metric: MetricDefinition }) {
  const history = useServerQuery("context.files.history", { query: { path } }, { retry: false });
  const commits = history.data?.data ?? [];
  const proposals = [...new Set(commits.flatMap(({ proposal }) => proposal ?? []))].slice(0, LOADED);
  const evidence = useEvidence(proposals, path, name);
  return (
    <>
      {evidence.length > 0 && (
        <section aria-label="Evidence" className="mt-6">
          <h3 className="mb-1.5 text-sm font-medium text-ink-soft">Evidence</h3>
          <ul className="space-y-2">
            {evidence.map((item, at) => (
              <li key={at}>
                <EvidenceItem item={item} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section
        id="metric-history"
        tabIndex={-1}
        aria-label="History"
        className="mt-6 scroll-mt-4 rounded-md focus:outline-none"
      >
        <h3 className="mb-1.5 text-sm font-medium text-ink-soft">History of the file</h3>
        {history.data && commits.length === 0 && <p className="text-sm text-ink-faint">Not committed yet.</p>}
        <ol className="space-y-1 text-sm">
          {commits.map(({ commit, at, subject, proposal }) => (
            <li key={commit} className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-mono text-xs text-ink-faint">{commit.slice(0, 12)}</span>
              <span className="min-w-0 wrap-anywhere">
                {proposal === null ? (
                  subject
                ) : (
                  <ContextLink path={`proposals/${proposal}`} className={linkClass}>
                    {subject}
                  </ContextLink>
                )}
              </span>
              <TimeAgo at={at} className="text-xs text-ink-faint" />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

/** The evidence of the newest proposal that has some for the metric. */
const useEvidence = (proposals: readonly string[], path: string, name: string): readonly Evidence[] =>
  useQueries({
    queries: proposals.map((id) => ({
      queryKey: ["/v1/proposals", id, "evidence", path],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.call("proposals.retrieve", { params: { proposal_id: id }, query: { paths: [path] }, signal }),
      retry: false,
    })),
    combine: (results) =>
      results
        .map(({ data }) => {
          const change = data?.changes.find((each) => each.path === path);
          return change ? evidenceOf(change, name) : [];
        })
        .find((found) => found.length > 0) ?? [],
  });
