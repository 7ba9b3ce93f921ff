import type { SDKAssistantMessage } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import type { LeafPath } from "./translator-input.ts";

// Messages of workflow runs that the SDK forwards but does not declare, and lines of their agents' transcripts.

const phase = z.object({ type: z.literal("workflow_phase"), index: z.number(), title: z.string() });

const leaf = z.object({
  type: z.literal("workflow_agent"),
  index: z.number(),
  label: z.string(),
  phaseTitle: z.string().optional(),
  /** Absent while the agent is queued. */
  agentId: z.string().optional(),
  agentType: z.string().optional(),
  state: z.string(),
  error: z.string().optional(),
  /** Its result comes from an earlier run: no model was called. */
  cached: z.boolean().optional(),
});
export type LeafProgress = z.infer<typeof leaf>;

const progress = z.object({
  subtype: z.literal("task_progress"),
  task_id: z.string(),
  workflow_progress: z.array(z.unknown()),
});

/** The state of a workflow run: every phase and agent so far. Undefined for messages of other tasks. */
export function readProgress(
  message: unknown,
): { taskId: string; phases: string[]; leaves: LeafProgress[] } | undefined {
  const { data } = progress.safeParse(message);
  if (!data) return undefined;
  return {
    taskId: data.task_id,
    phases: data.workflow_progress.flatMap((row) => phase.safeParse(row).data?.title ?? []),
    leaves: data.workflow_progress.flatMap((row) => leaf.safeParse(row).data ?? []),
  };
}

const launched = z.object({ taskType: z.literal("local_workflow"), taskId: z.string(), runId: z.string() });

/** The ids in the result of a call that has started a workflow run. */
export const readLaunched = (result: unknown): { taskId: string; runId: string } | undefined =>
  launched.safeParse(result).data;

/** The workflow agent whose transcript is at the path, if any. */
export function readLeafPath(subpath: string): LeafPath | undefined {
  const [, run, agent] = /(?:^|\/)workflows\/([^/]+)\/agent-([^/]+)$/.exec(subpath) ?? [];
  return run !== undefined && agent !== undefined ? { run, agent } : undefined;
}

const resultBlock = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.unknown().optional(),
  is_error: z.boolean().optional(),
});
const textBlock = z.object({ type: z.literal("text"), text: z.string() });

/** Blocks of other types tell nothing. */
const blocks = z
  .array(z.unknown())
  .transform((all) => all.flatMap((each) => z.union([resultBlock, textBlock]).safeParse(each).data ?? []));

const answer = z.custom<SDKAssistantMessage["message"]>(
  (value) => z.object({ id: z.string(), model: z.string(), content: z.array(z.unknown()) }).safeParse(value).success,
);

const line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("agent_metadata"),
    agentType: z.string(),
    description: z.string().optional(),
    workflowPhase: z.string().optional(),
  }),
  z.object({
    type: z.literal("assistant"),
    error: z.string().optional(),
    isApiErrorMessage: z.boolean().optional(),
    message: answer,
  }),
  z.object({
    type: z.literal("user"),
    message: z.object({
      content: z.union([z.string().transform((text) => [{ type: "text" as const, text }]), blocks]),
    }),
    toolUseResult: z.unknown().optional(),
    toolEndsTurn: z.boolean().optional(),
  }),
]);
export type LeafLine = z.infer<typeof line>;

export const readLeafLine = (of: unknown): LeafLine | undefined => line.safeParse(of).data;

/** Claude Code's introduction of a leaf's task. The task follows, indented. */
const FRAME = /^\[Workflow harness[^\n]*\n/;

/** The task of a leaf as its plan wrote it. */
export const readTask = (text: string): string =>
  FRAME.test(text) ? text.replace(FRAME, "").replaceAll(/^ {2}/gm, "") : text;
