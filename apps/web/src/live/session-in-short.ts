import { ENVIRONMENT_METADATA, type Environment, type Session } from "@tandem/protocol";
import type { FeedSession } from "./feed.ts";

/** A session that the feed has no more, because it is archived, in the feed's form. Its folder is its environment's. */
export function inShort(
  { agent, usage, status, ...session }: Session,
  environments: readonly Environment[] | undefined,
): FeedSession {
  const environment = environments?.find(({ id }) => id === session.environment_id);
  return {
    ...session,
    status: status === "idle" ? "terminated" : status,
    agent: { id: agent.id, name: agent.name },
    folder: environment?.metadata[ENVIRONMENT_METADATA.path] ?? "",
    waiting_for: [],
    list_cost: usage.list_cost,
    ...{ cut_short: null, parked: null },
  };
}
