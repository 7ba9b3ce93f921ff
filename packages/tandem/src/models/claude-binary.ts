import type { CheckedVersion } from "@tandem/claude-code";
import { isAbsolute, resolve } from "node:path";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";

/** The Claude Code that a project runs. */
export interface ClaudeBinary extends CheckedVersion {
  path: string;
  /** It came with Tandem; otherwise the user has named it. */
  bundled: boolean;
}

/** One that the user has named, absolute. Paths in a config are relative to the config, wherever the command was started. */
export function namedExecutable({ config: { llm }, folder }: Project): string | undefined {
  const { executable } = llm.claudeCode;
  return executable === undefined || isAbsolute(executable) ? executable : resolve(folder, executable);
}

/** With `--claude-path`, which is the user's own word and goes before the config's. */
export function withClaudePath(project: Project, { claudePath, cwd }: Pick<Host, "claudePath" | "cwd">): Project {
  if (claudePath === undefined) return project;
  const { llm } = project.config;
  const claudeCode = { ...llm.claudeCode, executable: resolve(cwd, claudePath) };
  return { ...project, config: { ...project.config, llm: { ...llm, claudeCode } } };
}

/**
 * Where the project's Claude Code is. One that the user has named is asked for its version first, and refused if it is
 * none that Tandem can work with; `warn` hears of one that is newer than what was tested.
 */
export async function findClaudeCode(
  context: Pick<Host, "env" | "signal">,
  project: Project,
  warn: (words: string) => void = () => {},
): Promise<string> {
  const { findExecutable } = await import("@tandem/claude-code");
  const named = namedExecutable(project);
  const path = findExecutable(named);
  if (named === undefined) return path;
  const { warning } = await versionOf(context, path);
  if (warning) warn(warning);
  return path;
}

/** The same with its version. */
export async function lookAtClaudeCode(context: Pick<Host, "env" | "signal">, project: Project): Promise<ClaudeBinary> {
  const { findExecutable } = await import("@tandem/claude-code");
  const named = namedExecutable(project);
  const path = findExecutable(named);
  return { path, bundled: named === undefined, ...(await versionOf(context, path)) };
}

/** Asked once, however many parts of a command want to know. */
const known = new Map<string, Promise<CheckedVersion>>();

async function versionOf({ env, signal }: Pick<Host, "env" | "signal">, path: string): Promise<CheckedVersion> {
  const { checkVersion } = await import("@tandem/claude-code");
  const asked = known.get(path) ?? checkVersion(path, { hostVariables: env, signal });
  known.set(path, asked);
  // What was mended meanwhile is asked again.
  asked.catch(() => known.delete(path));
  return asked;
}
