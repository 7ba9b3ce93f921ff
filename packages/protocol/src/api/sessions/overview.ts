import { z } from "zod";
import type { CutShort } from "../../events/status-event.ts";
import { usageSnapshot } from "../../events/usage-snapshot.ts";
import { OUTCOME_RESULTS } from "./outcome-evaluation.ts";
import { SESSION_STATUSES } from "./sessions.ts";
import { listOf, time } from "../page.ts";

export const sessionOutcome = z
  .object({
    text: z.string().nullable().describe("The last line of the agent's last answer."),
    error: z.string().nullable().describe("Why the last turn failed."),
    files: z.int().nullable().describe("Files that differ from the session's first checkpoint; null if unknown."),
    added: z.int().nullable(),
    removed: z.int().nullable(),
    branch: z.string().nullable().describe("The branch that was checked out after the last turn."),
    pushed: z
      .object({ branch: z.string(), commit: z.string(), pull_request: z.string().nullable() })
      .nullish()
      .describe("The last push as a bot, with the address of its pull request."),
  })
  .meta({ id: "SessionOutcome" });
export type SessionOutcome = z.infer<typeof sessionOutcome>;

const feedSession = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    status: z.enum(SESSION_STATUSES),
    agent: z.object({ id: z.string(), name: z.string() }),
    environment_id: z.string(),
    folder: z.string(),
    waiting_for: z.array(
      z.object({
        event_id: z.string(),
        type: z.enum(["tool_confirmation", "custom_tool_result"]),
        name: z.string(),
      }),
    ),
    list_cost: usageSnapshot.shape.list_cost,
    evaluation: z
      .enum(OUTCOME_RESULTS)
      .nullable()
      .describe("The state of the session's last outcome (`user.define_outcome`); null if it has none."),
    cut_short: z
      .enum(["retries_exhausted", "budget_reached", "refusal"] satisfies CutShort[])
      .nullable()
      .describe("Why the last turn did not complete; null if it did."),
    outcome: sessionOutcome.nullable().describe("The result so far; null before the first turn has ended."),
    parked: z.object({ resets_at: z.string(), kind: z.string() }).nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "FeedSession" });
export type FeedSession = z.infer<typeof feedSession>;

const feedItem = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("snapshot"), sessions: z.array(feedSession) }),
    z.object({ type: z.literal("changed"), session: feedSession }),
    z.object({ type: z.literal("removed"), id: z.string() }),
  ])
  .meta({ id: "FeedItem" });
export type FeedItem = z.infer<typeof feedItem>;

const usageOfDay = z
  .object({ day: z.string(), agent_id: z.string(), usd: z.number(), sessions: z.int() })
  .meta({ id: "UsageOfDay" });

const usageOfModel = z.object({ day: z.string(), model: z.string(), usd: z.number() }).meta({ id: "UsageOfModel" });

const span = z.strictObject({
  from: time.optional().meta({ description: `Default: thirty days before \`to\`.` }),
  to: time.optional().meta({ description: "Default: now." }),
});

export const overviewApi = {
  "feed.stream": { frame: feedItem },
  "usage.list": { query: span, response: listOf(usageOfDay) },
  "usage.models": { query: span, response: listOf(usageOfModel) },
};
