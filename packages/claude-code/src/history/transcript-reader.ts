import type { ThreadId } from "@tandem/protocol";
import { z } from "zod";
import { toolUseIds, type TranscriptLine } from "../session/transcript/transcript-line.ts";
import { type Block, blocksOf, type PastOutput, PastTranslator, textOf, toUserContent } from "./past-translator.ts";
import { TRANSCRIPT_NOTES } from "./transcript-notes.ts";

const head = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullish(),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  isVisibleInTranscriptOnly: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
});
type Head = z.infer<typeof head>;

const answered = z.object({ message: z.object({ stop_reason: z.string().nullish() }) });
const compacted = z.object({
  compactMetadata: z.object({
    trigger: z.enum(["manual", "auto"]),
    preTokens: z.number(),
    postTokens: z.number().optional(),
  }),
});
const words = z.object({ content: z.string(), level: z.string().optional() });
const queued = z.object({ attachment: z.object({ type: z.literal("queued_command"), prompt: z.unknown() }) });

/** The subagent that owns a transcript. */
export interface PastSubagent {
  taskId: string;
  /** The call that started it; undefined if unknown. */
  toolUseId: string | undefined;
  name: string;
}

/**
 * Translates a Claude Code transcript, line by line, into the outputs of one of our conversations. Lines are read in
 * file order, so rewound parts are included. Pure: performs no I/O, and ids derive from the lines.
 */
export class TranscriptReader {
  readonly #translator: PastTranslator;
  /** Subagents with output, by the call that started them. */
  readonly #begun = new Set<string>();
  /** Subagent calls by prompt: lines of old transcripts have no other link to their call. */
  readonly #sidechainCalls = new Map<string, string>();
  readonly #sidechains = new Map<string, string>();
  readonly #openCalls = new Set<string>();
  #isOpen = false;
  #stopReason: string | null = null;
  #failure: string | undefined;

  constructor(conversation: string, primaryThread: ThreadId) {
    this.#translator = new PastTranslator(conversation, primaryThread);
  }

  /** `place` (the line number) identifies a line without a `uuid`. */
  accept(line: TranscriptLine, place: string, subagent?: PastSubagent): PastOutput[] {
    const known = head.safeParse(line).data;
    this.#translator.begin(known?.uuid ?? place, known?.timestamp);
    if (!known) this.#translator.unknown("line", line);
    else if (subagent) this.#ofSubagent(known, line, subagent);
    else if (known.isSidechain) this.#sidechain(known, line);
    else this.#main(known, line);
    return this.#translator.take();
  }

  unreadable(text: string, place: string): PastOutput[] {
    this.#translator.begin(place, undefined);
    this.#translator.unknown("line", text);
    return this.#translator.take();
  }

  /** End of a subagent's transcript. */
  left({ taskId, toolUseId }: PastSubagent): PastOutput[] {
    this.#translator.begin(`${taskId}/end`, undefined);
    if (toolUseId !== undefined && this.#begun.has(toolUseId)) this.#leave(taskId);
    return this.#translator.take();
  }

  /** An open turn was abandoned, or is still running elsewhere. */
  end(): PastOutput[] {
    this.#translator.begin("end", undefined);
    this.#finish();
    return this.#translator.take();
  }

  #main(known: Head, line: TranscriptLine): void {
    switch (known.type) {
      case "user":
        return this.#user(known, line);
      case "assistant":
        return this.#assistant(known, line);
      case "system":
        return this.#system(known, line);
      default: {
        const prompt = queued.safeParse(line).data?.attachment.prompt;
        if (prompt === undefined) return this.#note(known.type, line);
        const blocks = blocksOf({ message: { content: prompt } });
        if (blocks) this.#translator.prompt(toUserContent(blocks), known.uuid);
      }
    }
  }

