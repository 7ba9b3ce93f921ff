import { feed } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";

/** Within a session, the keys belong to what has waited longest: never to two at once. */
export const useHasKeys = (session: string, id: string): boolean =>
  useLive(feed.sessions).get(session)?.waiting_for[0]?.event_id === id;
