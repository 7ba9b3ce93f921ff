import type { Source } from "@tandem/context";
import { ingestReport, TandemError } from "@tandem/protocol";
import { resolve } from "node:path";
import { jobModels, openContext, openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { ingestSources, planIngest, sourceAccess } from "@tandem/tandem/context";
import { EXIT_CODES, exitCodeOfJob } from "../../exit-code.ts";
import { describeIngest, describeIngestPlan, ingestAsJson } from "../../jobs/describe-ingest.ts";
import { runLimitedJob, withLimitOptions, limitParams, type LimitOptions } from "../../jobs/limit-options.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../input/read-prompt.ts";
import { styleFor, write, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import { collect, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  withLimitOptions(command)
    .argument("[source...]", "names of sources (default: all sources of this project)")
    .option("--text <text>", "ingest this text instead, never in the server; - reads standard input")
    .option("--file <path>", "ingest this file instead, never in the server (repeatable)", collect)
    .option("--dry-run", "print what would be read and the estimated cost, without doing it")
    .addOption(json())
    .action(runner(ingest));
  examples(
    command,
    "tandem context ingest",
    "tandem context ingest handbook --dry-run",
    "tandem context ingest --max-usd 5",
    'tandem context ingest --text "Refunds are paid within 30 days."',
    "pbpaste | tandem context ingest --text -",
    "tandem context ingest --file minutes.pdf --json | jq '.proposals'",
  );
}

/** Time to save progress and end child processes. */
const STOP_MS = 3_000;

export interface IngestOptions extends LimitOptions {
  text?: string;
  file?: string[];
  dryRun?: boolean;
}

export async function ingest(
  invocation: Invocation,
  names: readonly string[],
  options: IngestOptions,
): Promise<number> {
  const project = await openProject(invocation);
  const files = options.file?.map((file) => resolve(invocation.cwd, file));
  const text = await givenText(invocation, options.text);
  const { sources, params } = await ingestSources(project, { names, files, text }, sourceAccess(invocation, project));
  if (options.dryRun) {
    await plan(invocation, project, sources);
    return EXIT_CODES.ok.code;
  }
  invocation.allowToStop(STOP_MS);
  const { row, watched, milliseconds } = await runLimitedJob(invocation, project, {
    kind: "ingest",
    params: { ...params, ...limitParams(options) },
    command: "tandem context ingest",
    title: "ingest",
    given: files || text !== undefined ? { files, text } : undefined,
  });
  const outcome = { ...watched, row, result: ingestReport.nullable().parse(row.result ?? null), milliseconds };
  await writeResult(invocation, ingestAsJson(outcome), describeIngest(invocation, outcome));
  if (!invocation.json && project.config.llm.provider.backend === "none") {
    const { dim } = styleFor(invocation.stdout);
    await write(
      invocation.stdout,
      `${dim("No model is set up, so the documents were stored but not processed. → tandem setup")}\n`,
    );
  }
  return exitCodeOfJob(row);
}

async function givenText(invocation: Invocation, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const given = text === "-" ? await readPrompt(invocation, [], "ingest --text") : text;
  if (given.trim() === "")
    throw new TandemError("usage", "The text is empty.", { fix: "Give a text, or omit --text." });
  return given;
}

/** Reads the sources without calling a model or storing anything. */
async function plan(invocation: Invocation, project: Project, sources: readonly Source[]): Promise<void> {
  const { config } = project;
  await using store = await openStore(invocation, project);
  const { modelOf } = await jobModels(invocation, project);
  const { id: space } = await openContext(project, store);
  using progress = new Progress(invocation, "Reading …");
  const planned = await planIngest(project, store, sources, { space, modelOf, signal: invocation.signal });
  progress[Symbol.dispose]();
  const hasModel = config.llm.provider.backend !== "none";
  const lines = describeIngestPlan(invocation, planned, { hasModel, limit: config.context.budget });
  await writeResult(invocation, planned, lines);
}
