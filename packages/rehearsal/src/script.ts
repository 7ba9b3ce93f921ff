import { z } from "zod";
import type { ModelRequest } from "./received-request.ts";
import { summariseModelRequest } from "./received-request.ts";
import type { Reply, ReplyOptions } from "./reply.ts";
import { text, toolUse } from "./reply.ts";

type Awaitable<T> = T | Promise<T>;
type Answer = Reply | ((request: ModelRequest) => Awaitable<Reply>);
type Predicate = (request: ModelRequest) => boolean;

/**
 * The model's answers. A list: each request takes the first unused entry that matches. A function: `undefined` means no
 * match.
 */
export type Script = readonly ScriptEntry[] | ((request: ModelRequest) => Awaitable<Reply | undefined>);

export type ScriptEntry = Reply | Rule;

/** A reply with a condition and a number of uses; a bare reply matches any request, once. */
export interface Rule {
  readonly type: "rule";
  readonly predicate: Predicate | undefined;
  readonly answer: Answer;
  readonly uses: number;
  /** Name of the rule in miss messages. */
  readonly label?: string;
  /** Why a request does not match, for the miss message. */
  readonly compare?: (request: ModelRequest) => string[];
}

export function when(predicate: Predicate, entry: ScriptEntry | Answer): Rule {
  const rule = toRule(entry);
  const inner = rule.predicate;
  return { ...rule, predicate: inner ? (request) => predicate(request) && inner(request) : predicate };
}

/** `always(text("ok"))`, `always(when(isTitleRequest, text("A title")))`: unlimited uses, and may stay unused. */
export function always(entry: ScriptEntry | Answer): Rule {
  return { ...toRule(entry), uses: Number.POSITIVE_INFINITY };
}

export function times(uses: number, entry: ScriptEntry | Answer): Rule {
  return { ...toRule(entry), uses };
}

/**
 * An object in the way the request asks for one: through its required tool, through the object tool of Claude Code,
 * Tandem or the AI SDK, or as JSON text. `tool` names another tool.
 */
export function object(value: object, options: ReplyOptions & { tool?: string } = {}): Rule {
  const { tool, ...rest } = options;
  const answer = (request: ModelRequest) => {
    const choice = forcedTool.safeParse(request.toolChoice).data;
    const wanted = [tool, choice?.name, choice?.toolName, "StructuredOutput", "json"];
    const name =
      wanted.find((name) => name !== undefined && request.toolNames.includes(name)) ??
      request.toolNames.find((name) => /^mcp__.*__answer$/.test(name));
    return name === undefined ? text(JSON.stringify(value), rest) : toolUse(name, value, rest);
  };
  return { ...toRule(answer), label: `object ${JSON.stringify(value).slice(0, 60)}` };
}

const forcedTool = z.looseObject({ name: z.string().optional(), toolName: z.string().optional() });

function toRule(entry: ScriptEntry | Answer): Rule {
  if (typeof entry !== "function" && entry.type === "rule") return entry;
  return { type: "rule", predicate: undefined, answer: entry, uses: 1 };
}

export type Cue = { readonly reply: Reply; readonly answeredBy: string } | { readonly miss: string };

/** A script and its remaining entries. */
export class ScriptPlayer {
  readonly #script: Script;
  readonly #rules: { rule: Rule; left: number; position: number }[] = [];

  constructor(script: Script) {
    this.#script = script;
    if (typeof script === "function") return;
    this.#rules = script.map(toRule).map((rule, index) => ({ rule, left: rule.uses, position: index + 1 }));
  }

  async cue(request: ModelRequest): Promise<Cue> {
    if (typeof this.#script === "function") {
      const reply = await this.#script(request);
      return reply
        ? { reply, answeredBy: `script (${reply.type})` }
        : { miss: `${describeMiss(request)} The script's function gave no reply for it.` };
    }
    const entry = this.#rules.find(({ rule, left }) => left > 0 && (rule.predicate?.(request) ?? true));
    if (!entry) return { miss: `${describeMiss(request)} ${this.#describeExpectations(request)}` };
    entry.left -= 1;
    const { answer } = entry.rule;
    const reply = typeof answer === "function" ? await answer(request) : answer;
    return { reply, answeredBy: `script entry ${entry.position} (${reply.type})` };
  }

  /** Entries that no request has used. */
  get unused(): string[] {
    return this.#rules
      .filter(({ left }) => left > 0 && left !== Number.POSITIVE_INFINITY)
      .map(
        ({ rule, left, position }) => `entry ${position}: ${describeRule(rule)}${left > 1 ? ` (${left} left)` : ""}`,
      );
  }

  #describeExpectations(request: ModelRequest): string {
    const left = this.#rules.filter((entry) => entry.left > 0);
    if (this.#rules.length === 0) return "The script is empty.";
    if (left.length === 0) return `All ${this.#rules.length} entries of the script are used up.`;
    const compared = left.flatMap(({ rule, position }) =>
      rule.compare ? [{ position, rule, differences: rule.compare(request) }] : [],
    );
    const nearest = compared.sort((a, b) => a.differences.length - b.differences.length)[0];
    if (nearest) {
      const { position, rule, differences } = nearest;
      const shown = differences.slice(0, maxDifferences).map((line) => `\n  ${line}`);
      const more = differences.length > maxDifferences ? `\n  and ${differences.length - maxDifferences} more` : "";
      return `The nearest is entry ${position} (${describeRule(rule)}), which differs:${shown.join("")}${more}`;
    }
    return `The script still expects: ${left.map(({ rule, position }) => `entry ${position}: ${describeRule(rule)}`).join("; ")}.`;
  }
}

const maxDifferences = 10;

function describeMiss(request: ModelRequest): string {
  return `No reply of the rehearsal fits ${summariseModelRequest(request)}.`;
}

function describeRule({ predicate, answer, label, compare }: Rule): string {
  const condition =
    predicate && !compare ? `when ${predicate.toString().replaceAll(/\s+/g, " ").slice(0, 120)} → ` : "";
  return condition + (label ?? (typeof answer === "function" ? "a function" : describeReply(answer)));
}

function describeReply(reply: Reply): string {
  if (reply.type === "error") return `error ${reply.status}`;
  if (reply.type === "raw") return `recorded ${reply.status}`;
  if (reply.type !== "message") return reply.type;
  const blocks = reply.content.map((block) => {
    if (block.type === "text") return JSON.stringify(block.text.slice(0, 40));
    return block.type === "tool_use" ? `tool_use ${block.name}` : block.type;
  });
  return `message [${blocks.join(", ")}]`;
}
