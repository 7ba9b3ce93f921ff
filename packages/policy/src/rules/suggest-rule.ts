import { isAbsolute, relative } from "node:path";
import type { Rule } from "@tandem/protocol";
import { hostOf } from "./domain-pattern.ts";
import { fullName } from "./apply-rules.ts";
import { absolute, realPath, type SessionPaths } from "./path-pattern.ts";
import type { JudgedCall } from "./session-rules.ts";
import { expandLine } from "../shell/expand-line.ts";
import { fileAccess, filePath, kindOf } from "./tool-kinds.ts";
import { guardWords } from "./guard-words.ts";
import { guardOf } from "./guard.ts";

/** Suggests an allow rule for "always allow": exactly this command, file, domain or MCP tool. */
export function suggestRule(call: JudgedCall, paths: SessionPaths): Rule | undefined {
  const tool = fullName(call);
  const { command, url } = call.input;
  if (tool.startsWith("mcp__")) return { tool, action: "allow" };
  switch (kindOf(tool)) {
    case "shell":
      return typeof command === "string" ? suggestCommand(command, paths) : undefined;
    case "edit":
    case "read":
      return fileAccess(call)?.isSearch ? undefined : suggestPath(tool, filePath(call), paths);
    case "web": {
      const host = typeof url === "string" ? hostOf(url) : undefined;
      return host === undefined ? undefined : { tool, pattern: host, action: "allow" };
    }
    case undefined:
      return undefined;
  }
}

/** Only for a single command with known words that runs no other code and redirects no output. */
function suggestCommand(line: string, paths: SessionPaths): Rule | undefined {
  const { units, doubts } = expandLine(line);
  const [unit] = units;
  if (doubts.length > 0 || units.length !== 1 || !unit || unit.hatches.length > 0) return undefined;
  if (guardWords(unit, line, paths, [paths.folder])) return undefined;
  const { words, redirects, assigns } = unit.command;
  if (redirects.some(({ operator }) => !operator.endsWith("&")) || assigns.length > 0) return undefined;
  if (words.some(({ text, glob }) => text === undefined || glob || text.includes("*"))) return undefined;
  return { tool: "Bash", pattern: words.map(({ text }) => quoted(text!)).join(" "), action: "allow" };
}

/** Quotes a word so that it parses back to itself. */
const quoted = (text: string): string =>
  /^[\w./:@%+,=-]+$/.test(text) && !text.startsWith("=") ? text : `'${text.replaceAll("'", `'\\''`)}'`;

function suggestPath(tool: string, path: string | undefined, paths: SessionPaths): Rule | undefined {
  if (path === undefined) return undefined;
  const whole = absolute(path, paths.folder, paths.home);
  const real = realPath(whole);
  if (real === undefined || /[*?]/.test(real) || guardOf(whole, "write", paths)) return undefined;
  const inside = relative(paths.folder, real);
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) return { tool, pattern: real, action: "allow" };
  // A bare name would match in every folder.
  return { tool, pattern: inside.includes("/") ? inside : `./${inside}`, action: "allow" };
}