  #user(known: Head, line: TranscriptLine): void {
    const blocks = blocksOf(line);
    if (!blocks) return this.#translator.unknown("user", line);
    const results = blocks.filter(({ type }) => type === "tool_result");
    if (results.length > 0) this.#results(results, line, null);
    const rest = blocks.filter((block) => !results.includes(block));
    if (rest.length === 0 || known.isMeta || known.isCompactSummary || known.isVisibleInTranscriptOnly) return;
    const own = classifyUserText(textOf(rest));
    switch (own.type) {
      case "interrupted":
        return this.#finish(true);
      case "notice":
        return own.text === ""
          ? undefined
          : this.#translator.event({ type: "tandem.notice", level: "info", text: own.text });
      case "command":
        this.#finish();
        return this.#translator.prompt([{ type: "text", text: own.text }], known.uuid);
      case "prompt":
        this.#finish();
        this.#isOpen = true;
        return this.#translator.prompt(toUserContent(rest), known.uuid);
    }
  }

  #results(content: readonly Block[], line: TranscriptLine, parent: string | null): void {
    for (const { tool_use_id: id } of content) this.#openCalls.delete(String(id));
    const output = line["toolUseResult"];
    this.#translator.say({
      type: "user",
      parent_tool_use_id: parent,
      message: { role: "user", content },
      ...(output !== undefined && { tool_use_result: output }),
    });
  }

  #assistant(known: Head, line: TranscriptLine): void {
    const blocks = blocksOf(line);
    if (!blocks) return this.#translator.unknown("assistant", line);
    this.#isOpen = true;
    if (known.isApiErrorMessage) {
      this.#failure = textOf(blocks);
      const error = typeof line["error"] === "string" ? line["error"] : "unknown";
      this.#translator.say({ type: "assistant", parent_tool_use_id: null, message: line["message"], error });
      return;
    }
    this.#failure = undefined;
    this.#stopReason = answered.safeParse(line).data?.message.stop_reason ?? null;
    this.#remember(blocks, line);
    this.#translator.say({ type: "assistant", parent_tool_use_id: null, message: line["message"] });
  }

  #remember(blocks: readonly Block[], line: TranscriptLine): void {
    for (const id of toolUseIds(line)) this.#openCalls.add(id);
    for (const { type, id, input } of blocks) {
      const prompt = type === "tool_use" ? z.object({ prompt: z.string() }).safeParse(input).data?.prompt : undefined;
      if (prompt !== undefined && typeof id === "string") this.#sidechainCalls.set(prompt, id);
    }
  }

  #system(known: Head, line: TranscriptLine): void {
    const said = words.safeParse(line).data;
    switch (known.subtype) {
      case "compact_boundary": {
        const metadata = compacted.safeParse(line).data?.compactMetadata;
        if (!metadata) return this.#translator.unknown("system/compact_boundary", line);
        const { trigger, preTokens, postTokens } = metadata;
        const compact = {
          trigger,
          pre_tokens: preTokens,
          ...(postTokens !== undefined && { post_tokens: postTokens }),
        };
        this.#translator.say({ type: "system", subtype: "compact_boundary", compact_metadata: compact });
        return;
      }
      case "informational":
      case "local_command": {
        const own = classifyUserText(said?.content ?? "");
        if (own.text === "") return;
        return this.#translator.event({
          type: "tandem.notice",
          text: own.text,
          level: said?.level === "warning" || said?.level === "error" ? said.level : "info",
        });
      }
      default:
        return this.#note(`system/${known.subtype ?? ""}`, line);
    }
  }

  #note(kind: string, line: TranscriptLine): void {
    if (!Object.hasOwn(TRANSCRIPT_NOTES, kind)) this.#translator.unknown(kind, line);
  }

  /** Inline subagent lines: the call that started them is found by its prompt. */
  #sidechain(known: Head, line: TranscriptLine): void {
    const fromPrompt = this.#sidechainCalls.get(textOf(blocksOf(line) ?? []));
    const toolUseId = this.#sidechains.get(known.parentUuid ?? "") ?? fromPrompt;
    if (toolUseId !== undefined && known.uuid !== undefined) this.#sidechains.set(known.uuid, toolUseId);
    this.#ofSubagent(known, line, { taskId: toolUseId ?? "", toolUseId, name: "subagent" });
  }

  #ofSubagent(known: Head, line: TranscriptLine, { taskId, toolUseId, name }: PastSubagent): void {
    if (known.type !== "user" && known.type !== "assistant") return this.#note(known.type, line);
    const blocks = blocksOf(line);
    if (!blocks || toolUseId === undefined) return this.#translator.unknown(`${known.type} of a subagent`, line);
    const whose = { parent_tool_use_id: toolUseId, agent_id: taskId, subagent_type: name };
    if (known.type === "assistant") {
      if (known.isApiErrorMessage) return;
      this.#translator.say({ type: "assistant", ...whose, message: line["message"] });
      this.#translator.transcript(line);
      return;
    }
    const results = blocks.filter(({ type }) => type === "tool_result");
    if (results.length > 0) return this.#results(results, line, toolUseId);
    if (this.#begun.has(toolUseId) || known.isMeta) return;
    this.#begun.add(toolUseId);
    this.#translator.say({
      type: "system",
      subtype: "task_started",
      task_type: "local_agent",
      task_id: taskId,
      tool_use_id: toolUseId,
      description: name,
      subagent_type: name,
      prompt: textOf(blocks),
      is_backgrounded: false,
    });
  }

  #leave(taskId: string): void {
    this.#translator.say({
      type: "system",
      subtype: "task_notification",
      task_id: taskId,
      status: "completed",
      summary: "",
    });
  }

  /** Closes the open turn according to its last lines. */
  #finish(isInterrupted = false): void {
    if (!this.#isOpen) return;
    const isLeft = this.#failure === undefined && (this.#openCalls.size > 0 || !ENDS.has(this.#stopReason ?? ""));
    this.#translator.say({
      type: "result",
      subtype: "success",
      modelUsage: {},
      permission_denials: [],
      errors: [],
      is_error: this.#failure !== undefined,
      result: this.#failure ?? "",
      stop_reason: this.#stopReason,
      ...((isInterrupted || isLeft) && { terminal_reason: "aborted_tools" }),
    });
    this.#isOpen = false;
    this.#openCalls.clear();
    this.#failure = undefined;
    this.#stopReason = null;
  }
}

