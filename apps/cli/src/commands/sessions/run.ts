import { SESSION_METADATA, TandemError, type Session, type SessionCreateParams } from "@tandem/protocol";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { readLimits } from "./budgets.ts";
import { readPrompt, STDIN_RULE } from "../../input/read-prompt.ts";
import { readJsonSchema } from "../../input/read-schema-file.ts";
import { createApprover } from "../../run/approver.ts";
import { LiveView } from "../../run/live-view.ts";
import { reportTurn } from "../../run/report-turn.ts";
import { readOutcome } from "../../run/read-outcome.ts";
import { runTurn, type TurnInput } from "../../run/run-turn.ts";
import { jsonLines, silentView, type TurnView } from "../../run/turn-view.ts";
import { defaultAgent, findAgent, findEnvironment } from "@tandem/tandem/engine";
import { findSession, isWithin } from "../../sessions/find-session.ts";
import { openClient, runningDemo } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { vaultIdsOf } from "../../vaults/find-vault.ts";
import { type Command, Option } from "commander";
import { listOption, modeOption, type Registration } from "../registration.ts";
import { EFFORT_CHOICES, OUTPUT_FORMATS, type OutputFormat } from "../../option-choices.ts";
import { clip } from "../../terminal.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .argument("[prompt...]", STDIN_RULE)
    .option("-a, --agent <id>", "agent, by id or name (default: the agent of `tandem run`)")
    .option("--cwd <dir>", "working folder (default: this folder)")
    .option("--worktree [name]", "use a new git worktree on the branch tandem/NAME (default: the session's id)")
    .option("--resume <session>", "continue this session, by id; `last` is the newest")
    .option("--fork <session>", "continue a fork of this session")
    .addOption(modeOption("--permission-mode <mode>", "permission mode for calls that no rule covers"))
    .option("-m, --model <name>", "model (default: that of the agent); with --resume, from now on")
    .addOption(new Option("--effort <level>", "reasoning effort").choices(EFFORT_CHOICES))
    .option("--max-turns <number>", "maximum number of model requests")
    .option("--max-budget-usd <dollars>", "spending limit of the session, at list price")
    .addOption(listOption("--vault <names>", "vaults whose credentials it may use, by id or name"))
    .option("--json-schema <schema>", "return an object that matches this JSON Schema, inline or a file")
    .option("--outcome <text>", "work towards this outcome; a grader evaluates each attempt")
    .option("--rubric <file>", "file with the criteria of the outcome")
    .option("--max-iterations <number>", "evaluations of the outcome (default: 3, at most 20)")
    .option("--grade-command <command>", "grade the outcome by the exit code of this command instead of a model")
    .addOption(outputFormatOption())
    .addOption(allowOption())
    .addOption(bypassOption())
    .addOption(json())
    .action(runner(run));
  examples(
    command,
    'tandem run "What does this project do?"',
    'tandem run "Fix the failing test" --allow bash,edit',
    'tandem run "Fix the failing test" --worktree fix-test --allow bash,edit',
    'tandem run --resume last "Now fix the other test"',
    'tandem run --fork last --worktree "Try it another way"',
    `tandem run "Who wrote this?" --json-schema '{"type":"object","properties":{"name":{"type":"string"}}}'`,
    'tandem run --outcome "All tests pass" --grade-command "npm test" --allow bash,edit',
    'git diff | tandem run "Review this diff" --output-format json | jq -r .result',
  );
}

// `tandem resume` has them too.
export const outputFormatOption = (): Option =>
  new Option("--output-format <format>", "output format (default: text)").choices(OUTPUT_FORMATS);
export const allowOption = (): Option =>
  listOption("--allow <tools>", "tools that need no approval, such as bash,edit or server.tool or server.*");
export const bypassOption = (): Option =>
  new Option("--bypass-permissions", "approve every tool call: commands run and files change without asking");

/** Time to interrupt a turn in an orderly way and to end its process. */
const GRACE_MS = 15_000;
const MAX_TITLE_LENGTH = 80;

export interface RunOptions {
  agent?: string;
  cwd?: string;
  /** True without a name. */
  worktree?: string | true;
  /** True for the last session of this folder. */
  resume?: string | true;
  fork?: string;
  permissionMode?: string;
  model?: string;
  effort?: string;
  maxTurns?: string;
  maxBudgetUsd?: string;
  vault?: string[];
  jsonSchema?: string;
  outcome?: string;
  rubric?: string;
  maxIterations?: string;
  gradeCommand?: string;
  outputFormat?: OutputFormat;
  allow?: string[];
  bypassPermissions?: boolean;
}

