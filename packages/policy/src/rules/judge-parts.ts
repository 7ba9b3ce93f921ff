import { RULE_SCOPES, type KeptRule, type RuleAction, type Verdict } from "@tandem/protocol";
import { readCommandPattern, type Fit } from "./command-pattern.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { subjectOf } from "./tool-kinds.ts";

/** What one rule says of one part of a call. */
export interface Considered {
  rule: KeptRule;
  fit: Fit;
  /** A sentence without its full stop. */
  why: string;
}

/** One thing that a call does: a command of its line, a file that it writes to, or the whole call. */
export interface JudgedPart {
  what: string;
  verdict: Verdict | undefined;
  considered: Considered[];
  /** It does nothing by itself: without a rule against it, it is no reason to ask. */
  neutral: boolean;
}

export interface Judgement {
  verdict: Verdict | undefined;
  parts: JudgedPart[];
}

/** Something that is not certain, and what it is asked for without a rule. */
export interface Caution {
  why: string;
  /** Only a rule that spells this out lifts it: not one for the whole tool, nor one with a star in its place. */
  spelled?: string;
}

/**
 * The verdict on one part: a deny, whoever has made it; then the most specific scope that says anything, where `ask` goes
 * before `allow`; then caution.
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
    return { action: "ask", by: "caution", why: `${what}: ${doubtful.why}, and ${shown(doubtful.rule)} is denied.` };
  }
  for (const scope of RULE_SCOPES.toReversed()) {
    const said = considered.filter(({ rule }) => rule.scope === scope);
    const asked = said.find(({ rule, fit }) => rule.action === "ask" && fit !== "no");
    if (asked) return byRule("ask", what, asked);
    const allowed = said.find(({ rule, fit }) => rule.action === "allow" && fit === "yes" && lifts(rule, caution));
    if (allowed) return byRule("allow", what, allowed);
  }
  return caution && { action: "ask", by: "caution", why: `${what}: ${caution.why}.` };
}

function lifts({ tool, pattern }: KeptRule, caution: Caution | undefined): boolean {
  if (caution?.spelled === undefined) return true;
  if (pattern === undefined) return false;
  if (subjectOf(tool) === "path") return !/[*?]|\/$/.test(pattern);
  const command = readCommandPattern(pattern);
  return typeof command !== "string" && command.words.includes(caution.spelled);
}

/** All parts have to be allowed for the whole to be; one that is denied denies it, one that is asked for asks for it. */
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
  return { parts, verdict: { ...first!.verdict!, why: `All ${telling.length} parts of it are allowed by rules.` } };
}

const DONE: Record<RuleAction, string> = { allow: "allowed", ask: "asked for", deny: "denied" };

function byRule(action: RuleAction, what: string, { rule, why }: Considered): Verdict {
  const { id, scope, tool, pattern, source } = rule;
  const reason = rule.reason === undefined ? "" : ` (${rule.reason})`;
  return {
    action,
    by: "rule",
    why: `${what} is ${DONE[action]} by ${shown(rule)}, ${whose(rule)}${reason}: ${why}.`,
    rule: { id, scope, tool, ...(pattern !== undefined && { pattern }), action: rule.action, source },
  };
}

/** `Bash(git push *)` */
const shown = ({ tool, pattern }: Pick<KeptRule, "tool" | "pattern">): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;

const whose = ({ scope, source }: KeptRule): string =>
  scope === "user"
    ? "a rule of the user's"
    : `a rule of the ${scope}${source === "tandem.yaml" ? " in tandem.yaml" : ""}`;

/** Whether rules deny something by a pattern: then what cannot be seen is not taken on trust. */
export const deniesByPattern = (rules: readonly CompiledRule[]): boolean =>
  rules.some(({ rule, pattern }) => rule.action === "deny" && (pattern.type === "command" || pattern.type === "path"));
