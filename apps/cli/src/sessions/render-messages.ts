import { callStateOf, evaluationText, type Message, type Part, type ToolCallState } from "@tandem/protocol";
import { describeCall } from "./describe-call.ts";
import { printable, type Style, wrap } from "../terminal.ts";

/** Renders a conversation: messages, and a line for each action. */
export function renderMessages(messages: readonly Message[], style: Style, width: number): string {
  return messages
    .map((message) => message.parts.flatMap((part) => renderPart(part, message, style, width)).join("\n"))
    .filter(Boolean)
    .join("\n\n");
}

function renderPart(part: Part, message: Message, style: Style, width: number): string[] {
  const { dim, bold, good, warn, bad, accent } = style;
  const line = (mark: string, text: string): string[] => [`${mark} ${printable(text)}`];
  switch (part.type) {
    case "text": {
      if (message.role !== "user") return wrap(printable(part.text).trim(), width);
      const waits = message.delivery?.type === "waiting" ? dim("  (waits)") : "";
      const note = message.rewound === undefined ? waits : dim("  (rewound: no longer part of the conversation)");
      const [first = "", ...rest] = wrap(printable(part.text).trim(), width - 2);
      return [`${accent("›")} ${bold(first)}${note}`, ...rest.map((row) => `  ${bold(row)}`)];
    }
    case "tool": {
      const call = describeCall({ name: part.name ?? "", input: part.input ?? {} });
      const name = [part.server, part.name ?? "a tool"].filter(Boolean).join(".");
      const mark = { pending: warn("○"), running: accent("●"), completed: good("●"), error: bad("●") }[part.state.type];
      return [`${mark} ${bold(printable(name))}  ${call}${dim(toolNote(part))}`];
    }
    case "file":
      return line(dim("▢"), part.file.type);
    case "todo":
      return part.todos.map(({ content, status }) => {
        const mark = { pending: dim("☐"), in_progress: accent("▶"), completed: good("☑") }[status];
        return `${mark} ${printable(content)}`;
      });
    case "subtask":
      return line(accent("◇"), `${part.agent ?? "a subagent"}  ${part.status}`);
    case "workflow":
      return [
        ...line(
          accent("◇"),
          `${part.name ?? "Workflow run"}  ${part.state}  ${part.agents.length} ${part.agents.length === 1 ? "agent" : "agents"}`,
        ),
        ...part.agents.flatMap(({ label, state, error }) =>
          state === "failed" ? line(`  ${bad("✗")}`, `${label}: ${error ?? "failed"}`) : [],
        ),
      ];
    case "patch":
      return part.files.map(
        ({ path, added, removed }) => `${dim("±")} ${printable(path)}  ${good(`+${added}`)} ${bad(`-${removed}`)}`,
      );
    case "retry":
      return line(warn("↻"), `${part.reason}: retried`);
    case "compaction":
      return line(dim("↧"), "The conversation was compacted.");
    case "error":
      return line(bad("✗"), part.error.message);
    case "stop":
      return line(warn("!"), `The turn ended: ${part.reason.replaceAll("_", " ")}. ${part.explanation ?? ""}`.trim());
    case "notice":
      return line(part.level === "info" ? dim("!") : warn("!"), part.text);
    case "output":
      return JSON.stringify(part.value, null, 2).split("\n");
    case "interruption":
      return line(warn("!"), "Interrupted.");
    case "outcome": {
      const [first = "", ...rest] = wrap(printable(part.description).trim(), width - 11);
      return [`${accent("›")} ${bold(`Outcome: ${first}`)}`, ...rest.map((row) => `  ${bold(row)}`)];
    }
    case "evaluation": {
      const mark = part.state === "satisfied" ? good("✓") : part.state === "running" ? accent("●") : warn("✗");
      const [, ...rest] = (part.explanation ?? "").split("\n");
      const more = rest.length > 0 ? dim(` (${rest.length} more ${rest.length === 1 ? "line" : "lines"})`) : "";
      return [`${mark} ${printable(evaluationText(part))}${more}`];
    }
    case "recovery":
      return line(warn("!"), part.cause);
    case "reasoning":
    case "redacted_reasoning":
    case "step":
      return [];
  }
}

const STATES: Partial<Record<ToolCallState, string>> = {
  waiting: "needs an answer",
  allowed: "allowed, not run yet",
  running: "running",
  expired: "expired, did not run",
  interrupted: "interrupted, did not run",
  unknown: "may have run: its process died",
};

function toolNote(part: Extract<Part, { type: "tool" }>): string {
  const called = callStateOf(part);
  const { permission, state } = part;
  if (called === "denied")
    return permission?.type === "denied" && permission.reason
      ? `  denied: ${printable(permission.reason)}`
      : "  denied";
  const words = STATES[called];
  if (words !== undefined) return `  ${words}`;
  if (state.type !== "error") return "";
  const [first = ""] = state.output.flatMap((block) => (block.type === "text" ? block.text.trim().split("\n") : []));
  return first ? `  ${printable(first).slice(0, 100)}` : "  failed";
}
