import type { Cassette, CassetteStep, ReplayMode } from "@tandem/protocol";

const EVENTS: Readonly<Record<string, string>> = {
  "user.define_outcome": "an outcome, which a model grades",
  "user.tool_result": "tools of a self-hosted environment",
  "tandem.shell": "a shell command of a person",
  "tandem.file": "a file that a client changed",
  "tandem.rewound": "a rewind",
  "tandem.compaction": "a compaction",
  "tandem.parked": "a wait for a quota",
  "tandem.recovered": "a turn whose server stopped",
  "tandem.forked": "the history of another session",
  "tandem.imported": "an imported conversation",
};

/** The parts of a session that a replay cannot repeat; empty if there are none. */
export function whyNotReplayed({ header, steps, folder }: Cassette, mode: ReplayMode): string[] {
  const found = steps.flatMap((step, index) => [...inStep(step, mode), ...inOrder(steps[index - 1], step)]);
  if (header.agent.multiagent !== null && steps.some(({ thread }) => thread !== undefined)) found.push("subagents");
  if (header.agent.mcp_servers.length > 0) found.push("MCP servers");
  if (mode === "real_tools" && folder.type === "left_out")
    found.push(`real tools without the folder (${folder.reason})`);
  return [...new Set(found)];
}

/** Requests that Claude Code makes by itself: only the calls or the input before a request explain it to a replay. */
function inOrder(before: CassetteStep | undefined, step: CassetteStep): string[] {
  if (step.kind !== "model") return [];
  if (before?.kind === "idle") return ["a turn that a background task started"];
  const isContinued = before?.kind === "model" && before.answer?.type === "message";
  return isContinued ? ["an answer that Claude Code continued by itself"] : [];
}

function inStep(step: CassetteStep, mode: ReplayMode): string[] {
  if (step.thread !== undefined) return ["subagents"];
  if (step.kind === "input" && step.event.type === "other") return [EVENTS[step.event.event] ?? step.event.event];
  if (step.kind !== "call") return [];
  if (step.server !== undefined) return ["tools of MCP servers"];
  if (step.tool === "Workflow") return ["workflow runs"];
  const interrupted = step.result?.interrupted;
  if (interrupted !== undefined && interrupted !== "interrupt") return ["a turn whose process ended"];
  // Without its skills and background tasks, Claude Code would answer otherwise.
  return mode === "real_tools" && step.tool === "Skill" ? ["skills"] : [];
}
