import {
  budget,
  outcomeEvaluation,
  session,
  SESSION_STATUSES,
  sessionAgent,
  sessionOutcome,
  thread,
  usageSnapshot,
  type LoggedEvent,
  type SessionEvent,
  type CutShort,
} from "@tandem/protocol";
import { z } from "zod";
import type { SessionRow, ThreadRow, TranscriptLine } from "../store.ts";

// An exported session is JSON Lines: a header, the session, then its threads, events, transcripts and queued input. The last
// line holds the number of lines before it, so that a truncated file is detected.

export const ARCHIVE_VERSION = 1;

export type ArchiveLine =
  | { type: "tandem.session"; version: typeof ARCHIVE_VERSION }
  | { type: "session"; session: SessionRow }
  | { type: "thread"; thread: ThreadRow }
  | ({ type: "event" } & LoggedEvent)
  | { type: "transcript"; subpath: string; line: TranscriptLine }
  | { type: "inbox"; event: SessionEvent }
  | { type: "end"; lines: number };

const time = z.iso.datetime({ offset: true });
const status = z.enum(SESSION_STATUSES);
const waitingFor = z.object({
  event_id: z.string(),
  type: z.enum(["tool_confirmation", "custom_tool_result", "tool_result"]),
  name: z.string(),
  thread: z.string().exactOptional(),
  allowed: z.literal(true).optional(),
});

const outcomeState = outcomeEvaluation.extend({
  event_id: z.string(),
  max_iterations: z.int(),
  start_id: z.string().nullable(),
});

const sessionRow = z.object({
  id: z.string().min(1),
  status,
  agent: sessionAgent,
  environmentId: z.string(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  resources: session.shape.resources,
  budget: budget.nullable(),
  usage: usageSnapshot,
  microUsd: z.int().optional(),
  modelMicroUsd: z.record(z.string(), z.int()).optional(),
  parked: z.object({ resetsAt: time, kind: z.string() }).nullish(),
  cutShort: z.enum(["retries_exhausted", "budget_reached", "refusal"] satisfies CutShort[]).nullish(),
  outcome: sessionOutcome.nullish(),
  outcomes: z.array(outcomeState).optional(),
  activeMs: z.number(),
  waitingFor: z.array(waitingFor),
  selfHosted: z.literal(true).optional(),
  folder: z.string(),
  place: z.string().nullish(),
  deploymentId: z.string().optional(),
  vaultIds: z.array(z.string()).optional(),
  claudeSession: z.string().optional(),
  primaryThread: z.string().min(1),
  createdAt: time,
  updatedAt: time,
  archivedAt: time.nullable(),
} satisfies Record<keyof SessionRow, z.ZodType>);

const threadRow = z.object({
  id: z.string().min(1),
  session: z.string(),
  parent: z.string().nullable(),
  agent: thread.shape.agent,
  status,
  usage: usageSnapshot.nullable(),
  createdAt: time,
  updatedAt: time,
  archivedAt: time.nullable(),
  workflowRunId: z.string().optional(),
} satisfies Record<keyof ThreadRow, z.ZodType>);

/** Extra fields pass through, so that events written by a newer Tandem survive a round trip. */
const event = z.object({ id: z.string().min(1), type: z.string().min(1), processed_at: time.nullable() });

/** Only validates. Callers keep the original line, because parsing would change the order of its fields. */
export const archiveLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("tandem.session"), version: z.literal(ARCHIVE_VERSION) }),
  z.object({ type: z.literal("session"), session: sessionRow }),
  z.object({ type: z.literal("thread"), thread: threadRow }),
  z.object({ type: z.literal("event"), seq: z.int(), thread: z.string().nullable(), event }),
  z.object({ type: z.literal("transcript"), subpath: z.string(), line: z.object({ uuid: z.string().optional() }) }),
  z.object({ type: z.literal("inbox"), event }),
  z.object({ type: z.literal("end"), lines: z.int() }),
]);
