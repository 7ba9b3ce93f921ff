import { ApiError } from "../api/client.ts";
import { useEnvironments } from "../api/lists.ts";
import { feed, type FeedSession } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { toFeedSession } from "../live/feed-session.ts";
import { useSessionResource } from "./use-session-data.ts";

/** The session from the feed, or an archived one from the API. */
export function useSessionSummary(id: string): { session: FeedSession | undefined; isMissing: boolean } {
  const present = useLive(feed.sessions).get(id);
  const { data, error } = useSessionResource(id);
  const environments = useEnvironments(true);
  const isKept = present === undefined && data !== undefined && data.archived_at !== null;
  return {
    session: present ?? (isKept ? toFeedSession(data, environments.data) : undefined),
    isMissing: present === undefined && error instanceof ApiError && error.status === 404,
  };
}
