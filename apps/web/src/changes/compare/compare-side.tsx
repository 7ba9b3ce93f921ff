import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import { count, duration, listCost } from "../../text/format.ts";
import { Markdown } from "../../text/markdown.tsx";
import { Problem } from "../../ui/problem.tsx";
import { STATE_WORDS, StateDot, stateOf } from "../../ui/state-dot.tsx";
import { useCheckpoints, useDiff } from "../changes-api.ts";
import { LineCount } from "../../diff/line-count.tsx";
import { finalAnswer } from "./final-answer.ts";

/** One of the two sessions: its state, cost and final answer. */
export function CompareSide({ session: id }: { session: string }) {
  const known = useLive(feed.sessions).get(id);
  const updatedAt = known?.updated_at ?? "";
  const session = useQuery({
    queryKey: [`/v1/sessions/${id}`, updatedAt],
    queryFn: ({ signal }) => api.call("sessions.retrieve", { params: { session_id: id }, signal }),
    placeholderData: (before) => before,
  });
  const messages = useQuery({
    queryKey: [`/v1/sessions/${id}/messages`, { limit: 30 }, updatedAt],
    queryFn: ({ signal }) =>
      api.call("sessions.messages.list", { params: { session_id: id }, query: { limit: 30 }, signal }),
    placeholderData: (before) => before,
  });
  const { data: diff } = useDiff(id, {});
  const { data: checkpoints } = useCheckpoints(id);
  const outcome = finalAnswer(messages.data?.data ?? []);
  const stats = session.data?.stats;
  const facts = [
    ["Cost", known ? listCost(known.list_cost) : "…"],
    ["Turns", checkpoints?.turns.filter(({ rewound }) => !rewound).length ?? "…"],
    ["Active time", stats?.active_seconds === undefined ? "…" : duration(stats.active_seconds * 1_000)],
    ["Output tokens", session.data?.usage.output_tokens === undefined ? "…" : count(session.data.usage.output_tokens)],
  ];
  return (
    <article className="flex min-w-0 flex-col rounded-lg border border-line bg-surface">
      <header className="flex items-center gap-2 border-b border-line px-3 py-2">
        {known && <StateDot state={stateOf(known)} />}
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          <Link to="/sessions/$session" params={{ session: id }} search={{}} className="hover:underline">
            {known?.title ?? session.data?.title ?? "Untitled"}
          </Link>
        </h2>
        {known && <span className="shrink-0 text-xs text-ink-faint">{STATE_WORDS[stateOf(known)]}</span>}
      </header>
      <Problem error={session.error} className="m-3" />
      <dl hidden={session.error !== null} className="grid grid-cols-3 gap-x-4 gap-y-2 px-3 py-3 sm:grid-cols-5">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-ink-faint">{name}</dt>
            <dd className="font-medium tabular-nums">{value}</dd>
          </div>
        ))}
        <div>
          <dt className="text-xs text-ink-faint">Files</dt>
          <dd className="flex items-baseline gap-2 font-medium tabular-nums">
            {diff?.files.length ?? "…"} {diff && <LineCount added={diff.added} removed={diff.removed} />}
          </dd>
        </div>
      </dl>
      {known && (
        <p className="truncate px-3 pb-2 font-mono text-xs text-ink-faint" title={known.folder}>
          {known.folder}
        </p>
      )}
      <div
        hidden={session.error !== null}
        className="max-h-96 min-h-24 flex-1 overflow-y-auto border-t border-line px-3 py-3"
      >
        <h3 className="mb-1.5 text-xs font-medium text-ink-faint">Result</h3>
        {outcome === undefined ? (
          <p className="text-sm text-ink-soft">{messages.isSuccess ? "No answer yet." : "…"}</p>
        ) : (
          <Markdown text={outcome} />
        )}
      </div>
    </article>
  );
}
