import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import type { AllowedCall } from "./conversation.ts";
import { type TranscriptLine, callsIn } from "./transcript/transcript-line.ts";

type Hooks = NonNullable<Settings["hooks"]>;

/**
 * The line that makes Claude Code run a call of an earlier process when it resumes. It must be the last line, and complete:
 * after a shorter one Claude Code invents an answer of the model.
 */
export function markerLine(lines: readonly TranscriptLine[], { toolUseId, name }: AllowedCall): TranscriptLine {
  const from = lines.find((line) => callsIn(line).some(({ id }) => id === toolUseId));
  if (!from) throw new Error(`The transcript has no call ${toolUseId}.`);
  const last = lines.findLast(({ uuid }) => uuid !== undefined);
  const { message: _, requestId: __, ...frame } = from;
  return {
    ...frame,
    parentUuid: last?.["uuid"],
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
    type: "attachment",
    attachment: {
      type: "hook_deferred_tool",
      toolUseID: toolUseId,
      toolName: name,
      toolInput: callsIn(from).find(({ id }) => id === toolUseId)?.input,
      hookName: `PreToolUse:${name}`,
      hookEvent: "PreToolUse",
      permissionMode: "default",
    },
  };
}

const answer = z.looseObject({ message: z.looseObject({ content: z.array(z.looseObject({ id: z.unknown() })) }) });

/** A line with a new call that equals a closed one. None if the call is not a copy, or is there already. */
export function copiedCall(lines: readonly TranscriptLine[], { toolUseId, copyOf }: AllowedCall): TranscriptLine[] {
  const has = (line: TranscriptLine, call: string): boolean => callsIn(line).some(({ id }) => id === call);
  if (copyOf === undefined || lines.some((line) => has(line, toolUseId))) return [];
  const from = answer.safeParse(lines.find((line) => has(line, copyOf))).data;
  if (!from) return [];
  const { requestId: _, ...frame } = from;
  const content = from.message.content.filter(({ id }) => id === copyOf).map((call) => ({ ...call, id: toolUseId }));
  return [
    {
      ...frame,
      parentUuid: lines.findLast(({ uuid }) => uuid !== undefined)?.["uuid"],
      uuid: randomUUID(),
      timestamp: new Date().toISOString(),
      message: { ...from.message, id: `msg_${randomUUID().replaceAll("-", "")}`, content },
    },
  ];
}

const marker = z.object({ attachment: z.object({ type: z.literal("hook_deferred_tool"), toolUseID: z.string() }) });

/** The call that a line marks, if it is a marker. */
export const markedCall = (line: TranscriptLine): string | undefined =>
  marker.safeParse(line).data?.attachment.toolUseID;

/**
 * Hooks that are there when Claude Code boots. It runs the call without waiting for the hooks of the SDK, so those alone
 * would let its ordinary permission rules decide. Every other call is left to the gate.
 */
export class BootHooks implements Disposable {
  readonly hooks: Hooks;
  /** The decisions. The process only reads them: in a sandbox, the folder is mounted read-only. */
  readonly folder: string;
  readonly #allow: string;

  constructor(stateFolder: string, { toolUseId, changedTo, laterCalls }: AllowedCall) {
    this.folder = join(stateFolder, "allowed-calls", randomUUID());
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.#allow = this.#write("allow.json", {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        ...(changedTo && { updatedInput: changedTo }),
      },
    });
    const named = `"tool_use_id":"${toolUseId.replaceAll(/[^\w-]/g, "")}"`;
    const ifNamed = `case "$(cat)" in *${quote(named)}*) cat ${quote(this.#allow)} 2>&- || :;; esac`;
    this.hooks = { PreToolUse: [{ matcher: "*", hooks: [{ type: "command", command: ifNamed }] }] };
    if (laterCalls.length === 0) return;
    const block = this.#write("block.json", { decision: "block", reason: "Other calls run first." });
    this.hooks.UserPromptSubmit = [{ hooks: [{ type: "command", command: `cat ${quote(block)}` }] }];
  }

  /** The call has a result. The input of a later call could contain its id, so the answer must be gone by then. */
  useUp(): void {
    rmSync(this.#allow, { force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #write(name: string, answer: object): string {
    const file = join(this.folder, name);
    writeFileSync(file, JSON.stringify(answer), { mode: 0o600 });
    return file;
  }
}

/** For `sh`. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
