import type { Part, PartOf, ToolResultContent } from "@tandem/protocol";
import { countLines, patchText } from "./patch-text.ts";
import { sessionIdOf } from "./opencode-id.ts";
import { toolInputOf, toolNameOf, toolTitleOf } from "./opencode-tools.ts";
import type { FilePart, PartContent, Tokens, ToolState } from "./wire-message.ts";

/** Facts beside the part itself. */
export interface PartSurroundings {
  /** Tandem's id of the session. */
  session: string;
  /** The start of the message, for parts without a time. */
  startedAt: number;
  /** The turn has ended, so an open part will not change any more. */
  isOver: boolean;
  /** The threads of subagents, by the call that started them. */
  threads: ReadonlyMap<string, string>;
}

/** The contents of opencode's parts for one of ours; none if its clients have no place for it. */
export function projectPart(part: Part, around: PartSurroundings): PartContent[] {
  const start = timeOf(part.at) ?? around.startedAt;
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, time: span(start, !part.preview || around.isOver) }];
    case "reasoning":
      // A marker without text says only that the model thinks, which the session's state shows already.
      if (part.text === "" && !part.preview) return [];
      return [
        {
          type: "reasoning",
          text: part.text,
          ...(part.signature !== null && { metadata: { anthropic: { signature: part.signature } } }),
          time: span(start, !part.preview || around.isOver),
        },
      ];
    case "redacted_reasoning":
      return [{ type: "reasoning", text: "[redacted]", time: span(start, true) }];
    case "file":
      return [fileOf(part.file)];
    case "tool":
      return [{ type: "tool", callID: part.id, tool: toolNameOf(part), state: toolState(part, start, around) }];
    case "step":
      return [{ type: "step-start" }];
    case "patch":
      return [{ type: "patch", hash: part.id, files: part.files.map(({ path }) => path) }];
    case "retry":
      return [
        {
          type: "retry",
          attempt: part.attempt ?? 1,
          error: { name: "APIError", data: { message: part.reason, isRetryable: true } },
          time: { created: start },
        },
      ];
    case "compaction":
      return [{ type: "compaction", auto: part.trigger !== "manual" }];
    case "output":
      return [{ type: "text", text: JSON.stringify(part.value, null, 2), time: span(start, true) }];
    case "outcome":
      return [{ type: "text", text: part.description, time: span(start, true) }];
    default:
      return [];
  }
}

/** The end of a model request. */
export const stepFinish = (step: PartOf<"step">, reason: string): PartContent => ({
  type: "step-finish",
  reason,
  cost: step.usd ?? 0,
  tokens: tokensOf(step),
});

export function tokensOf({ usage }: Pick<PartOf<"step">, "usage">): Tokens {
  return {
    input: usage?.input_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    reasoning: 0,
    cache: { read: usage?.cache_read_input_tokens ?? 0, write: usage?.cache_creation_input_tokens ?? 0 },
  };
}

export const isOpenTool = (part: Part): boolean =>
  part.type === "tool" && (part.state.type === "pending" || part.state.type === "running");

function toolState(part: PartOf<"tool">, start: number, around: PartSurroundings): ToolState {
  const input = toolInputOf(part.input);
  const { state } = part;
  if (state.type === "completed" || state.type === "error") {
    const time = { start: timeOf(state.started_at) ?? start, end: timeOf(state.ended_at) ?? start };
    const output = textOf(state.output);
    const metadata = metadataOf(part, output, around);
    if (state.type === "error") {
      const error = output || `The call was interrupted (${state.interrupted ?? "no result"}).`;
      return { status: "error", input, error, metadata, time };
    }
    const attachments = state.output.flatMap((block) => (block.type === "image" ? [fileOf(block)] : []));
    return {
      status: "completed",
      input,
      output,
      title: toolTitleOf(part, part.input),
      metadata,
      time,
      // Placed by the caller, which knows the message.
      ...(attachments.length > 0 && { attachments: attachments as FilePart[] }),
    };
  }
  if (around.isOver) {
    return { status: "error", input, error: "The turn ended before the call did.", time: { start, end: start } };
  }
  // A call that waits for approval has its whole input, which the permission dialog reads from a running call.
  if (part.input === null) return { status: "pending", input: {}, raw: "" };
  const metadata = metadataOf(part, "", around);
  return { status: "running", input, title: toolTitleOf(part, part.input), metadata, time: { start } };
}

function metadataOf(part: PartOf<"tool">, output: string, around: PartSurroundings): Record<string, unknown> {
  const { state } = part;
  const patch = state.type === "completed" || state.type === "error" ? state.patch : undefined;
  const thread = around.threads.get(part.id);
  return {
    ...(patch && {
      diff: patchText(patch),
      filediff: { file: patch.path, patch: patchText(patch), ...countLines(patch) },
      exists: patch.kind === "update",
    }),
    ...(part.name === "Bash" && { output, description: part.input?.["description"] ?? "" }),
    ...(part.name === "TodoWrite" && { todos: part.input?.["todos"] ?? [] }),
    ...(thread !== undefined && { sessionId: sessionIdOf(around.session, thread) }),
  };
}

const textOf = (content: readonly ToolResultContent[]): string =>
  content
    .flatMap((block) => {
      if (block.type === "text") return [block.text];
      if (block.type === "search_result") return [`${block.title} (${block.source})`];
      return [];
    })
    .join("\n");

function fileOf(file: PartOf<"file">["file"]): Omit<FilePart, "id" | "sessionID" | "messageID"> {
  const filename = "title" in file && file.title ? { filename: file.title } : {};
  const { source } = file;
  switch (source.type) {
    case "base64":
      return {
        type: "file",
        mime: source.media_type,
        ...filename,
        url: `data:${source.media_type};base64,${source.data}`,
      };
    case "text":
      return {
        type: "file",
        mime: "text/plain",
        ...filename,
        url: `data:text/plain,${encodeURIComponent(source.data)}`,
      };
    case "url":
      return { type: "file", mime: MIME[file.type], ...filename, url: source.url };
    case "file":
      return { type: "file", mime: MIME[file.type], filename: source.file_id, url: `tandem:${source.file_id}` };
  }
}

const MIME = { image: "image/png", document: "application/pdf" } as const;

const span = (start: number, isClosed: boolean): { start: number; end?: number } => ({
  start,
  ...(isClosed && { end: start }),
});

const timeOf = (at: string | null): number | undefined => (at === null ? undefined : Date.parse(at) || undefined);
