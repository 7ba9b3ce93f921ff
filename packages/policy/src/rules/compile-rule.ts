import { RequestError, type KeptRule, type Rule } from "@tandem/protocol";
import { readCommandPattern, type CommandPattern } from "./command-pattern.ts";
import { checkDomainPattern } from "./domain-pattern.ts";
import { checkPathPattern, PathPattern, type SessionPaths } from "./path-pattern.ts";
import { KNOWN_TOOLS, kindOf, subjectOf, TOOL_KINDS } from "./tool-kinds.ts";

/** The pattern of a rule, parsed. */
type RulePattern =
  | { type: "any" }
  | { type: "command"; command: CommandPattern }
  | { type: "path"; path: PathPattern; access: "read" | "write" }
  | { type: "domain"; domain: string }
  | { type: "name"; name: string };

export interface CompiledRule {
  rule: KeptRule;
  pattern: RulePattern;
  /** True for `deny` and `ask`, which match more broadly than they are written, to be safe. */
  restricts: boolean;
}

/** Throws a `RequestError` if the rule cannot be enforced. */
export function checkRule({ tool, pattern, action }: Rule): void {
  const known = tool === "*" || Object.hasOwn(TOOL_KINDS, tool) || KNOWN_TOOLS.includes(tool) || isMcp(tool);
  if (!known) throw invalid(`There is no tool ${tool}.`, toolFix(tool));
  if (pattern === undefined) return;
  const subject = subjectOf(tool);
  if (subject === undefined) {
    throw invalid(`A rule for ${tool} takes no pattern.`, "Leave the pattern out, or name a tool that takes one.");
  }
  const wrong = patternProblem(subject, pattern, action);
  if (wrong !== undefined) throw invalid(`The pattern \`${pattern}\` is of no use: ${wrong}.`);
}

function patternProblem(subject: string, pattern: string, action: Rule["action"]): string | undefined {
  if (subject === "path") return checkPathPattern(pattern);
  if (subject === "domain") return checkDomainPattern(pattern);
  if (subject !== "command") return undefined;
  const command = readCommandPattern(pattern);
  if (typeof command === "string") return command;
  // `sh *` and `sudo *` would allow everything.
  const program = command.words[0];
  if (action === "allow" && command.open && command.words.length === 1 && program && RUNS_ANYTHING.has(program)) {
    return `it allows everything, since \`${program}\` runs any other command; allow \`Bash\` if that is meant`;
  }
  return undefined;
}

const RUNS_ANYTHING = new Set(
  `sh bash zsh dash ksh ash fish pwsh eval sudo doas su runuser pkexec env xargs exec ssh busybox toybox parallel flock
  script watch strace ltrace gdb chroot unshare nsenter command builtin`.split(/\s+/),
);

export function compileRule(rule: KeptRule, paths: SessionPaths): CompiledRule {
  const restricts = rule.action !== "allow";
  return { rule, restricts, pattern: compilePattern(rule, paths, restricts) };
}

function compilePattern({ tool, pattern }: KeptRule, paths: SessionPaths, restricts: boolean): RulePattern {
  if (pattern === undefined) return { type: "any" };
  switch (subjectOf(tool)) {
    case "command": {
      const command = readCommandPattern(pattern);
      if (typeof command === "string") throw invalid(`The pattern \`${pattern}\` is of no use: ${command}.`);
      return { type: "command", command };
    }
    case "path": {
      const access = kindOf(tool) === "edit" ? "write" : "read";
      return { type: "path", path: new PathPattern(pattern, paths, restricts), access };
    }
    case "domain":
      return { type: "domain", domain: pattern };
    case "name":
      return { type: "name", name: pattern };
    case undefined:
      throw invalid(`A rule for ${tool} takes no pattern.`);
  }
}

/** Matches `mcp__SERVER__TOOL` and `mcp__SERVER`, with `*` for any part of a name. */
const isMcp = (tool: string): boolean => /^mcp__[\w.*-]+$/.test(tool);

/** Whether a rule names this tool: by name, kind, MCP server or `*`. */
export function namesTool(rule: string, tool: string): boolean {
  if (rule === "*" || rule === tool) return true;
  // Agent and Task are two names of one tool.
  if ((rule === "Agent" && tool === "Task") || (rule === "Task" && tool === "Agent")) return true;
  if (Object.hasOwn(TOOL_KINDS, rule)) return kindOf(tool) === rule;
  if (!isMcp(rule) || !tool.startsWith("mcp__")) return false;
  const whole = rule.slice(5).includes("__") || rule.endsWith("*") ? rule : `${rule}__*`;
  return new RegExp(`^${whole.replace(/[^\w*]/g, "\\$&").replaceAll("*", ".*")}$`).test(tool);
}

function toolFix(tool: string): string {
  const near = [...KNOWN_TOOLS, ...Object.keys(TOOL_KINDS)].find((each) => each.toLowerCase() === tool.toLowerCase());
  return near
    ? `Write \`${near}\`.`
    : "Name one of Claude Code's tools (`Bash`, `Edit`, …), a kind (`shell`, `edit`, `read`, `web`), `mcp__SERVER__TOOL`, or `*`.";
}

const invalid = (message: string, fix?: string): RequestError =>
  new RequestError("invalid_request", message, fix === undefined ? {} : { fix });
