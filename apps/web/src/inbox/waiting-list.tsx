import type { Approval } from "@tandem/protocol";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ClipboardList, MessageCircleQuestion, PlugZap, ShieldQuestion } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { APPROVALS } from "./approvals-api.ts";
import { summarizeCall, nameOfKind } from "./summarize-call.ts";
import { ApprovalExpiry } from "./approval-expiry.tsx";
import { LastDecided } from "./last-decided.tsx";
import { nextSelected } from "./next-selected.ts";
import { TimeAgo } from "../ui/time-ago.tsx";

const ICONS = { tool: ShieldQuestion, plan: ClipboardList, question: MessageCircleQuestion } as const;
const QUERY = { status: "pending", limit: 100 } as const;
const STARTING_MS = 2_000;

/** All pending approvals, oldest first, with one selected. */
export function WaitingList() {
  const sessions = useLive(feed.sessions);
  const isKnown = useLive(feed.isKnown);
  const { approvals, error, refetch, isRead } = usePending(sessions);
  const ids = approvals.map(({ id }) => id);
  const [seen, setSeen] = useState<{ ids: readonly string[]; selected: string | undefined }>({
    ids,
    selected: undefined,
  });
  const selected = nextSelected(seen.ids, ids, seen.selected);
  if (selected !== seen.selected || ids.join(" ") !== seen.ids.join(" ")) setSeen({ ids, selected });
  const setChosen = (id: string | undefined): void => setSeen({ ids, selected: id });
  const move = (by: number): void => {
    const at = ids.indexOf(selected ?? "");
    setChosen(ids[Math.min(Math.max(at + by, 0), ids.length - 1)]);
  };
  const navigate = useNavigate();
  const open = (): void => {
    const approval = approvals.find(({ id }) => id === selected);
    if (!approval) return;
    const search = { part: approval.id };
    void navigate({ to: "/sessions/$session", params: { session: approval.session_id }, search });
  };
  useShortcuts("Inbox", {
    j: ["Next item", () => move(1)],
    k: ["Previous item", () => move(-1)],
    enter: ["Open the session", open],
  });
  const programs = [...sessions.values()].flatMap((session) =>
    session.waiting_for
      .filter(({ type, event_id }) => type === "custom_tool_result" && !ids.includes(event_id))
      .map((call) => ({ session, call })),
  );

  const left = useMemo(() => approvals.map(({ id, session_id }) => ({ id, session: session_id })), [approvals]);

  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (isKnown && isRead && ids.length === 0 && programs.length === 0)
    return (
      <>
        <LastDecided waiting={left} />
        <Empty title="Nothing needs you">Approvals, questions and plans of all your sessions appear here.</Empty>
      </>
    );
  return (
    <>
      <LastDecided waiting={left} />
      <ul className="space-y-2">
        {approvals.map((approval) => (
          <li key={approval.id}>
            {approval.id === selected ? (
              <OpenCard approval={approval} />
            ) : (
              <CollapsedApproval approval={approval} onOpen={() => setChosen(approval.id)} />
            )}
          </li>
        ))}
      </ul>
      {isRead && programs.length > 0 && <CustomToolCalls programs={programs} />}
    </>
  );
}

/** Refetches when the feed reports another pending approval. */
function usePending(sessions: ReadonlyMap<string, FeedSession>) {
  const queries = useQueryClient();
  const waiting = [...sessions.values()].flatMap(({ waiting_for }) => waiting_for.map(({ event_id }) => event_id));
  const query = { ...QUERY, known: waiting.toSorted().join(" ") };
  const { data, error, refetch } = useQuery<Approval[]>({
    queryKey: [APPROVALS, query],
    placeholderData: keepPreviousData,
    // The feed does not say when an allowed call starts.
    refetchInterval: ({ state }) => (state.data?.some(isStarting) ? STARTING_MS : false),
    queryFn: async ({ signal }) => {
      const page = await api.call("approvals.list", { query: QUERY, signal });
      for (const approval of page.data) queries.setQueryData([APPROVALS, approval.id], approval);
      return page.data;
    },
  });
  // The feed reports resolved approvals sooner than the list.
  const known = query.known;
  const approvals = useMemo(
    () => (data ?? []).filter((each) => isStarting(each) || known.split(" ").includes(each.id)).toReversed(),
    [data, known],
  );
  return { approvals, error: data ? null : error, refetch, isRead: data !== undefined };
}

/** Whether the call is allowed and its process is being started. */
const isStarting = ({ status, state }: Approval): boolean => status === "resolved" && state === "allowed";

function OpenCard({ approval }: { approval: Approval }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Use a block body: some browsers return a promise here, which React would take for a cleanup function.
    place.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <div ref={place} className="scroll-my-4">
      <ApprovalCard approvalId={approval.id} session={approval.session_id} hasKeys />
    </div>
  );
}

function CollapsedApproval({ approval, onOpen }: { approval: Approval; onOpen: () => void }) {
  const Icon = ICONS[approval.kind];
  return (
    <button
      type="button"
      onClick={onOpen}
      className="grid w-full grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 rounded-lg border border-line bg-surface px-3 py-2 text-left hover:border-line-strong"
    >
      <Icon aria-hidden className="size-4 text-wait" />
      <span className="flex min-w-0 items-baseline gap-2">
        <span className="shrink-0 font-medium">{nameOfKind(approval)}</span>
        <span className={`truncate text-ink-soft ${approval.kind === "tool" ? "font-mono text-xs" : ""}`}>
          {summarizeCall(approval)}
        </span>
      </span>
      <ApprovalExpiry at={approval.expires_at} />
      <span className="col-start-2 truncate text-xs text-ink-faint">
        {approval.session_title ?? "Untitled"} · {approval.agent_name}
      </span>
      <TimeAgo at={approval.created_at} className="justify-self-end text-xs text-ink-faint" />
    </button>
  );
}

/** Custom tools wait for a client program, not for a user. They are listed for information. */
function CustomToolCalls({
  programs,
}: {
  programs: readonly { session: FeedSession; call: FeedSession["waiting_for"][number] }[];
}) {
  return (
    <section className="mt-6">
      <h2 className="mb-2 text-sm font-medium text-ink-soft">Waiting for a program</h2>
      <ul className="space-y-1">
        {programs.map(({ session, call }) => (
          <li key={call.event_id} className="flex items-center gap-2 text-sm text-ink-soft">
            <PlugZap aria-hidden className="size-4 text-ink-faint" />
            <span className="font-mono text-xs">{call.name}</span>
            <Link
              to="/sessions/$session"
              params={{ session: session.id }}
              search={{ part: call.event_id }}
              className="truncate underline decoration-line-strong underline-offset-2"
            >
              {session.title ?? "Untitled"}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