/** Stop reasons that end a turn. */
const ENDS: ReadonlySet<string> = new Set([
  "end_turn",
  "stop_sequence",
  "max_tokens",
  "refusal",
  "model_context_window_exceeded",
]);

const COMMAND = /<command-name>\s*(\S+?)\s*<\/command-name>/;
const ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/;
const OUTPUT = /^<(?:local-command|bash)-(?:stdout|stderr|caveat)>/;
const SHELL = /^<bash-input>([\s\S]*?)<\/bash-input>/;
const TASK = /^<task-notification>/;
const TAGS = /<\/?(?:local-command|bash)-\w+>/g;

/**
 * Classifies text in a user message. Claude Code writes typed input and its own messages to the same place and
 * distinguishes them by tags.
 */
export function classifyUserText(text: string): {
  type: "prompt" | "command" | "notice" | "interrupted";
  text: string;
} {
  if (text.startsWith("[Request interrupted by user")) return { type: "interrupted", text };
  const command = COMMAND.exec(text)?.[1];
  if (command !== undefined) {
    const written = ARGUMENTS.exec(text)?.[1]?.trim() ?? "";
    return { type: "command", text: `/${command.replace(/^\//, "")} ${written}`.trim() };
  }
  const shell = SHELL.exec(text)?.[1];
  if (shell !== undefined) return { type: "notice", text: `! ${shell.trim()}` };
  if (OUTPUT.test(text)) return { type: "notice", text: text.replace(TAGS, "").trim() };
  if (TASK.test(text)) return { type: "notice", text: text.replace(/<\/?[\w-]+>/g, " ").trim() };
  return { type: "prompt", text };
}
