import { RULE_SCOPES, type KeptRule, type RuleAction, type TestedCall, type Verdict } from "@tandem/protocol";
import { readCommandPattern } from "./command-pattern.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { subjectOf } from "./tool-kinds.ts";

/** One effect of a call: a command of its line, a file that it writes, or the whole call. */
export type JudgedPart = TestedCall["parts"][number];
/** How one rule matches one part of a call. The reason has no full stop. */
export type Considered = JudgedPart["considered"][number];

export interface Judgement {
  verdict: Verdict | undefined;
  parts: JudgedPart[];
}

/** An uncertain effect, and the reason to ask about it when no rule matches. */
export interface Caution {
  why: string;
  /** Only a rule that spells this out lifts the caution; a rule for the whole tool or with `*` here does not. */
  spelled?: string;
  /** Only a rule that names the program lifts the caution; `allow Bash` does not. */
  named?: true;
}

/**
 * The verdict on one part: any deny wins; then the most specific scope with a match, where `ask` precedes `allow`; then
 * caution.
 */
export function resolvePart(what: string, considered: Considered[], caution?: Caution, neutral = false): JudgedPart {
  const verdict = verdictOn(what, considered, caution);
  return { what, verdict, considered, neutral };
}

function verdictOn(what: string, considered: readonly Considered[], caution: Caution | undefined): Verdict | undefined {
  const denies = considered.filter(({ rule }) => rule.action === "deny");
  const denied = denies.find(({ fit }) => fit === "yes");
  if (denied) return byRule("deny", what, denied);
  const doubtful = denies.find(({ fit }) => fit === "maybe");
  if (doubtful) {
    return {
      action: "ask",
      by: "caution",
      why: `${what} needs approval: ${doubtful.why}, and a rule denies ${shown(doubtful.rule)}.`,
    };
  }
  for (const scope of RULE_SCOPES.toReversed()) {
    const said = considered.filter(({ rule }) => rule.scope === scope);
    const asked = said.find(({ rule, fit }) => rule.action === "ask" && fit !== "no");
    if (asked) return byRule("ask", what, asked);
    const allowed = said.find(({ rule, fit }) => rule.action === "allow" && fit === "yes" && lifts(rule, caution));
    if (allowed) return byRule("allow", what, allowed);
  }
  return caution && { action: "ask", by: "caution", why: `${what} needs approval: ${caution.why}.` };
}

function lifts({ tool, pattern }: KeptRule, caution: Caution | undefined): boolean {
  if (caution?.spelled === undefined)
    return caution?.named !== true || (pattern !== undefined && pattern.trim() !== "*");
  if (pattern === undefined) return false;
  if (subjectOf(tool) === "path") return !/[*?]|\/$/.test(pattern);
  const command = readCommandPattern(pattern);
  return typeof command !== "string" && command.words.includes(caution.spelled);
}

/** A call is allowed only if all its parts are. One denied part denies it; otherwise one asking part asks. */
export function combine(parts: JudgedPart[]): Judgement {
  const telling = parts.filter(({ verdict, neutral }) => verdict !== undefined || !neutral);
  for (const action of ["deny", "ask"] as const) {
    const found = telling.find(({ verdict }) => verdict?.action === action)?.verdict;
    if (found) return { parts, verdict: found };
  }
  if (telling.length === 0 || telling.some(({ verdict }) => verdict === undefined))
    return { parts, verdict: undefined };
  const [first] = telling;
  if (telling.length === 1) return { parts, verdict: first!.verdict };
  return { parts, verdict: { ...first!.verdict!, why: `Rules allow all ${telling.length} parts of the call.` } };
}

const DONE: Record<RuleAction, string> = { allow: "is allowed", ask: "needs approval", deny: "is denied" };

function byRule(action: RuleAction, what: string, { rule, why }: Considered): Verdict {
  const { id, scope, tool, pattern, source } = rule;
  const reason = rule.reason === undefined ? "" : ` (${rule.reason})`;
  return {
    action,
    by: "rule",
    why: `${what} ${DONE[action]} by the ${whose(rule)} ${shown(rule)}${reason}: ${why}.`,
    rule: { id, scope, tool, ...(pattern !== undefined && { pattern }), action: rule.action, source },
  };
}

/** `Bash(git push *)` */
const shown = ({ tool, pattern }: Pick<KeptRule, "tool" | "pattern">): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;

const whose = ({ scope, source }: KeptRule): string =>
  scope === "user" ? "user rule" : `${scope} rule${source === "tandem.yaml" ? " of tandem.yaml" : ""}`;

/** If any rule denies by pattern, effects that cannot be checked need approval. */
export const deniesByPattern = (rules: readonly CompiledRule[]): boolean =>
  rules.some(({ rule, pattern }) => rule.action === "deny" && (pattern.type === "command" || pattern.type === "path"));
