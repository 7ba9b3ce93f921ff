import type { Context } from "@tandem/context";
import { TandemError, systemClock } from "@tandem/protocol";
import { hasContext, openContext, openStore } from "@tandem/tandem/compose";
import { type OpenedContext, serveContext } from "@tandem/tandem/context";
import type { Project } from "@tandem/tandem/config";
import type { Store } from "@tandem/storage";
import type { Invocation } from "./invocation.ts";
import { openProject } from "@tandem/tandem/project";

/** Opens the project, which must have a context. `wanted` is what it would lack otherwise. */
export async function projectWithContext(invocation: Invocation, wanted: string): Promise<Project> {
  const project = await openProject(invocation);
  if (hasContext(project)) return project;
  const message = `${project.displayPath} has no connections and no sources, so there is no ${wanted}.`;
  throw new TandemError("not_found", message, { fix: "Add a database: tandem connections add shop shop.sqlite" });
}

/** Shows the warnings of the context with `--debug`. */
export const debugLog = ({ debug, stderr }: Invocation) => ({
  warn(details: Record<string, unknown>, message: string): void {
    if (debug) stderr.write(`${message} ${JSON.stringify(details)}\n`);
  },
});

/** Opens the project's context for one action. Does not create a missing context. */
export async function withKnowledge<T>(
  invocation: Invocation,
  command: string,
  work: (knowledge: OpenedContext, parts: { project: Project; store: Store }) => Promise<T>,
): Promise<T> {
  return openKnowledge(invocation, await projectWithContext(invocation, "context"), command, work);
}

/** The same for an opened project. Creates a missing context. */
export async function openKnowledge<T>(
  invocation: Invocation,
  project: Project,
  command: string,
  work: (knowledge: OpenedContext, parts: { project: Project; store: Store }) => Promise<T>,
): Promise<T> {
  await using store = await openStore(invocation, project);
  await using knowledge = await serveContext(invocation, project, store, {
    command,
    clock: systemClock,
    log: debugLog(invocation),
  });
  return await work(knowledge, { project, store });
}

/** Opens the project's context without its tools, databases and jobs. */
export async function withContext<T>(invocation: Invocation, work: (context: Context) => Promise<T>): Promise<T> {
  const project = await openProject(invocation);
  await using store = await openStore(invocation, project);
  return await work(await openContext(project, store));
}

/** Runs a context tool and returns text and structured output. */
export async function askTool(
  { signal }: Pick<Invocation, "signal">,
  { tools }: OpenedContext,
  name: string,
  input: unknown,
) {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new TandemError("not_supported", `There is no ${name} here.`);
  return tool.run(input, { signal, by: "tandem" });
}
