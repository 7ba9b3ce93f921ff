import type { Approval } from "@tandem/protocol";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, Check, ChevronRight, Hourglass, X } from "lucide-react";
import { useState } from "react";
import { api } from "../api/client.ts";
import { formatDateTime } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { APPROVALS } from "./approvals-api.ts";
import { CallBody } from "./call-body.tsx";
import { summarizeCall, nameOfKind } from "./summarize-call.ts";
import { OutcomeLine } from "./outcome-line.tsx";
import { questionsOf } from "./question/question-answers.ts";
import { VerdictLine } from "./verdict-line.tsx";
import { TimeAgo } from "../ui/time-ago.tsx";

const ICONS = {
  allowed: <Check aria-label="Allowed" className="size-4 text-good" />,
  denied: <X aria-label="Denied" className="size-4 text-bad" />,
  expired: <Hourglass aria-label="Expired" className="size-4 text-ink-faint" />,
  cancelled: <Ban aria-label="Cancelled" className="size-4 text-ink-faint" />,
} as const;

/** Past decisions, newest first. */
export function DecidedList() {
  const query = useInfiniteQuery({
    queryKey: [APPROVALS, { status: "resolved" }],
    queryFn: ({ pageParam, signal }) =>
      api.call("approvals.list", { query: { status: "resolved", limit: 50, page: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });
  const decided = (query.data?.pages.flatMap(({ data }) => data) ?? []).toSorted((a, b) =>
    (b.resolved?.at ?? "").localeCompare(a.resolved?.at ?? ""),
  );
  if (query.error && decided.length === 0) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isSuccess && decided.length === 0)
    return (
      <Empty title="No decisions yet">Allowed, denied and expired requests are listed here, with who decided.</Empty>
    );
  return (
    <>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {decided.map((approval) => (
          <DecisionRow key={approval.id} approval={approval} />
        ))}
      </ul>
      {query.hasNextPage && (
        <div className="mt-3 text-center">
          <Button look="quiet" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      )}
      <Problem error={decided.length > 0 ? query.error : null} className="mt-2" />
    </>
  );
}

function DecisionRow({ approval }: { approval: Approval }) {
  const [isOpen, setOpen] = useState(false);
  const { resolved } = approval;
  if (!resolved) return null;
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="grid w-full grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 px-3 py-1.5 text-left hover:bg-raised pointer-coarse:min-h-10"
      >
        <span className="flex items-center gap-1">
          <ChevronRight aria-hidden className={`size-3.5 text-ink-faint ${isOpen ? "rotate-90" : ""}`} />
          {ICONS[resolved.outcome]}
        </span>
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{nameOfKind(approval)}</span>
          <span className={`truncate text-ink-soft ${approval.kind === "tool" ? "font-mono text-xs" : "text-sm"}`}>
            {summarizeCall(approval)}
          </span>
        </span>
        <span className="flex shrink-0 flex-col items-end text-xs text-ink-faint sm:flex-row sm:gap-2">
          <span className="max-w-40 truncate text-ink-soft">{resolved.by}</span>
          <TimeAgo at={resolved.at} />
        </span>
      </button>
      {isOpen && (
        <div className="space-y-3 border-t border-line bg-ground px-3 py-3 sm:pl-12">
          <p className="text-sm text-ink-soft">
            <Link
              to="/sessions/$session"
              params={{ session: approval.session_id }}
              search={{ part: approval.id }}
              className="font-medium text-ink underline decoration-line-strong underline-offset-2"
            >
              {approval.session_title ?? "Untitled"}
            </Link>
            , {approval.agent_name}, asked {formatDateTime(approval.created_at)}
          </p>
          {approval.kind === "question" ? (
            <ul className="list-disc pl-5 text-sm">
              {questionsOf(approval.input).map(({ question }) => (
                <li key={question}>{question}</li>
              ))}
            </ul>
          ) : (
            <CallBody approval={approval} />
          )}
          <VerdictLine verdict={approval.verdict} />
          <OutcomeLine approval={approval} resolved={resolved} />
        </div>
      )}
    </li>
  );
}
