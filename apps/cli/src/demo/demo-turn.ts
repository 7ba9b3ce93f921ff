import type { ModelRequest } from "@tandem/rehearsal";

/** A tool call of the turn, with its result. */
export interface Step {
  tool: string;
  result: string;
  isError: boolean;
}

/** The user's request and the calls made for it so far. */
export interface DemoTurn {
  ask: string;
  steps: readonly Step[];
  /** The number of model responses so far. */
  replies: number;
  offers: (tool: string) => boolean;
  /** The tool that searches the context, if the session has one. */
  searchTool: string | undefined;
  /** The session's folder, from Claude Code's own prompt. */
  folder: string | undefined;
  /** Where Claude Code wants the plan. Undefined unless the session is in plan mode. */
  planFile: string | undefined;
}

export function readTurn(request: ModelRequest): DemoTurn {
  const { messages, toolNames } = request;
  const texts = messages.map(({ content }) => content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])));
  const asks = texts.map((each) => each.map(withoutReminders).join("\n").trim());
  const start = messages.findLastIndex(
    ({ role, content }, index) =>
      role === "user" && asks[index] !== "" && content.every(({ type }) => type !== "tool_result"),
  );
  const prompt = [request.system, ...texts.flat()].join("\n");
  const names = new Map(
    messages
      .flatMap(({ content }) => content)
      .flatMap(({ type, id, name }) => (type === "tool_use" ? [[String(id), String(name)] as const] : [])),
  );
  const steps = messages.slice(start + 1).flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const tool = names.get(String(block["tool_use_id"])) ?? "";
      return [{ tool, result: resultText(block["content"]), isError: block["is_error"] === true }];
    }),
  );
  return {
    ask: asks[start] ?? "",
    steps,
    replies: messages.slice(start + 1).filter(({ role }) => role === "assistant").length,
    offers: (tool) => toolNames.includes(tool),
    searchTool: toolNames.find((name) => name.endsWith("context_search")),
    // A fork has the environment of the session that it came from before its own.
    folder: [...prompt.matchAll(/working directory: (.+)/gi)].at(-1)?.[1]?.trim(),
    planFile: /\S*plans\/[\w-]+\.md/.exec(texts.slice(start).flat().join("\n"))?.[0],
  };
}

/** Claude Code adds reminders to messages, also in messages of their own. */
const withoutReminders = (text: string): string => text.replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "");

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
}
