import { isAbsolute, matchesGlob } from "node:path";
import type { Considered } from "./judge-parts.ts";
import type { Fit } from "./command-pattern.ts";
import { namesTool, type CompiledRule } from "./compile-rule.ts";
import { absolute, realPath, type SessionPaths } from "./path-pattern.ts";

export interface FileCall {
  /** `Edit`, `Read`, … */
  tool: string;
  access: readonly ("read" | "write")[];
  path: string;
  /** The call searches everything below the path; if `names` is set, only file names. */
  search?: { names: boolean; glob: string | undefined };
}

/** Matches rules against a file that a call reads or writes. */
export function considerFile(rules: readonly CompiledRule[], call: FileCall, paths: SessionPaths): Considered[] {
  const { access } = call;
  const lexical = absolute(call.path, paths.folder, paths.home);
  const real = realPath(lexical);
  return rules.flatMap((compiled): Considered[] => {
    const { rule, pattern, restricts } = compiled;
    if (pattern.type === "any") {
      return namesTool(rule.tool, call.tool) ? [{ rule, fit: "yes", why: `it matches every ${rule.tool} call` }] : [];
    }
    if (pattern.type !== "path") return [];
    if (!restricts) {
      if (!namesTool(rule.tool, call.tool)) return [];
      const fit = real !== undefined && pattern.path.covers(real) ? "yes" : "no";
      return [{ rule, fit, why: told(fit, real) }];
    }
    // Denying `Edit(x)` also denies `Write(x)`.
    if (!access.includes(pattern.access)) return [];
    const fit = restrictingFit(compiled, call, lexical, real);
    return [{ rule, fit, why: told(fit, real) }];
  });
}

function restrictingFit({ pattern }: CompiledRule, call: FileCall, lexical: string, real: string | undefined): Fit {
  if (pattern.type !== "path") return "no";
  const { path } = pattern;
  if (path.covers(lexical) || (real !== undefined && path.covers(real))) return "yes";
  if (real === undefined) return "maybe";
  if (!call.search || call.search.names) return "no";
  // A search reads the files below it, except those that its filter excludes by name.
  if (call.search.glob !== undefined && path.name !== undefined && !couldName(call.search.glob, path.name)) return "no";
  return path.reachesInto(real) ? "maybe" : "no";
}

function couldName(glob: string, name: string): boolean {
  if (isAbsolute(glob) || /[{}[\]!]/.test(glob)) return true;
  return matchesGlob(name, glob.replace(/^.*\//, ""));
}

function told(fit: Fit, real: string | undefined): string {
  if (real === undefined) return "the path cannot be resolved";
  if (fit === "yes") return `it covers ${real}`;
  return fit === "maybe" ? `it may cover files below ${real}` : `it does not cover ${real}`;
}
