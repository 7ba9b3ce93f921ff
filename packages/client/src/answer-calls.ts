import type { Approval, FeedItem } from "@tandem/protocol";
import { ApiError } from "./api-error.ts";
import type { Client } from "./create-client.ts";

/** The decision about a call. With `input`, it runs with that input, unless the session's rules deny it. */
export type CallAnswer =
  | { result: "allow"; input?: Record<string, unknown> }
  /** The agent sees the message. */
  | { result: "deny"; message?: string };

export interface AnswerCallsOptions {
  /** Only calls of this session; by default of all sessions that the token may see. */
  session?: string;
  /** Called once for each call that waits. If it rejects, the call is denied. */
  decide: (call: Approval) => Promise<CallAnswer>;
  signal: AbortSignal;
  /** Called if an answer could not be delivered. The server denies the call at its deadline. */
  onError?: (error: unknown, call: Approval) => void;
}

/**
 * Answers tool calls of sessions with a policy hook (`tandem.policy_hook` in their metadata) until the signal fires. Calls that
 * wait already are answered, too, and after a lost connection those that have come meanwhile.
 */
export async function answerCalls(
  client: Client,
  { session, decide, signal, onError }: AnswerCallsOptions,
): Promise<void> {
  const taken = new Set<string>();
  // The feed reopens a lost connection, and its first frame looks again.
  const lookSafely = (): void => void look().catch(() => undefined);
  const answer = async (call: Approval): Promise<void> => {
    const said = await decide(call).catch((error: unknown): CallAnswer => ({
      result: "deny",
      message: `The policy hook failed: ${String(error)}`,
    }));
    try {
      await client.call("approvals.answer", { params: { approval_id: call.id }, body: { ...said, scope: "once" } });
    } catch (error) {
      // Answered or expired meanwhile: that decision stands.
      const isOver = error instanceof ApiError && (error.status === 400 || error.status === 409);
      if (!isOver) taken.delete(call.id);
      onError?.(error, call);
    }
    // A call that came meanwhile may not have changed the session's entry in the feed.
    lookSafely();
  };
  const look = async (): Promise<void> => {
    const query = { status: "pending" as const, limit: 1_000, ...(session !== undefined && { session_id: session }) };
    const { data } = await client.call("approvals.list", { query, signal });
    for (const call of data) {
      if (call.verdict?.by !== "hook" || taken.has(call.id)) continue;
      taken.add(call.id);
      void answer(call);
    }
  };
  await client.follow("feed.stream", {
    signal,
    onConnection: (state) => {
      if (state === "live") lookSafely();
    },
    onFrame: ({ data }) => {
      const isOther = data.type !== "snapshot" && session !== undefined && changedIn(data) !== session;
      if (!isOther) lookSafely();
    },
  });
}

const changedIn = (item: Exclude<FeedItem, { type: "snapshot" }>): string =>
  item.type === "changed" ? item.session.id : item.id;
