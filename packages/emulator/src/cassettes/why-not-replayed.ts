import { PLANS_MARK, type Cassette, type CassetteStep, type ReplayMode, type UnrepeatableType } from "@tandem/protocol";
import { backgroundTaskOf } from "./background-task-of.ts";

const EVENTS: Readonly<Record<string, string>> = {
  "user.define_outcome": "an outcome whose rubric is a file",
  "tandem.shell": "a shell command of a person",
  "tandem.file": "a file that a client changed",
  "tandem.parked": "a wait for a quota",
  "tandem.recovered": "a turn whose server stopped",
  "tandem.forked": "the history of another session",
  "tandem.imported": "an imported conversation",
} satisfies Record<UnrepeatableType, string>;

/** The parts of a session that a replay cannot repeat; empty if there are none. */
export function whyNotReplayed({ steps, folder }: Cassette, mode: ReplayMode): string[] {
  const found = steps.flatMap((step) => inStep(step, mode));
  for (const thread of new Set(steps.map((step) => step.thread))) {
    const own = steps.filter((step) => step.thread === thread && !("unseen" in step));
    const hasTasks = own.some((step) => step.kind === "call" && backgroundTaskOf(step));
    found.push(...own.flatMap((step, index) => inOrder(own[index - 1], step, hasTasks)));
    const call = steps.find((step) => step.kind === "call" && step.id === thread);
    if (thread !== undefined && !call) found.push("a subagent that was continued, or that a workflow run started");
  }
  if (mode === "real_tools" && folder.type === "left_out")
    found.push(`real tools without the folder (${folder.reason})`);
  return [...new Set(found)];
}

/** Requests that Claude Code makes by itself: only the calls or the input before a request explain it to a replay. */
function inOrder(before: CassetteStep | undefined, step: CassetteStep, hasTasks: boolean): string[] {
  if (step.kind !== "model") return [];
  if (hasTasks) return [];
  if (before?.kind === "idle") return ["a turn that a background task started"];
  const isContinued = before?.kind === "model" && before.answer?.type === "message";
  return isContinued ? ["an answer that Claude Code continued by itself"] : [];
}

function inStep(step: CassetteStep, mode: ReplayMode): string[] {
  if (step.kind === "input" && step.event.type === "other") return [EVENTS[step.event.event] ?? step.event.event];
  if (step.kind !== "call") return [];
  if (step.tool === "Workflow") return ["workflow runs"];
  if (step.tool === "SendMessage") return ["a message to a subagent"];
  // Real tasks end when they do, not where the recorded run learned of it.
  if (mode === "real_tools" && backgroundTaskOf(step)) return ["a task in the background"];
  const interrupted = step.result?.interrupted;
  if (interrupted !== undefined && interrupted !== "interrupt") return ["a turn whose process ended"];
  if (mode === "real_tools" && JSON.stringify(step.input).includes(PLANS_MARK))
    return ["a plan, in a folder of Claude Code"];
  // Without its skills and background tasks, Claude Code would answer otherwise.
  return mode === "real_tools" && step.tool === "Skill" ? ["skills"] : [];
}
