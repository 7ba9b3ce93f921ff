import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { useEnvironments } from "../api/lists.ts";
import { toFeedSession } from "../live/feed-session.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { matchesFilter, type HomeSearch } from "./session-filter.ts";
import { SessionRow } from "./session-card.tsx";

const PAGE = 100;

/** Archived sessions. The feed no longer has them, so they come from the list endpoint. */
export function Archived({ search }: { search: HomeSearch }) {
  const list = useInfiniteQuery({
    queryKey: ["/v1/sessions", { include_archived: "true" }],
    queryFn: ({ pageParam, signal }) =>
      api.call("sessions.list", { query: { limit: PAGE, include_archived: "true", page: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });
  const environments = useEnvironments(true);
  const shown = (list.data?.pages ?? [])
    .flatMap(({ data }) => data)
    .filter(({ archived_at }) => archived_at !== null)
    .map((session) => toFeedSession(session, environments.data))
    .filter((session) => matchesFilter(session, search));
  return (
    <section aria-labelledby="archived" className="mt-6">
      <h2 id="archived" className="mb-2 text-sm font-medium text-ink-soft">
        Archived
      </h2>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {list.isSuccess && shown.length === 0 && <Empty title="No archived sessions" />}
      {shown.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {shown.map((session) => (
            <SessionRow key={session.id} session={session} isUnread={false} isPinned={false} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button className="mt-2" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </section>
  );
}