/** Sends one message to an agent, in a new or existing session, on the running server or in this process. */
export async function run(invocation: Invocation, given: readonly string[], flags: RunOptions): Promise<number> {
  const { words, options } = readWorktree(given, flags);
  const format = options.outputFormat ?? (invocation.json ? "json" : "text");
  const metadata = await readMetadata(invocation, options);
  refuseWithResume(options);
  const folder = await sessionFolder(invocation, options);
  const project = await openProjectOrDefaults(invocation);
  const outcome = await readOutcome(invocation.cwd, words, options);
  const prompt = outcome?.description ?? (await readPrompt(invocation, words, "run"));
  invocation.allowToStop(GRACE_MS);

  using view = createView(invocation, format, options.jsonSchema !== undefined);
  await using client = await openClient({ ...invocation, json: format !== "text" }, project, {
    command: "tandem run",
    runs: true,
    ...(options.resume === undefined && options.fork === undefined && { folder }),
  });
  // Piped text may be untrusted, so `/name` and `@path` in it have no effect.
  const isTyped = words.length > 0 && prompt === words.join(" ");
  const content = [{ type: "text" as const, text: prompt }];
  const input = outcome ?? { type: "user.message" as const, content, ...(isTyped && { tandem: { commands: true } }) };
  const isNew = !options.resume && !options.fork;
  invocation.signal.throwIfAborted();
  const session = !isNew
    ? await resume(client, options, metadata, invocation)
    : await begin(client, project, options, { folder, metadata, title: titleOf(prompt), input });
  const result = await runTurn(client, session.id, input, {
    view,
    isNew,
    signal: invocation.signal,
    approve: createApprover(
      { ...invocation, json: format !== "text" },
      { allow: options.allow ?? [], bypass: options.bypassPermissions ?? false, pause: () => view.pause() },
    ),
  });
  view[Symbol.dispose]();
  return await reportTurn(invocation, { format, session, result, wantsObject: options.jsonSchema !== undefined });
}

/** The demo's sessions work in its own project. */
async function sessionFolder(invocation: Invocation, options: RunOptions): Promise<string> {
  const folder = workingFolder(invocation, options);
  const [root] = (await runningDemo(invocation))?.roots ?? [];
  return root === undefined || isWithin(root, folder) ? folder : root;
}

async function begin(
  client: SessionsClient,
  project: Project,
  { agent: named, model: asked, worktree, vault }: RunOptions,
  {
    folder,
    metadata,
    title,
    input,
  }: { folder: string; metadata: Record<string, string>; title: string; input: TurnInput },
): Promise<Session> {
  const { llm } = project.config;
  const [{ agent, model }, environment_id] = await Promise.all([
    named ? findAgent(client, named).then((agent) => ({ agent, model: undefined })) : defaultAgent(client, llm),
    findEnvironment(client, folder, worktree !== undefined),
  ]);
  const wanted = asked ?? model;
  const params: SessionCreateParams = {
    agent: wanted === undefined ? agent.id : { type: "agent_with_overrides", id: agent.id, model: wanted },
    environment_id,
    title,
    // In the same request: the turn begins earlier, and a refused message leaves no empty session.
    initial_events: [input],
    ...(vault && { vault_ids: await vaultIdsOf(client, vault) }),
    metadata: typeof worktree === "string" ? { ...metadata, [SESSION_METADATA.worktree]: worktree } : metadata,
  };
  return client.sessions.create(params);
}

/** Resumes the session or a fork of it. */
async function resume(
  client: SessionsClient,
  { resume: id, fork, worktree }: RunOptions,
  metadata: Record<string, string>,
  invocation: Invocation,
): Promise<Session> {
  const named = fork ?? id;
  const found = await findSession(client, named === true ? undefined : named, invocation);
  const params = worktree === undefined ? {} : { worktree: true };
  const session = fork === undefined ? found : await client.history.fork(found.id, params, localActor());
  return Object.keys(metadata).length > 0 ? client.sessions.update(session.id, { metadata }) : session;
}

function createView({ stdout, stderr }: Invocation, format: OutputFormat, wantsObject: boolean): TurnView {
  switch (format) {
    case "json":
      return silentView;
    case "stream-json":
      return jsonLines(stdout);
    case "text":
      // Stdout carries only the result if an object is requested or stdout is not a terminal.
      return new LiveView(stdout.isTTY && !wantsObject ? stdout : undefined, stderr);
  }
}

async function readMetadata(invocation: Invocation, options: RunOptions): Promise<Record<string, string>> {
  const { maxTurns, maxBudgetUsd, jsonSchema, permissionMode, effort, model, resume } = options;
  if (maxTurns !== undefined && !/^[1-9]\d{0,5}$/.test(maxTurns)) {
    throw new TandemError("usage", `--max-turns is ${JSON.stringify(maxTurns)}.`, {
      fix: "Give a number of at least 1.",
    });
  }
  const schema = jsonSchema === undefined ? undefined : await readJsonSchema(invocation.cwd, jsonSchema);
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

/** `--worktree "Fix the test"` consumes the prompt as a name. It is no valid name, so use it as the prompt. */
function readWorktree(
  words: readonly string[],
  options: RunOptions,
): { words: readonly string[]; options: RunOptions } {
  const { worktree } = options;
  if (typeof worktree !== "string" || /^[A-Za-z0-9][\w./-]*$/.test(worktree)) return { words, options };
  return { words: [worktree, ...words], options: { ...options, worktree: true } };
}

/** A resumed session keeps its agent and folder. */
function refuseWithResume({ resume, fork, agent, cwd, worktree, vault }: RunOptions): void {
  const flags = fork === undefined ? { agent, cwd, worktree, vault } : { agent, cwd, resume, vault };
  const flag = Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  if ((resume ?? fork) === undefined || flag === undefined) return;
  const other = fork === undefined ? "resume" : "fork";
  throw new TandemError("usage", `--${flag} cannot be given together with --${other}.`, {
    fix: "A session keeps its agent, folder and vaults. Start a new session to change them.",
  });
}

function workingFolder({ cwd }: Invocation, options: RunOptions): string {
  const folder = resolve(cwd, options.cwd ?? ".");
  if (existsSync(folder)) return realpathSync(folder);
  throw new TandemError("usage", `There is no folder ${folder}.`, { fix: "Pass an existing folder to --cwd." });
}

function titleOf(prompt: string): string {
  const [line = ""] = prompt.trim().split("\n");
  return clip(line, MAX_TITLE_LENGTH);
}
