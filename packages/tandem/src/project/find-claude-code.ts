import type { CheckedVersion } from "@tandem/claude-code";
import { isAbsolute, join, resolve } from "node:path";
import type { Project } from "../config/load-project.ts";
import { tandemHome } from "../config/tandem-home.ts";
import type { Host } from "../config/host.ts";

export interface ClaudeBinary extends CheckedVersion {
  path: string;
  /** True for the Claude Code that ships with Tandem, false for one named by the user. */
  bundled: boolean;
}

/** The configured executable as an absolute path. Relative paths start at the config, not at the current folder. */
export function namedExecutable({ config: { llm }, folder }: Project): string | undefined {
  const { executable } = llm.claudeCode;
  return executable === undefined || isAbsolute(executable) ? executable : resolve(folder, executable);
}

/** Applies `--claude-path`, which overrides the config. */
export function withClaudePath(project: Project, { claudePath, cwd }: Pick<Host, "claudePath" | "cwd">): Project {
  if (claudePath === undefined) return project;
  const { llm } = project.config;
  const claudeCode = { ...llm.claudeCode, executable: resolve(cwd, claudePath) };
  return { ...project, config: { ...project.config, llm: { ...llm, claudeCode } } };
}

/**
 * Finds the project's Claude Code. Checks the version of one that the user named: throws if it is unsupported, calls `warn` if
 * it is newer than tested.
 */
export async function findClaudeCode(
  host: Pick<Host, "env" | "signal">,
  project: Project,
  warn: (words: string) => void = () => {},
): Promise<string> {
  const { findExecutable } = await import("@tandem/claude-code/processes");
  const named = namedExecutable(project);
  const path = findExecutable(named);
  if (named === undefined) return path;
  const { warning } = await versionOf(host, path);
  if (warning) warn(warning);
  return path;
}

/** Like `findClaudeCode`, with the version. */
export async function checkClaudeCode(host: Pick<Host, "env" | "signal">, project: Project): Promise<ClaudeBinary> {
  const { findExecutable } = await import("@tandem/claude-code/processes");
  const named = namedExecutable(project);
  const path = findExecutable(named);
  return { path, bundled: named === undefined, ...(await versionOf(host, path)) };
}

/** Cached: several parts of a command need it. */
const known = new Map<string, Promise<CheckedVersion>>();

async function versionOf({ env, signal }: Pick<Host, "env" | "signal">, path: string): Promise<CheckedVersion> {
  const { checkVersion } = await import("@tandem/claude-code/processes");
  // Beside the compile cache.
  const cacheFile = join(tandemHome(env), "cache", "claude-version.json");
  const asked = known.get(path) ?? checkVersion(path, { hostVariables: env, signal, cacheFile });
  known.set(path, asked);
  // Do not cache failures: the user may fix the installation.
  asked.catch(() => known.delete(path));
  return asked;
}
