import { project, type Message, type Part } from "@tandem/protocol";
import { readLog } from "../api/read-log.ts";
import { describeTool, textOf } from "../tool/describe-tool.ts";

export async function exportMarkdown(session: string, title: string): Promise<string> {
  return toMarkdown(title, project((await readLog(session)).events));
}

export function toMarkdown(title: string, messages: readonly Message[]): string {
  const blocks = messages.flatMap((message) => {
    const words = message.parts.flatMap((part) => partText(part));
    if (words.length === 0) return [];
    return message.role === "user" ? ["## You", ...words] : words;
  });
  return `${[`# ${title}`, ...blocks].join("\n\n")}\n`;
}

function partText(part: Part): string[] {
  switch (part.type) {
    case "text":
      return [part.text];
    case "reasoning":
      return part.text === "" ? [] : [quoted(part.text)];
    case "tool": {
      const { verb, subject } = describeTool(part);
      const output = "output" in part.state ? textOf(part.state.output) : "";
      return [
        `**${verb}** ${subject === "" ? "" : fenced(subject)}`.trim(),
        ...(output === "" ? [] : [fenced(output, true)]),
      ];
    }
    case "outcome":
      return [`**Outcome**: ${part.description}`, `**Rubric**\n\n${quoted(part.rubric)}`];
    case "evaluation":
      return [
        `**Evaluation ${part.iteration + 1}**: ${part.state.replaceAll("_", " ")}`,
        ...(part.explanation === null ? [] : [quoted(part.explanation)]),
      ];
    case "file":
      return [`[${part.file.type}]`];
    case "error":
      return [`> Error: ${part.error.message}`];
    case "notice":
      return [quoted(part.text)];
    case "patch":
      return [part.files.map(({ path }) => `- changed \`${path}\``).join("\n")];
    case "todo":
      return [
        part.todos.map(({ content, status }) => `- [${status === "completed" ? "x" : " "}] ${content}`).join("\n"),
      ];
    case "output":
      return [fenced(JSON.stringify(part.value, null, 2), true)];
    default:
      return [];
  }
}

const quoted = (text: string): string => text.replaceAll(/^/gm, "> ");

/** Uses a longer fence than any in the text, so that the text cannot close it. */
function fenced(text: string, isBlock = text.includes("\n")): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  if (!isBlock) {
    const ticks = "`".repeat(longest + 1);
    return longest > 0 ? `${ticks} ${text} ${ticks}` : `${ticks}${text}${ticks}`;
  }
  const ticks = "`".repeat(Math.max(3, longest + 1));
  return `${ticks}\n${text}\n${ticks}`;
}
