import type { Fit } from "./command-pattern.ts";
import { namesTool, type CompiledRule } from "./compile-rule.ts";
import { hostOf, isDomain, searchFit } from "./domain-pattern.ts";
import { guardOf } from "./guard.ts";
import { considerFile, type FileCall } from "./judge-file.ts";
import { combine, deniesByPattern, resolvePart, type Caution, type Considered, type Judgement } from "./judge-parts.ts";
import { judgeShell } from "./judge-shell.ts";
import { absolute, realPath, type SessionPaths } from "./path-pattern.ts";
import type { JudgedCall } from "./session-rules.ts";
import { fileAccess, filePath, kindOf, NAME_FIELDS } from "./tool-kinds.ts";

/** The tool name that rules match, with the MCP server's prefix. */
export const fullName = ({ name, mcpServer }: Pick<JudgedCall, "name" | "mcpServer">): string =>
  mcpServer === undefined ? name : `mcp__${mcpServer}__${name}`;

/** Applies rules to a call, part by part. There is no verdict if no rule matches. */
export function applyRules(rules: readonly CompiledRule[], call: JudgedCall, paths: SessionPaths): Judgement {
  const tool = fullName(call);
  const text = (field: string): string | undefined => {
    const value = call.input[field];
    return typeof value === "string" ? value : undefined;
  };
  if (tool.startsWith("mcp__")) return judgeOther(tool, call, rules, paths);
  switch (kindOf(tool)) {
    case "shell": {
      const line = text("command");
      return line === undefined ? judgePlain(tool, rules, tool, UNREADABLE) : judgeShell(tool, line, rules, paths);
    }
    case "edit":
    case "read": {
      const file = fileOf(call, paths);
      return file ? judgeFile(file, rules, paths) : judgePlain(tool, rules, tool, UNREADABLE);
    }
    case "web":
      return judgeWeb(tool, call.input, rules);
    case undefined: {
      const field = Object.hasOwn(NAME_FIELDS, tool) ? NAME_FIELDS[tool] : undefined;
      const name = field === undefined ? undefined : text(field);
      if (tool === "PowerShell") return judgePlain(tool, rules, tool, deniesByPattern(rules) ? OTHER_SHELL : undefined);
      return judgePlain(name === undefined ? tool : `${tool}(${name})`, rules, tool, undefined, name);
    }
  }
}

const UNREADABLE: Caution = { why: "its input cannot be parsed" };
const OTHER_SHELL: Caution = { why: "its commands cannot be parsed, and rules deny some commands" };

function fileOf(call: JudgedCall, { folder }: SessionPaths): FileCall | undefined {
  const { name: tool, input } = call;
  const { access, isSearch } = fileAccess(call) ?? {};
  if (!access) return undefined;
  const path = filePath(call);
  if (!isSearch) return path === undefined ? undefined : { tool, access, path };
  // A Glob pattern may start with the folder to search.
  const pattern = tool === "Glob" ? input["pattern"] : undefined;
  const within =
    typeof pattern === "string" && /^[/~]/.test(pattern) ? pattern.replace(/\/[^/]*[*?[{].*$/, "") : undefined;
  const glob = typeof input["glob"] === "string" ? input["glob"] : undefined;
  return { tool, access, path: within ?? path ?? folder, search: { names: tool === "Glob", glob } };
}

function judgeFile(file: FileCall, rules: readonly CompiledRule[], paths: SessionPaths): Judgement {
  const writes = file.access.includes("write");
  const below = file.search?.names === false;
  const guarded = guardOf(absolute(file.path, paths.folder, paths.home), writes ? "write" : "read", paths, below);
  return combine([resolvePart(`${file.tool}(${file.path})`, considerFile(rules, file, paths), guarded)]);
}

function judgeWeb(tool: string, input: Record<string, unknown>, rules: readonly CompiledRule[]): Judgement {
  const address = typeof input["url"] === "string" ? input["url"] : undefined;
  const host = address === undefined ? undefined : hostOf(/^[a-z]+:/i.test(address) ? address : `https://${address}`);
  const considered = rules.flatMap(({ rule, pattern, restricts }): Considered[] => {
    // A denied domain applies to every web tool.
    if (!namesTool(rule.tool, tool) && !(restricts && pattern.type === "domain")) return [];
    if (pattern.type === "any") return [{ rule, fit: "yes", why: `it matches every ${rule.tool} call` }];
    if (pattern.type !== "domain") return [];
    const fit: Fit =
      tool === "WebSearch"
        ? searchFit(pattern.domain, input, restricts)
        : host === undefined
          ? restricts
            ? "maybe"
            : "no"
          : isDomain(pattern.domain, host, restricts)
            ? "yes"
            : "no";
    return [{ rule, fit, why: `${host ?? "the address"} ${FITS[fit]}` }];
  });
  return combine([
    resolvePart(`${tool}(${address ?? (typeof input["query"] === "string" ? input["query"] : "")})`, considered),
  ]);
}

const FITS: Record<Fit, string> = { yes: "matches", maybe: "may match", no: "does not match" };

/** MCP tools match by name and by paths in their input. */
function judgeOther(tool: string, call: JudgedCall, rules: readonly CompiledRule[], paths: SessionPaths): Judgement {
  const considered = byName(tool, rules);
  const candidates = [...stringsIn(call.input)].filter(
    (text) => text.length < 4_096 && /[/.~]/.test(text) && !text.includes("\n"),
  );
  for (const { rule, pattern, restricts } of rules) {
    if (!restricts || pattern.type !== "path") continue;
    const named = candidates.find((text) => {
      const path = absolute(text.replace(/^file:\/\//, ""), paths.folder, paths.home);
      return pattern.path.covers(path) || pattern.path.covers(realPath(path) ?? path);
    });
    if (named !== undefined) considered.push({ rule, fit: "yes", why: `its input names ${named}` });
  }
  return combine([resolvePart(tool, considered)]);
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null && depth < 6) {
    for (const each of Object.values(value)) yield* stringsIn(each, depth + 1);
  }
}

const byName = (tool: string, rules: readonly CompiledRule[], name?: string): Considered[] =>
  rules.flatMap(({ rule, pattern, restricts }): Considered[] => {
    if (!namesTool(rule.tool, tool)) return [];
    if (pattern.type === "any") return [{ rule, fit: "yes", why: `it matches every ${rule.tool} call` }];
    if (pattern.type !== "name") return [{ rule, fit: restricts ? "maybe" : "no", why: "the call cannot be parsed" }];
    const same =
      name === pattern.name || (pattern.name.endsWith("*") && name?.startsWith(pattern.name.slice(0, -1)) === true);
    return [{ rule, fit: same ? "yes" : "no", why: same ? "the name matches" : "the name differs" }];
  });

const judgePlain = (
  what: string,
  rules: readonly CompiledRule[],
  tool: string,
  caution?: Caution,
  name?: string,
): Judgement => combine([resolvePart(what, byName(tool, rules, name), caution)]);
