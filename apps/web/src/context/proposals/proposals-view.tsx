import { useSearch } from "@tanstack/react-router";
import { ago } from "../../text/format.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { ContextLink } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { ProposalView } from "./proposal-view.tsx";
import { StateBadge } from "./state-badge.tsx";

const MOST = 100;

/** Open proposals, or all of them. */
export default function ProposalsView({ proposal }: { proposal: string }) {
  const { all } = useSearch({ from: "/context/$" });
  const isAll = all !== undefined;
  const query = isAll ? { limit: MOST } : { limit: MOST, states: ["open" as const] };
  const { data, error, refetch } = useServerQuery(
    "proposals.list",
    { query },
    { refetchInterval: 15_000, placeholderData: (before) => before },
  );
  const search = isAll ? { all: "1" } : undefined;
  const list = (
    <>
      <nav aria-label="Filter proposals" className="sticky top-0 z-10 flex gap-1 border-b border-line bg-surface p-2">
        <ProposalFilter isCurrent={!isAll} proposal={proposal}>
          To decide
        </ProposalFilter>
        <ProposalFilter isCurrent={isAll} isAll proposal={proposal}>
          All
        </ProposalFilter>
      </nav>
      <Problem error={error} onRetry={() => void refetch()} className="m-3" />
      {data?.data.length === 0 && (
        <Empty title={isAll ? "No proposals yet" : "Nothing to decide"}>
          {isAll
            ? "Scans, ingests and agents create proposals."
            : "Proposed changes to the context appear here for your review."}
        </Empty>
      )}
      <div className="py-1">
        {data?.data.map((each) => (
          <PaneRow
            key={each.id}
            path={`proposals/${each.id}`}
            isCurrent={each.id === proposal}
            {...(search && { search })}
          >
            <span className="flex items-baseline gap-2">
              <span className="truncate">{each.title}</span>
              <time className="ml-auto shrink-0 text-xs text-ink-faint" dateTime={each.created_at}>
                {ago(each.created_at)}
              </time>
            </span>
            <span className="mt-0.5 flex flex-wrap items-center gap-1.5 text-xs text-ink-faint">
              <StateBadge proposal={each} />
              <span className="truncate">{each.files === 1 ? "1 file" : `${each.files} files`}</span>
            </span>
          </PaneRow>
        ))}
      </div>
    </>
  );
  return (
    <Panes
      label="Proposals"
      back="proposals"
      list={list}
      detail={proposal === "" ? undefined : <ProposalView key={proposal} id={proposal} />}
    />
  );
}

function ProposalFilter({
  isAll = false,
  isCurrent,
  proposal,
  children,
}: {
  isAll?: boolean;
  isCurrent: boolean;
  proposal: string;
  children: string;
}) {
  return (
    <ContextLink
      path={proposal === "" ? "proposals" : `proposals/${proposal}`}
      {...(isAll && { search: { all: "1" } })}
      aria-current={isCurrent ? "true" : undefined}
      className="flex min-h-7 items-center rounded-md px-2.5 text-sm text-ink-soft hover:bg-raised aria-[current]:bg-raised aria-[current]:text-ink pointer-coarse:min-h-10"
    >
      {children}
    </ContextLink>
  );
}
