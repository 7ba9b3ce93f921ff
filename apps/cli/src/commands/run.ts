import { SESSION_METADATA, TandemError, type Session, type SessionCreateParams } from "@tandem/protocol";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Project } from "@tandem/tandem/config";
import type { Context } from "../context.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import type { OutputFormat } from "../option-choices.ts";
import { readLimits } from "./budget.ts";
import { readPrompt } from "../read-prompt.ts";
import { readJsonSchema } from "../read-schema-file.ts";
import { createApprover } from "../run/approver.ts";
import { LiveView } from "../run/live-view.ts";
import { reportTurn } from "../run/report-turn.ts";
import { runTurn } from "../run/run-turn.ts";
import { jsonLines, silentView, type TurnView } from "../run/turn-view.ts";
import { defaultAgent, findAgent, findEnvironment } from "@tandem/tandem/engine";
import { findSession } from "../sessions/find-session.ts";
import { openClient } from "../sessions/open-client.ts";
import type { SessionsClient } from "../sessions/sessions-client.ts";

/** Long enough for a turn to be interrupted in an orderly way, and for its process to go. */
const GRACE_MS = 15_000;
const LONGEST_TITLE = 80;

export interface RunOptions {
  agent?: string;
  cwd?: string;
  /** True where no name is given. */
  worktree?: string | true;
  resume?: string;
  fork?: string;
  permissionMode?: string;
  model?: string;
  effort?: string;
  maxTurns?: string;
  maxBudgetUsd?: string;
  jsonSchema?: string;
  outputFormat?: OutputFormat;
  allow?: string[];
  allowEverything?: boolean;
}

/** One message to an agent: in a new session or an old one, on the server that is up or in this process. */
export async function run(context: Context, given: readonly string[], flags: RunOptions): Promise<number> {
  const { words, options } = readWorktree(given, flags);
  const format = options.outputFormat ?? (context.json ? "json" : "text");
  const metadata = await readMetadata(context, options);
  refuseWithResume(options);
  const folder = workingFolder(context, options);
  const project = await openProjectOrDefaults(context);
  const prompt = await readPrompt(context, words, "run");
  context.allowToStop(GRACE_MS);

  using view = createView(context, format, options.jsonSchema !== undefined);
  await using client = await openClient(context, project, {
    command: "tandem run",
    runs: true,
    ...(options.resume === undefined && options.fork === undefined && { folder }),
  });
  const session =
    options.resume || options.fork
      ? await resume(client, options, metadata)
      : await begin(client, project, options, { folder, metadata, prompt });
  const result = await runTurn(client, session.id, [{ type: "text", text: prompt }], {
    view,
    signal: context.signal,
    // What is piped in may be anybody's words.
    isTyped: words.length > 0 && prompt === words.join(" "),
    approve: createApprover(
      { ...context, json: format !== "text" },
      { allow: options.allow ?? [], allowEverything: options.allowEverything ?? false, pause: () => view.pause() },
    ),
  });
  view[Symbol.dispose]();
  return await reportTurn(context, { format, session, result, wantsObject: options.jsonSchema !== undefined });
}

async function begin(
  client: SessionsClient,
  project: Project,
  { agent: named, model: asked, worktree }: RunOptions,
  { folder, metadata, prompt }: { folder: string; metadata: Record<string, string>; prompt: string },
): Promise<Session> {
  const { llm } = project.config;
  const { agent, model } = named
    ? { agent: await findAgent(client, named), model: undefined }
    : await defaultAgent(client, llm);
  const wanted = asked ?? model;
  const params: SessionCreateParams = {
    agent: wanted === undefined ? agent.id : { type: "agent_with_overrides", id: agent.id, model: wanted },
    environment_id: await findEnvironment(client, folder, worktree !== undefined),
    title: titleOf(prompt),
    metadata: typeof worktree === "string" ? { ...metadata, [SESSION_METADATA.worktree]: worktree } : metadata,
  };
  return client.sessions.create(params);
}

/** The session itself, or a copy of it that goes its own way from here. */
async function resume(
  client: SessionsClient,
  { resume: id, fork, worktree }: RunOptions,
  metadata: Record<string, string>,
): Promise<Session> {
  const found = await findSession(client, fork ?? id!);
  const params = worktree === undefined ? {} : { worktree: true };
  const session = fork === undefined ? found : await client.history.fork(found.id, params, localActor());
  return Object.keys(metadata).length > 0 ? client.sessions.update(session.id, { metadata }) : session;
}

function createView({ stdout, stderr }: Context, format: OutputFormat, wantsObject: boolean): TurnView {
  switch (format) {
    case "json":
      return silentView;
    case "stream-json":
      return jsonLines(stdout);
    case "text":
      // Where an object is wanted, or nobody reads along, standard output is for the result alone.
      return new LiveView(stdout.isTTY && !wantsObject ? stdout : undefined, stderr);
  }
}

async function readMetadata(context: Context, options: RunOptions): Promise<Record<string, string>> {
  const { maxTurns, maxBudgetUsd, jsonSchema, permissionMode, effort, model, resume } = options;
  if (maxTurns !== undefined && !/^[1-9]\d{0,5}$/.test(maxTurns)) {
    throw new TandemError("usage", `--max-turns is ${JSON.stringify(maxTurns)}.`, { fix: "Give a number from 1 up." });
  }
  const schema = jsonSchema === undefined ? undefined : await readJsonSchema(context.cwd, jsonSchema);
  return {
    ...(maxTurns !== undefined && { [SESSION_METADATA.maxTurns]: maxTurns }),
    ...(permissionMode !== undefined && { [SESSION_METADATA.permissionMode]: permissionMode }),
    ...(effort !== undefined && { [SESSION_METADATA.effort]: effort }),
    ...(resume !== undefined && model !== undefined && { [SESSION_METADATA.model]: model }),
    ...(maxBudgetUsd !== undefined && {
      [SESSION_METADATA.limits]: JSON.stringify({
        session: readLimits({ usd: maxBudgetUsd }, () => "--max-budget-usd"),
      }),
    }),
    ...(schema && { [SESSION_METADATA.outputSchema]: JSON.stringify(schema) }),
  };
}

/** `--worktree "Mend the test"` takes the prompt for a name, which it cannot be: it is the prompt. */
function readWorktree(
  words: readonly string[],
  options: RunOptions,
): { words: readonly string[]; options: RunOptions } {
  const { worktree } = options;
  if (typeof worktree !== "string" || /^[A-Za-z0-9][\w./-]*$/.test(worktree)) return { words, options };
  return { words: [worktree, ...words], options: { ...options, worktree: true } };
}

/** A session keeps the agent and the folder that it began with. */
function refuseWithResume({ resume, fork, agent, cwd, worktree }: RunOptions): void {
  const flags = fork === undefined ? { agent, cwd, worktree } : { agent, cwd, resume };
  const flag = Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  if ((resume ?? fork) === undefined || flag === undefined) return;
  const other = fork === undefined ? "resume" : "fork";
  throw new TandemError("usage", `--${flag} cannot be given together with --${other}.`, {
    fix: "A session keeps the agent and the folder that it began with: begin a new one to change them.",
  });
}

function workingFolder({ cwd }: Context, options: RunOptions): string {
  const folder = resolve(cwd, options.cwd ?? ".");
  if (existsSync(folder)) return realpathSync(folder);
  throw new TandemError("usage", `There is no folder ${folder}.`, { fix: "Pass an existing folder to --cwd." });
}

function titleOf(prompt: string): string {
  const [line = ""] = prompt.trim().split("\n");
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
