import { ENVIRONMENT_METADATA, type Environment, type Session } from "@tandem/protocol";
import type { FeedSession } from "./session-feed.ts";

/**
 * Converts an archived session, which the feed no longer has, to the shape of the feed. The folder comes from its
 * environment.
 */
export function toFeedSession(
  { agent, usage, status, outcome_evaluations: outcomes, ...session }: Session,
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
    cut_short: null,
    outcome: null,
    evaluation: outcomes.at(-1)?.result ?? null,
    parked: null,
  };
}
