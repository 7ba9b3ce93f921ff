import {
  reply,
  slowly,
  text,
  toolUse,
  type MessageReply,
  type ModelRequest,
  type Reply,
  type ToolResult,
} from "@tandem/rehearsal";
import { generateSample } from "./generate-sample.ts";

/** Slow enough to make streaming visible. */
const PACE = { tokenMs: 12 };
const OUTPUT_TOOL = "StructuredOutput";
const MAX_NAMES = 8;

const NOTE =
  "This answer is scripted: no model was asked and nothing was spent. `tandem setup` connects me to your Claude login or to an API key.";

/**
 * The scripted model of demo sessions: it streams text, runs a tool and requests an approval. Claude Code and its tools are
 * real.
 */
export function demoAgent(request: ModelRequest): Reply {
  return slowly(answer(request), PACE);
}

function answer(request: ModelRequest): MessageReply {
  const [result] = request.toolResults;
  if (result) {
    const words = result.isError ? "That was not to be, so I leave it." : summary(callOf(request, result), result.text);
    return text(`${words}\n\n${NOTE}`);
  }
  const schema = request.tools.find(({ name }) => name === OUTPUT_TOOL)?.inputSchema;
  if (schema !== undefined) return toolUse(OUTPUT_TOOL, generateSample(schema) as object);
  const offers = (name: string) => request.toolNames.includes(name);
  if (offers("Bash") && /\b(run|bash|shell|command|execute)\b/i.test(request.lastUserText)) {
    return reply([
      text("I have a harmless command in mind. It runs on this machine, so you are asked first."),
      toolUse("Bash", { command: "echo Hello from the demo agent", description: "Say hello" }),
    ]);
  }
  if (!offers("Glob")) return text(NOTE);
  return reply([text("I look what is in this folder."), toolUse("Glob", { pattern: "*" })]);
}

/** The name of the tool that produced a result. */
const callOf = ({ messages }: ModelRequest, { toolUseId }: ToolResult): unknown =>
  messages.flatMap(({ content }) => content).find(({ type, id }) => type === "tool_use" && id === toolUseId)?.["name"];

function summary(tool: unknown, output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  if (tool !== "Glob" || lines[0] === "No files found") return `It says: ${lines.join(" ")}`;
  // Skip git's own files in the listing.
  const names = lines.filter((line) => !line.includes("/.git/")).map((line) => line.split("/").at(-1)!);
  if (names.length === 0) return "There is nothing in it yet.";
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `I see ${names.slice(0, MAX_NAMES).join(", ")}${more}.`;
}
