import type { CassetteStepOf } from "@tandem/protocol";

/** Claude Code's answers to calls that do not wait for their task. */
const STARTED = [
  { tool: "Agent", kind: "subagent", text: "Async agent launched" },
  { tool: "Bash", kind: "shell", text: "Command running in background" },
] as const;

/** The kind of task that a call left running in the background. Undefined if the call waited for its result. */
export const backgroundTaskOf = ({ tool, result }: CassetteStepOf<"call">): "subagent" | "shell" | undefined =>
  STARTED.find((each) => each.tool === tool && JSON.stringify(result?.content ?? []).includes(each.text))?.kind;
